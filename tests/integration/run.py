#!/usr/bin/env python3
"""Runs the integration tests: run.py [--long] [name...]

Names are parts of file or test names. Prints each test's result and, last, "N passed, N failed,
N skipped"; exits non-zero when one failed. --long sets WEFT_TEST_LONG for the tests that have a
longer form. The server under test is WEFT_BINARY or build/release/src/server/weft.
"""

import importlib
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import harness  # noqa: E402: the path comes first


def main():
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    flags = [argument for argument in sys.argv[1:] if argument.startswith("-")]
    unknown = [flag for flag in flags if flag != "--long"]
    if unknown:
        print(__doc__)
        sys.exit(2)
    if "--long" in flags:
        os.environ["WEFT_TEST_LONG"] = "1"
    print(f"server under test: {harness.subject_binary()}", flush=True)
    counts = [0, 0, 0]
    for path in sorted(HERE.glob("*_test.py")):
        module = importlib.import_module(path.stem)
        tests = [(f"{path.stem}.{name}", test) for name, test in harness.collect(vars(module))]
        for i, count in enumerate(
            harness.run_tests(tests, names, lambda text: print(text, flush=True))
        ):
            counts[i] += count
    if names and not any(counts):
        print(f"no test is called like {' or '.join(names)}")
        sys.exit(2)
    print("%d passed, %d failed, %d skipped" % tuple(counts))
    sys.exit(1 if counts[1] else 0)


if __name__ == "__main__":
    main()
