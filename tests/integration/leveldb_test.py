"""Programs for LevelDB, built unchanged against Debian's LevelDB and against ours.

The sources are in tests/compat. Skipped without libleveldb-dev, a compiler, or our library
(build/release/compat/leveldb, which `./dev build` leaves there).
"""

import difflib
import os
import pathlib
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import harness
from harness import ROOT, Skip, check, check_equal

SOURCES = ROOT / "tests" / "compat"
OURS = ROOT / "build" / "release" / "compat" / "leveldb"
# Debian's shared library keeps leveldb::Log to itself; the static one has all of the interface.
LINK = {
    "leveldb": ["-l:libmemenv.a", "-l:libleveldb.a", "-lsnappy", "-lpthread"],
    "weft": [f"-L{OURS}", "-lweft_leveldb", f"-Wl,-rpath,{OURS}", "-lpthread"],
    "weft_static": [f"-L{OURS}", "-l:libweft_leveldb.a", "-lsnappy", "-lzstd", "-lpthread"],
}
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-O1"]


def _need(library):
    for compiler in ("c++", "cc"):
        if not shutil.which(compiler):
            raise Skip(f"no {compiler} here")
    if library == "leveldb":
        if not pathlib.Path("/usr/include/leveldb/db.h").is_file():
            raise Skip("libleveldb-dev is not installed")
    elif not (OURS / "libweft_leveldb.so").is_file():
        raise Skip(f"no library in {OURS}: ./dev build")


def _call(command, **named):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, timeout=300, check=False, **named
    )
    text = done.stdout.decode() + done.stderr.decode()
    check(done.returncode == 0, f"{command[0]} ended with {done.returncode}:\n{text[-3000:]}")
    return done.stdout.decode()


def _compile(source, library, folder):
    """One source to an object, with that library's headers; returns the object."""
    made = folder / f"{source.stem}.{library}.o"
    standard = ["cc", "-std=gnu89"] if source.suffix == ".c" else ["c++", "-std=c++11"]
    headers = [] if library == "leveldb" else [f"-I{ROOT}/compat/leveldb/include"]
    _call([*standard, *WARNINGS, *headers, "-c", source, "-o", made])
    return made


def _build(name, libraries, folder):
    """The program of NAME.c, or of all NAME*.cc, once for each library: {library: program}."""
    for library in libraries:
        _need(library)
    sources = sorted(SOURCES.glob(f"{name}.c")) or sorted(SOURCES.glob(f"{name}*.cc"))
    check(sources, f"no sources of {name}")
    programs = {}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for library in libraries:
            objects = list(
                pool.map(_compile, sources, [library] * len(sources), [folder] * len(sources))
            )
            programs[library] = folder / f"{name}.{library}"
            _call(["c++", *objects, "-o", programs[library], *LINK[library]])
    return programs


def _check_same(theirs, ours):
    if theirs != ours:
        lines = difflib.unified_diff(theirs.splitlines(), ours.splitlines(), "LevelDB", "Weft", n=1)
        raise AssertionError("what they print differs:\n" + "\n".join(list(lines)[:60]))


def _same_output(name, libraries):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        programs = _build(name, libraries, folder)
        printed = {}
        for library, program in programs.items():
            place = folder / "place"  # under one name: it is printed
            (place / "tmp").mkdir(parents=True)
            environment = {**os.environ, "TEST_TMPDIR": str(place / "tmp")}
            printed[library] = _call([program, place], env=environment)
            shutil.rmtree(place)
        theirs = printed[libraries[0]]
        for library in libraries[1:]:
            _check_same(theirs, printed[library])
        return f"{len(theirs.splitlines())} lines"


def test_cpp_program():
    return _same_output("leveldb_cpp", ["leveldb", "weft"])


def test_c_program():
    return _same_output("leveldb_c", ["leveldb", "weft", "weft_static"])


def test_exchange_of_stores():
    """Turn by turn one library changes a store and both read it."""
    first = int(os.environ.get("WEFT_SEED", "1"))
    seeds = range(first, first + (60 if os.environ.get("WEFT_TEST_LONG") else 8))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        programs = _build("leveldb_exchange", ["leveldb", "weft"], folder)
        for seed in seeds:
            store = folder / f"store{seed}"
            for turn in range(4):
                writer = ("leveldb", "weft")[(seed + turn) % 2]
                _call([programs[writer], "write", store, seed, turn])
                # Reading opens the store, and so changes it too: the log becomes a table.
                readers = ("leveldb", "weft") if turn % 2 else ("weft", "leveldb")
                first_read = _call([programs[readers[0]], "read", store, seed, turn])
                second_read = _call([programs[readers[1]], "read", store, seed, turn])
                check_equal(second_read, first_read, f"seed {seed}, turn {turn}, {readers}")
            shutil.rmtree(store)
    return f"seeds {seeds.start} to {seeds.stop - 1}, 4 turns each"


def test_exchange_has_one_history():
    """The same changes made by either library end in the same contents."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        programs = _build("leveldb_exchange", ["leveldb", "weft"], folder)
        for seed in range(3):
            printed = []
            for library, program in programs.items():
                store = folder / f"{library}{seed}"
                for turn in range(3):
                    _call([program, "write", store, seed, turn])
                printed.append(_call([program, "read", store, seed, 9]))
            _check_same(*printed)


def test_headers_have_all_names():
    """What Debian's headers declare for programs, ours declare."""
    import re

    _need("leveldb")
    word = re.compile(r"\b(leveldb_\w+|[A-Z]\w+)\s*\(")
    theirs_folder = pathlib.Path("/usr/include/leveldb")
    ours_folder = ROOT / "compat/leveldb/include/leveldb"
    count = 0
    for header in sorted(theirs_folder.rglob("*.h")):
        ours = ours_folder / header.relative_to(theirs_folder)
        check(ours.is_file(), f"no {ours}")
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", header.read_text(), flags=re.S)
        # What is private there is no program's: ours has its own.
        text = re.sub(r"\n private:.*?\n};", "\n};", text, flags=re.S)
        names = set(word.findall(text)) - {"IsEmpty", "Run", "CopyState"}
        missing = names - set(word.findall(ours.read_text()))
        check(not missing, f"{ours.name} lacks {sorted(missing)}")
        count += len(names)
    return f"{count} names"


if __name__ == "__main__":
    harness.main(globals())
