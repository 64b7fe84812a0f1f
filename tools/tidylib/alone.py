"""Every file compiles alone: nobody has to know what to include before it.

The build compiles files some at a time (cmake/WeftCompile.cmake), where one may lean on what
another included. So the build proves only the first of them, where nothing is precompiled, and the
header that each includes before anything else. The others are parsed here. Tests are left out: each
would take as long as three others.

A header is parsed together with a file that includes it anyway, in front of it: neither then sees
what it would not have seen by itself.

Cost: some tenths of a second for each file, on all cores (precompiled.py); nothing for one that
passed before and whose text, compiler settings and included headers of ours are unchanged
(build/tidy/alone.json).
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tidylib.house import INCLUDE
from tidylib.precompiled import Precompiled
from tidylib.tree import Finding

DEFAULT = ["c++", "-std=c++20", "-Wall", "-Wextra", "-fno-rtti", "-Iinclude", "-Isrc"]
ANY_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+[<"]([^>"]+)[>"]', re.M)
FALLBACK = "src/base"


END = "the file ends here"


def compiled_files(tree, entry):
    """The files of ours that a command of a build compiles, and how many of them it proves."""
    file = Path(entry["file"])
    names = [file]
    if file.parent.name == "Unity":
        names = ANY_INCLUDE.findall(file.read_text()) if file.is_file() else []
    return ([os.path.relpath(name, tree.root) for name in names],
            int(" -include " not in entry["command"]))


class Settings:
    """How a configured build compiles files, where there is one: the compiler and flags."""

    def __init__(self, tree):
        self.of_file = {}  # those compiled with others
        self.by_folder = {}
        database = tree.root / "build/release/compile_commands.json"
        for entry in json.loads(database.read_text()) if database.is_file() else []:
            flags = self.kept(shlex.split(entry["command"]))
            files, proved = compiled_files(tree, entry)
            for number, file in enumerate(files):
                if number >= proved:
                    self.of_file[file] = flags
                # Of several programs in a folder, the one with the most flags knows most libraries.
                folder = os.path.dirname(file)
                if len(flags) > len(self.by_folder.get(folder, [])):
                    self.by_folder[folder] = flags

    @staticmethod
    def kept(words):
        """What of a command says what a file means."""
        while os.path.basename(words[0]) in ("env", "ccache", "sccache") or "=" in words[0]:
            words = words[1:]
        keep = [words[0]]
        for i, word in enumerate(words[1:], 1):
            if word in ("-isystem", "-I"):
                keep += words[i:i + 2]
            elif re.match(r"-(I.|std=|W(?!invalid-pch)|f(?!PI|pch)|m|D|pthread)", word):
                keep.append(word)
        return keep

    def of(self, path):
        """Those of the file, its folder or the nearest one above; else those that all have."""
        if path in self.of_file:
            return self.of_file[path]
        folder = os.path.dirname(path)
        while folder:
            if folder in self.by_folder:
                return self.by_folder[folder]
            folder = os.path.dirname(folder)
        flags = self.by_folder.get(FALLBACK, DEFAULT)
        # bench/, tests/ and their like include each other from the root.
        if path.startswith("compat/leveldb/"):
            return [*flags, "-Icompat/leveldb/include"]
        return flags if path.startswith(("src/", "include/")) else [*flags, "-I."]

    def to_parse(self, tree):
        """The paths of what neither the build nor another file of these proves."""
        for file in tree.files:
            if file.is_header:
                if not proved_by_source(tree, file.path):
                    yield file.path
            elif file.path in self.of_file and not file.path.endswith("_test.cc"):
                yield file.path


def proved_by_source(tree, path):
    """Whether foo.cc, which is proved itself, begins by including foo.h."""
    file = tree.by_path.get(f"{path[:-len('.h')]}.cc")
    first = ANY_INCLUDE.search(file.text) if file else None
    return bool(first) and path.endswith("/" + first.group(1))


def reachable(tree, path):
    """The texts of `path` and of our headers that it includes, each once."""
    seen, todo = {}, [path]
    while todo:
        current = todo.pop()
        if current in seen or current not in tree.by_path:
            continue
        text = seen[current] = tree.by_path[current].text
        for name in INCLUDE.findall(text):
            todo += [f"src/{name}", f"include/{name}", name,
                     os.path.normpath(os.path.join(os.path.dirname(current), name))]
    return seen


def digest(tree, path, flags):
    texts = reachable(tree, path)
    state = json.dumps([flags, sorted(texts.items())])
    return hashlib.sha256(state.encode()).hexdigest()


def compile_alone(tree, paths, flags):
    """The compiler's first complaint about one file, or some behind each other; None if none."""
    # A header as the main file draws a warning about #pragma once; a line including it does not.
    # The error in the end spares the compiler to expand what templates the file uses, which takes
    # it three times as long as parsing.
    text = "".join(f'#include "{tree.root / path}"\n' for path in paths)
    text += f'static_assert(false, "{END}");\n'
    result = subprocess.run([*flags, "-fsyntax-only", "-Wfatal-errors", "-x", "c++", "-"],
                            cwd=tree.root, text=True, input=text, capture_output=True)
    for line in result.stderr.split("\n"):
        if re.search(r"\b(fatal )?error:", line):
            return None if END in line else line
    return result.stderr.strip().split("\n")[0] or "the compiler did not reach its end"


def together(jobs, precompiled):
    """Lists of jobs to compile as one: whatever stands before a file there it includes itself."""
    lists = []
    # Headers that include the most come first: they are the last in a row of headers.
    for path, flags in sorted(jobs, key=lambda job: (job[0].endswith(".h"),
                                                     -len(precompiled.ours[job[0]]), job[0])):
        ahead = precompiled.flags_for(path, flags)
        fitting = next((each for each, of_all in lists if ahead == of_all and
                        path in precompiled.ours[each[0][0]]), None)
        if fitting is not None and path.endswith(".h"):
            fitting.insert(0, (path, flags))
        else:
            lists.append(([(path, flags)], ahead))
    return lists


def compile_all(tree, jobs, folder):
    """The compiler's first complaint about each (path, flags) that it has one about."""
    with tempfile.TemporaryDirectory(dir=folder) as made, \
            ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        precompiled = Precompiled(tree, jobs, Path(made))

        def complaints(of):
            some, ahead = of
            if len(some) > 1 and not compile_alone(tree, [path for path, _ in some],
                                                   [*some[-1][1], *ahead]):
                return {}
            found = {path: compile_alone(tree, [path], [*flags, *ahead]) for path, flags in some}
            return {path: text for path, text in found.items() if text}

        return {path: text for of in pool.map(complaints, together(jobs, precompiled))
                for path, text in of.items()}


def check(tree):
    settings = Settings(tree)
    if not settings.by_folder and shutil.which("c++") is None:
        return
    store = tree.root / "build/tidy/alone.json"
    try:
        passed = set(json.loads(store.read_text()))
    except (OSError, ValueError):
        passed = set()
    jobs = []
    for path in settings.to_parse(tree):
        flags = settings.of(path)
        jobs.append((path, flags, digest(tree, path, flags)))
    todo = [job for job in jobs if job[2] not in passed]
    store.parent.mkdir(parents=True, exist_ok=True)
    failed = compile_all(tree, [(path, flags) for path, flags, _ in todo], store.parent)
    store.write_text(json.dumps(sorted(key for path, _, key in jobs if path not in failed)))
    for path, text in failed.items():
        yield Finding(path, 1, "alone", f"does not compile alone: {text}")
