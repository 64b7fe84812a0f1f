#!/usr/bin/env python3
"""Weft as a folder of another project's (CMake's add_subdirectory): it configures, its targets
have what the other project needs, and its compiler settings stay its own."""

import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CMAKE = """
cmake_minimum_required(VERSION 3.22)
project(around LANGUAGES C CXX)
include_directories(own)
add_subdirectory({root} weft EXCLUDE_FROM_ALL)
add_executable(embeds embeds.cc)
target_link_libraries(embeds PRIVATE weft_cache weft_lsm)
add_executable(ported ported.cc)
target_link_libraries(ported PRIVATE weft_leveldb_static)
"""
# Neither compiles with Weft's own settings: -fno-rtti, and warnings as errors.
EMBEDS = """
#include <typeinfo>
#include "base/clock.h"
#include "weft/cache.h"
#include "weft/db.h"
#if __has_include("base/ascending_copy.h")
#error "the headers inside Weft are in the way"
#endif
int main(int count, char**) {
  int unused = kOfThisProgram;
  auto cache = weft::Cache::Open({});
  auto db = weft::Db::Open({.create_if_missing = true}, "store");
  return cache && db ? typeid(count).name()[0] == 0 : 1;
}
"""
PORTED = """
#include <typeinfo>
#include "leveldb/db.h"
int main(int count, char**) {
  int unused;
  leveldb::DB* db = nullptr;
  leveldb::Options options;
  return leveldb::DB::Open(options, "store", &db).ok() ? typeid(count).name()[0] : 1;
}
"""


def why_not():
    """Why this machine can't configure a project; "" if it can."""
    missing = [tool for tool in ("cmake", "ninja", "c++") if shutil.which(tool) is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


class Subfolder(unittest.TestCase):
    """One project around Weft, configured once."""

    @classmethod
    def setUpClass(cls):
        if why_not():
            raise unittest.SkipTest(why_not())
        cls.folder = tempfile.TemporaryDirectory()
        cls.source = Path(cls.folder.name)
        cls.build = cls.source / "build"
        for name, text in (("CMakeLists.txt", CMAKE.format(root=ROOT)),
                           ("embeds.cc", EMBEDS), ("ported.cc", PORTED)):
            (cls.source / name).write_text(text, encoding="utf-8")
        (cls.source / "own/base").mkdir(parents=True)  # Weft has a base/clock.h too
        (cls.source / "own/base/clock.h").write_text("constexpr int kOfThisProgram = 1;\n")
        cls.configured = subprocess.run(
            ["cmake", "-S", cls.source, "-B", cls.build, "-G", "Ninja"],
            capture_output=True, text=True, check=False)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def ninja(self, *words):
        run = subprocess.run(["ninja", "-C", self.build, *words], capture_output=True, text=True,
                             check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def commands(self, target):
        return [shlex.split(line) for line in self.ninja("-t", "commands", target).splitlines()
                if " -c " in line]

    def setUp(self):
        self.assertEqual(self.configured.returncode, 0, self.configured.stderr)

    def test_a_program_compiles_with_the_settings_of_its_own_project(self):
        for name in ("embeds", "ported"):
            with self.subTest(program=name):
                self.ninja(f"CMakeFiles/{name}.dir/{name}.cc.o")

    def test_weft_finds_its_own_headers_first(self):
        self.ninja("weft/src/base/libweft_base.a")  # its clock.cc includes base/clock.h

    def test_weft_keeps_its_settings(self):
        own = [words for words in self.commands("embeds") if words[-1].endswith(".cxx")]
        self.assertTrue(own)
        for words in own:
            self.assertIn("-fno-rtti", words)
            self.assertNotIn("-Werror", words)

    def test_only_what_the_program_needs_is_built(self):
        made = [words[words.index("-o") + 1] for words in self.commands("all")]
        self.assertTrue([path for path in made if path.startswith("weft/src/cache/")])
        self.assertEqual([path for path in made if path.startswith("weft/src/server/")], [])

    def test_what_develops_weft_is_not_there(self):
        targets = [line.split(":")[0] for line in self.ninja("-t", "targets", "all").splitlines()]
        self.assertIn("weft/src/cache/libweft_cache.a", targets)
        self.assertEqual([name for name in targets
                          if name.startswith(("weft/bench/", "weft/sim/", "weft/tests/"))
                          or name.endswith("_test")], [])


if __name__ == "__main__":
    unittest.main()
