#!/usr/bin/env python3
"""Tests of `./dev fmt`: which files it takes, and that no other version of clang-format will do."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "compat", "bench", "sim", "tests", "fuzz")
TAKEN = ("src/a/a.cl", "include/a.h", "compat/a.c", "bench/a/a.cu", "sim/a.cuh", "tests/a.cc",
         "fuzz/a.cc")


def pinned():
    """The package that tools/setup installs."""
    listed = subprocess.run([ROOT / "tools/setup", "list"], capture_output=True, text=True,
                            check=True).stdout.split()
    return next(name for name in listed if name.startswith("clang-format-"))


class Fmt(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        (self.root / "tools").mkdir()
        for name in ("dev", "tools/setup", ".clang-format"):
            shutil.copy(ROOT / name, self.root / name)
        for name in FOLDERS:
            (self.root / name).mkdir()
        for name in TAKEN:
            self.write(name, "int  a;\n")

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def fmt(self, *words, **environment):
        return subprocess.run([self.root / "dev", "fmt", *words], capture_output=True, text=True,
                              env={**os.environ, **environment})

    @unittest.skipUnless(shutil.which(pinned()), f"{pinned()} is not installed")
    def test_every_source_is_formatted_and_no_data(self):
        data = "tests/testdata/a.cc"
        self.write(data, "int  a;\n")
        done = self.fmt("--check")
        self.assertNotEqual(done.returncode, 0)
        for name in TAKEN:
            self.assertIn(f"{name}:1:", done.stderr)
        self.assertEqual(self.fmt().returncode, 0)
        for name in TAKEN:
            self.assertEqual((self.root / name).read_text(), "int a;\n", name)
        self.assertEqual((self.root / data).read_text(), "int  a;\n")
        self.assertEqual(self.fmt("--check").returncode, 0)

    def test_another_version_is_refused(self):
        tools = self.root / "bin"
        tools.mkdir()
        for name in ("bash", "readlink", "dirname", "nproc", "sed", "find", "xargs"):
            (tools / name).symlink_to(shutil.which(name))
        self.assertIn("is not installed", self.fmt(PATH=str(tools)).stderr)
        other = tools / "clang-format"
        other.write_text("#!/bin/sh\necho 'Debian clang-format version 13.0.1'\n")
        other.chmod(0o755)
        done = self.fmt(PATH=str(tools))
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"Debian: {pinned()}", done.stderr)
        self.assertIn("version 13.0.1", done.stderr)
        self.assertEqual((self.root / TAKEN[0]).read_text(), "int  a;\n")


if __name__ == "__main__":
    unittest.main()
