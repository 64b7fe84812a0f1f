"""Tests under the thread sanitizer: which of them have nothing to show it, and what words come
before their command. For tools/test, and a rule of tools/tidy.

A test has nothing to show where no file of its folder names a thread, or where its file says in its
first comment "// Threads   one." (ONE_THREAD). What such a file calls begins no thread either.
"""

import os
import re
import shutil
import subprocess

ONE_THREAD = re.compile(r"\A(?://.*\n)*// Threads   one\.\n")
THREADS = re.compile(r"std::(?:jthread|thread|async)\b|[Mm]utex|\batomic|pthread_|StartThread")
SUITE = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),", re.M)


def name_threads(folder):
    """Whether any source of a folder names a thread, or what several share."""
    return any(THREADS.search(path.read_text()) for path in folder.iterdir()
               if path.suffix in (".cc", ".h"))


def suites_of_one_thread(root):
    """Names of the suites whose cases are all in files that say that they have one thread."""
    one, others = set(), set()
    for top in ("src", "compat", "bench", "sim", "tests"):
        for path in root.glob(f"{top}/**/*_test.cc"):
            text = path.read_text()
            (one if ONE_THREAD.match(text) else others).update(SUITE.findall(text))
    return sorted(one - others)


def filter_without(suites):
    """What GTEST_FILTER must be so that the suites, and what is made of them, do not run."""
    return "*" if not suites else "-" + ":".join(f"{suite}.*:*/{suite}.*" for suite in suites)


def no_randomised_addresses():
    """Words before a command that give the sanitizer the address layout it knows, if allowed."""
    words = ["setarch", os.uname().machine, "--addr-no-randomize"]
    if shutil.which(words[0]) and subprocess.run([*words, "true"], capture_output=True,
                                                 check=False).returncode == 0:
        return words
    return []
