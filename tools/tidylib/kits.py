"""Test kits have one form of name: what only tests include is *_test_kit.h, and nothing else is.

A kit is a header that tests, fuzzers and benchmarks of a room's own share. bench/ is what measures,
so there a *_bench.cc is a program's and no test. A header that a source file includes, its own too,
is that file's.
"""

import posixpath
import re

from tidylib import house
from tidylib.tree import CPP, Finding

HOMES = ("src/", "bench/", "sim/", "compat/")
KIT = re.compile(r"_test_kit\.\w+$")


def is_test(path):
    return house.is_test(path) or path.startswith("tests/")


def includers(tree):
    """Of each header of HOMES: the files that include it."""
    found = {file.path: [] for file in tree.files
             if file.is_header and file.path.startswith(HOMES)}
    for file in tree.files:
        if not file.path.endswith((*CPP, ".cuh")):
            continue
        for name in house.INCLUDE.findall(file.text):
            beside = posixpath.join(posixpath.dirname(file.path), name)
            for path in {name, "src/" + name, beside} & found.keys():
                found[path].append(file.path)
    return found


def check(tree):
    for path, by in includers(tree).items():
        others = [each for each in by if not is_test(each)]
        if KIT.search(path) and others:
            yield Finding(path, 1, "kit", f"is a test kit, and {others[0]} includes it")
        elif by and not others and not KIT.search(path):
            yield Finding(path, 1, "kit", "only tests include it: name it *_test_kit.h")
