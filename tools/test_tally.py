"""What tools/test prints: a line a check, why one failed, where the time went, how to repeat it.

Threads: checks may end side by side.
"""

import contextlib
import os
import threading
import time
from pathlib import Path

import test_log

ROOT = Path(__file__).resolve().parent.parent
LINES_SHOWN = 80
# Checks that a name of theirs does not run again.
REPEATED_AS = {"build/server": "build/release", "build/release-tests": "unit",
               "build/release-durable": "durable", "build/asan-all": "asan/weft",
               "build/asan-tests": "asan/weft", "build/asan-durable": "asan/durable",
               "build/tsan-tests": "tsan/weft",
               "build/tsan-durable": "tsan/durable", "build/aarch64-tests": "aarch64",
               "build/fuzzers": "fuzz"}


class Tally:
    """What passed so far. Prints one line a check, and why one failed."""

    def __init__(self, earlier):
        """`earlier`: what passed in earlier runs (test_passed.Passed)."""
        self.earlier = earlier
        self.checks_before = self.cases_before = 0
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.seconds = {}  # by kind, in the order in which they began
        self.lock = threading.Lock()  # checks may end side by side

    @contextlib.contextmanager
    def timed(self, kind):
        """What runs within takes its time for `kind`."""
        started = time.monotonic()
        try:
            yield
        finally:
            spent = time.monotonic() - started
            self.seconds[kind] = self.seconds.get(kind, 0) + spent

    def print_times(self):
        times = [f"{kind} {seconds / 60:.1f}" for kind, seconds in self.seconds.items()]
        print(f"minutes: {', '.join(times)} (integration ran beside others)")

    def print_repeats(self):
        """One command for each failure, which takes the same path with the same seed."""
        for name in self.failures:
            print(f"failed: {name}; to repeat it: WEFT_SEED={os.environ['WEFT_SEED']} "
                  f"./dev test {REPEATED_AS.get(name, name)}")

    def passed_before(self, name, digest):
        """Whether a check need not run: it passed with the files of this digest."""
        with self.lock:
            cases = self.earlier.cases(name, digest)
            self.checks_before += cases > 0
            self.cases_before += cases
        return cases > 0

    def print_passed_before(self):
        if self.checks_before:
            print(f"not run: {self.cases_before} cases of {self.checks_before} checks, which passed"
                  " before with the same files (--again runs them)")

    def add(self, name, started, log, passed, failed, skipped=0, note="", digest=""):
        """`digest`: of the files that the check had, where all of it ran."""
        if passed or failed or skipped:
            with self.lock:
                self.take(name, started, log, passed, failed, skipped, note)
                if failed:
                    self.earlier.drop(name)
                elif passed and digest:
                    self.earlier.keep(name, digest, passed)

    def take(self, name, started, log, passed, failed, skipped, note):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        word = "FAIL" if failed else "ok  " if passed else "skip"
        count = f" ({passed} of {passed + failed})" if passed + failed > 1 else ""
        note = f": {note}" if note else ""
        print(f"{word} {time.monotonic() - started:7.1f} s  {name}{count}{note}", flush=True)
        if failed:
            self.failures.append(name)
            if log:
                show(log)


def show(log):
    """Prints what a failed check's log says of its failure."""
    lines = test_log.worth_showing(log.read_text(errors="replace"), LINES_SHOWN)
    print("\n".join("    | " + line for line in lines))
    print(f"    full log: {log.relative_to(ROOT)}", flush=True)
