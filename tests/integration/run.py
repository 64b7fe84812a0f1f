#!/usr/bin/env python3
"""Runs the integration tests: run.py [--long] [--jobs N] [name...]

Names are parts of file or test names. N tests run side by side, by default as many as there are
processors: most of what a test does is wait. Prints each test's result as it ends and, last,
"N passed, N failed, N skipped"; exits non-zero when one failed. --long sets WEFT_TEST_LONG for the
tests that have a longer form. The server under test is WEFT_BINARY or
build/release/src/server/weft.
"""

import argparse
import collections
import importlib
import multiprocessing
import os
import pathlib
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import harness  # noqa: E402: the path comes first

# These take a minute each, so that they begin before the others.
LONGEST = ("buffers_test", "differential_test", "extremes_test", "planner_test")


def tests_like(names):
    """(module, test) of each test whose name has one of `names` in it, or of all."""
    modules = sorted((path.stem for path in HERE.glob("*_test.py")),
                     key=lambda stem: (stem not in LONGEST, stem))
    tests = [(stem, name) for stem in modules
             for name, _ in harness.collect(vars(importlib.import_module(stem)))]
    return [test for test in tests if not names or any(part in ".".join(test) for part in names)]


def run(module, name):
    return harness.run_test(f"{module}.{name}", getattr(importlib.import_module(module), name))


def run_all(tests, jobs):
    """Runs tests in `jobs` processes, and prints each result; returns how many ended how."""
    counts = collections.Counter()
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
        under_way = {pool.submit(run, *test): test for test in tests}
        for test in as_completed(under_way):
            try:
                outcome, text = test.result()
            except BrokenProcessPool:
                name = ".".join(under_way[test])
                outcome = "FAIL"
                text = f"FAIL {name} (0.0 s)\nit, or one beside it, ended its process"
            counts[outcome] += 1
            print(text, flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(
        usage="run.py [--long] [--jobs N] [name...]", description=__doc__.split("\n", 2)[2],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("names", nargs="*")
    words = parser.parse_args()
    if words.long:
        os.environ["WEFT_TEST_LONG"] = "1"
    print(f"server under test: {harness.subject_binary()}", flush=True)
    tests = tests_like(words.names)
    if not tests:
        print(f"no test is called like {' or '.join(words.names)}")
        sys.exit(2)
    counts = run_all(tests, max(1, words.jobs))
    print(harness.summary(counts))
    sys.exit(1 if counts["FAIL"] else 0)


if __name__ == "__main__":
    main()
