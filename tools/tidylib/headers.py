"""Every header compiles alone: nobody has to know what to include before it.

A header that its own source includes before anything else is proved by the build and left to it.
Cost: a fraction of a second for each other header, on all cores (precompiled.py); nothing for one
that passed before and whose text, compiler settings and included headers of ours are unchanged
(build/tidy/headers.json).
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


def settings(tree):
    """The compiler and flags: folder to list, from a configured build where there is one."""
    database = tree.root / "build/release/compile_commands.json"
    found = {}
    if database.is_file():
        for entry in json.loads(database.read_text()):
            words = shlex.split(entry["command"])
            while os.path.basename(words[0]) in ("env", "ccache", "sccache") or "=" in words[0]:
                words = words[1:]
            keep = [words[0]]
            for i, word in enumerate(words[1:], 1):
                if word in ("-isystem", "-I"):
                    keep += words[i:i + 2]
                elif re.match(r"-(I.|std=|W(?!invalid-pch)|f|m|D|pthread)", word):
                    keep.append(word)
            folder = os.path.relpath(os.path.dirname(entry["file"]), tree.root)
            # Of several programs in a folder, the one with the most flags knows most libraries.
            if len(keep) > len(found.get(folder, [])):
                found[folder] = keep
    return found


def settings_of(path, by_folder):
    """Those of the header's folder or the nearest one above; else those that every module has."""
    folder = os.path.dirname(path)
    while folder:
        if folder in by_folder:
            return by_folder[folder]
        folder = os.path.dirname(folder)
    flags = by_folder.get(FALLBACK, DEFAULT)
    # bench/, tests/ and their like include each other from the root.
    if path.startswith("compat/leveldb/"):
        return [*flags, "-Icompat/leveldb/include"]
    return flags if path.startswith(("src/", "include/")) else [*flags, "-I."]


def built_alone(tree, path):
    """Whether foo.cc, or foo_test.cc, begins by including foo.h."""
    stem = path[:-len(".h")]
    for source in (f"{stem}.cc", f"{stem}_test.cc"):
        file = tree.by_path.get(source)
        first = ANY_INCLUDE.search(file.text) if file else None
        if first and path.endswith("/" + first.group(1)):
            return True
    return False


def reachable(tree, path):
    """The texts of our headers that `path` includes, itself first, each once."""
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


def compile_alone(tree, path, flags):
    """Returns the compiler's first complaint, or None."""
    # A header as the main file draws a warning about #pragma once; a line including it does not.
    result = subprocess.run([*flags, "-fsyntax-only", "-x", "c++", "-"], cwd=tree.root, text=True,
                            input=f'#include "{tree.root / path}"\n', capture_output=True)
    if result.returncode == 0:
        return None
    for line in result.stderr.split("\n"):
        if re.search(r"\b(fatal )?error:", line):
            return line
    return result.stderr.strip().split("\n")[0]


def compile_all(tree, jobs, folder):
    """compile_alone() for each (path, flags), in their order."""
    with tempfile.TemporaryDirectory(dir=folder) as made, \
            ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        precompiled = Precompiled(tree, jobs, Path(made))
        return list(pool.map(lambda job: compile_alone(
            tree, job[0], [*job[1], *precompiled.flags_for(*job)]), jobs))


def check(tree):
    by_folder = settings(tree)
    compiler = shutil.which("c++")
    if not by_folder and compiler is None:
        return
    store = tree.root / "build/tidy/headers.json"
    try:
        passed = set(json.loads(store.read_text()))
    except (OSError, ValueError):
        passed = set()
    jobs = []
    for file in tree.having("is_header"):
        if built_alone(tree, file.path):
            continue
        flags = settings_of(file.path, by_folder)
        jobs.append((file.path, flags, digest(tree, file.path, flags)))
    todo = [job for job in jobs if job[2] not in passed]
    store.parent.mkdir(parents=True, exist_ok=True)
    answers = compile_all(tree, [(path, flags) for path, flags, _ in todo], store.parent)
    failed = {job[2]: answer for job, answer in zip(todo, answers) if answer}
    store.write_text(json.dumps(sorted({job[2] for job in jobs} - failed.keys())))
    for path, _, key in jobs:
        if key in failed:
            yield Finding(path, 1, "alone", f"does not compile alone: {failed[key]}")
