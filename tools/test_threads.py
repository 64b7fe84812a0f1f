"""Which tests have nothing to show the thread sanitizer: for tools/test, and a rule of tools/tidy.

Such are the tests of a folder of which no file names a thread, and those of a file that says in its
first comment "// Threads   one." (ONE_THREAD). What such a file calls begins no thread either.
"""

import re

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
