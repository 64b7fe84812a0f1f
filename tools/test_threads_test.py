#!/usr/bin/env python3
"""The self-test of tools/test_threads.py."""

import tempfile
import unittest
from pathlib import Path

import test_threads

ONE = "// What it is.\n//\n// Threads   one.\n#include <x>\n\n"


class Threads(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = Path(holder.name)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def test_a_folder_names_threads_or_does_not(self):
        self.write("src/a/a.cc", "// Threads   any.\nint thread_count = std::this_thread::x;\n")
        self.assertFalse(test_threads.name_threads(self.root / "src/a"))
        self.write("src/a/a.md", "std::thread")
        self.assertFalse(test_threads.name_threads(self.root / "src/a"))
        for text in ("std::thread t;", "std::jthread t;", "std::atomic<int> i;", "base::Mutex m;",
                     "#include <mutex>", "auto t = base::StartThread(f);"):
            self.write("src/a/b.h", text)
            self.assertTrue(test_threads.name_threads(self.root / "src/a"), text)

    def test_suites_are_those_of_files_that_say_so(self):
        tests = "TEST(One, A) {\nTEST_F(OneF, A) {\nTEST_P(\n    OneP, A) {\n"
        self.write("src/a/a_test.cc", ONE + tests)
        self.write("src/a/b_test.cc", "TEST(Several, A) {\n// Threads   one.\nTEST(Late, A) {\n")
        self.write("sim/b/c_test.cc", "// Threads   one owner.\nTEST(Owner, A) {\n")
        self.assertEqual(test_threads.suites_of_one_thread(self.root), ["One", "OneF", "OneP"])

    def test_a_suite_of_several_files_is_so_where_all_say_it(self):
        self.write("src/a/a_test.cc", ONE + "TEST(Both, A) {\nTEST(One, A) {\n")
        self.write("bench/a/b_test.cc", "TEST(Both, B) {\n")
        self.assertEqual(test_threads.suites_of_one_thread(self.root), ["One"])

    def test_the_filter_leaves_out_what_is_made_of_them_too(self):
        self.assertEqual(test_threads.filter_without(["A", "B"]), "-A.*:*/A.*:B.*:*/B.*")
        self.assertEqual(test_threads.filter_without([]), "*")


if __name__ == "__main__":
    unittest.main()
