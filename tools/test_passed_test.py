#!/usr/bin/env python3
"""The self-test of tools/test_passed.py and of how tools/test_tally.py heeds it."""

import contextlib
import io
import os
import tempfile
import time
import unittest
from pathlib import Path

import test_passed
from test_passed import Passed
from test_tally import Tally


class PassedBefore(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = Path(holder.name)
        self.program = self.root / "program"
        self.program.write_text("one")

    def run_of(self, is_heeded=True):
        """What another run of tools/test begins with."""
        test_passed.digest_of_file.cache_clear()
        test_passed.files_below.cache_clear()
        return Tally(Passed(self.root / "build/passed.json", self.root, is_heeded))

    def add(self, tally, passed, failed, skipped=0):
        with contextlib.redirect_stdout(io.StringIO()):
            tally.add("check", time.monotonic(), None, passed, failed, skipped,
                      digest=tally.earlier.digest([self.program]))

    def stands(self, tally):
        return tally.passed_before("check", tally.earlier.digest([self.program]))

    def test_what_passed_stands_until_a_file_changes(self):
        tally = self.run_of()
        self.assertFalse(self.stands(tally))
        self.add(tally, 7, 0, 1)
        tally = self.run_of()
        self.assertTrue(self.stands(tally))
        self.assertEqual((tally.checks_before, tally.cases_before, tally.passed), (1, 7, 0))
        self.program.write_text("two")
        self.assertFalse(self.stands(self.run_of()))
        self.program.unlink()
        self.assertFalse(self.stands(self.run_of()))
        self.program.write_text("one")
        self.assertTrue(self.stands(self.run_of()))

    def test_a_failure_is_no_pass_and_ends_one(self):
        self.add(self.run_of(), 6, 1)
        self.assertFalse(self.stands(self.run_of()))
        self.add(self.run_of(), 7, 0)
        self.add(self.run_of(is_heeded=False), 6, 1)
        self.assertFalse(self.stands(self.run_of()))

    def test_what_was_only_skipped_runs_again(self):
        self.add(self.run_of(), 0, 0, 3)
        self.assertFalse(self.stands(self.run_of()))

    def test_a_run_of_everything_heeds_none_and_keeps_what_passes(self):
        self.add(self.run_of(is_heeded=False), 7, 0)
        self.assertFalse(self.stands(self.run_of(is_heeded=False)))
        self.assertTrue(self.stands(self.run_of()))

    def test_a_variable_that_tests_heed_is_part_of_it(self):
        self.add(self.run_of(), 7, 0)
        os.environ["WEFT_OF_THIS_TEST"] = "1"
        self.addCleanup(os.environ.pop, "WEFT_OF_THIS_TEST", None)
        self.assertFalse(self.stands(self.run_of()))

    def test_a_file_that_makes_no_sense_says_nothing(self):
        self.add(self.run_of(), 7, 0)
        for text in ("", "[]", "7", "{", '{"check": 7}', '{"check": ["x"]}'):
            (self.root / "build/passed.json").write_text(text)
            self.assertFalse(self.stands(self.run_of()), text)

    def test_what_is_built_is_no_file_of_the_checkout(self):
        for path in ("build/a", ".git/b", "src/build/c", "src/d.txt", "src/e.cc", "f.md"):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text("")
        test_passed.files_below.cache_clear()
        below = [str(path.relative_to(self.root)) for path in test_passed.files_below(self.root)]
        self.assertEqual(below, ["f.md", "program", "src/d.txt", "src/e.cc"])
        read = [path.name for path in test_passed.read_by_tests(self.root)]
        self.assertEqual(read, ["program", "d.txt"])


if __name__ == "__main__":
    unittest.main()
