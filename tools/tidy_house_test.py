#!/usr/bin/env python3
"""Tests of tools/tidy: the order of the house."""

import sys
import unittest

sys.dont_write_bytecode = True

from tidy_test import TidyTest  # noqa: E402


class House(TidyTest):
    def test_a_folder_includes_what_stands_below_it(self):
        self.keeps({"src/net/a.cc": '#include "protocol/b.h"\n#include "base/c.h"\n'
                                    '#include "net/d.h"\n#include "weft/cache.h"\n'}, "house")

    def test_a_folder_may_not_include_what_stands_above_it(self):
        self.breaks({"src/base/a.cc": '\n#include "cache/b.h"\n'}, "house", ("src/base/a.cc", 2))
        self.breaks({"src/base/a.cc": "", "src/protocol/a.h": '# include "net/b.h"\n'}, "house",
                    ("src/protocol/a.h", 1))

    def test_the_public_headers_include_no_room(self):
        self.breaks({"include/weft/a.h": '#include "base/b.h"\n'}, "house", ("include/weft/a.h", 1))

    def test_what_stands_outside_the_house_may_include_anything(self):
        self.keeps({"bench/a.cc": '#include "server/b.h"\n', "tests/b.cc": '#include "net/b.h"\n',
                    "fuzz/c.cc": '#include "net/c.h"\n'}, "house")

    def test_the_readme_has_a_row_for_each_folder(self):
        table = "| `src/base/` | x |\n| `docs/`, `tools/` | y |\n"
        tree = {"src/base/a.cc": "", "docs/b.md": "", "tools/c": "", ".ci/run": ""}
        self.keeps({**tree, "README.md": table}, "house")
        self.breaks({"README.md": table.replace("`docs/`, ", "docs/ ")}, "house", ("README.md", 1))

    def test_a_folder_that_is_not_drawn_is_found(self):
        self.breaks({"src/attic/a.cc": "\n"}, "house", ("src/attic/a.cc", 1))

    def test_libraries_link_downwards(self):
        self.keeps({"src/net/CMakeLists.txt": "weft_module(net DEPENDS base LIBRARIES X::Y)\n"},
                   "house")
        self.keeps({"src/net/CMakeLists.txt": "weft_module(net COLD DEPENDS base)\n"}, "house")
        self.keeps({"src/net/CMakeLists.txt": "weft_module(net COLD FOLDERS tcp DEPENDS base)\n"},
                   "house")
        self.breaks({"src/net/CMakeLists.txt": "\nweft_module(net DEPENDS base server)\n"},
                    "house", ("src/net/CMakeLists.txt", 2))
        self.breaks({"src/net/CMakeLists.txt": "\nweft_module(net COLD DEPENDS base server)\n"},
                    "house", ("src/net/CMakeLists.txt", 2))

    def test_the_drawing_must_agree(self):
        self.keeps({"docs/architecture.md": "src/net/  a\nsrc/cache/  b\nsrc/base/  c\n"}, "house")
        self.breaks({"docs/architecture.md": "src/base/  a\nsrc/net/  b\n"}, "house",
                    ("docs/architecture.md", 1))


if __name__ == "__main__":
    unittest.main()
