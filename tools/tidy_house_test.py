#!/usr/bin/env python3
"""Tests of tools/tidy: the order of the house, what CMake is told of it, what documents draw."""

import sys
import unittest

sys.dont_write_bytecode = True

from tidy_test import TidyTest, tidy  # noqa: E402


class House(TidyTest):
    def test_a_folder_includes_what_stands_below_it(self):
        self.keeps({"src/net/a.cc": '#include "protocol/b.h"\n#include "base/c.h"\n'
                                    '#include "net/d.h"\n#include "weft/cache.h"\n'}, "house")

    def test_a_folder_may_not_include_what_stands_above_it(self):
        self.breaks({"src/base/a.cc": '\n#include "cache/b.h"\n'}, "house", ("src/base/a.cc", 2))
        self.breaks({"src/base/a.cc": "", "src/protocol/a.h": '# include "net/b.h"\n'}, "house",
                    ("src/protocol/a.h", 1))
        self.breaks({"src/protocol/a.h": "", "src/base/b.cuh": '#include "src/net/b.h"\n'}, "house",
                    ("src/base/b.cuh", 1))

    def test_the_public_headers_include_no_room(self):
        self.breaks({"include/weft/a.h": '#include "base/b.h"\n'}, "house", ("include/weft/a.h", 1))

    def test_the_other_towers_have_orders_too(self):
        self.keeps({"bench/target/a.cc": '#include "bench/workload/b.h"\n#include "server/b.h"\n',
                    "bench/main.cc": '#include "bench/command/a.h"\n',
                    "sim/core/a.cc": '#include "sim/cache/b.h"\n#include "bench/harness/b.h"\n',
                    "sim/record/a.cc": '#include "cache/b.h"\n',
                    "tests/durable/a.cc": '#include "durable/b.h"\n#include "lsm/b.h"\n',
                    "compat/leveldb/a.cc": '#include "leveldb/b.h"\n#include "lsm/b.h"\n'},
                   "house")
        for path, name in (("bench/workload/a.cc", "bench/target/b.h"),
                           ("sim/cache/a.cc", "sim/core/b.h"),
                           ("tests/linearizability/a.cc", "durable/b.h")):
            with self.subTest(path):
                self.breaks({path: f'\n#include "{name}"\n'}, "house", (path, 2))
                (self.root / path).unlink()

    def test_a_tower_reaches_only_some_of_the_others(self):
        for path, name in (("src/base/a.cc", "bench/harness/b.h"), ("src/lsm/a.cc", "leveldb/b.h"),
                           ("src/lsm/a_test.cc", "tests/durable/b.h"),
                           ("bench/drive/a.cc", "sim/core/b.h"), ("sim/core/a.cc", "cache/b.h"),
                           ("sim/core/a.cc", "bench/target/b.h"),
                           ("compat/leveldb/a.cc", "cache/b.h"),
                           ("tests/gpu/a.cc", "bench/harness/b.h")):
            with self.subTest(path):
                self.breaks({path: f'\n#include "{name}"\n'}, "house", (path, 2))
                (self.root / path).unlink()
        self.keeps({"src/lsm/a_test.cc": '#include "leveldb/b.h"\n'}, "house")  # LevelDB itself

    def test_a_folder_that_is_not_drawn_is_found(self):
        for path in ("src/attic/a.cc", "bench/attic/a.h", "sim/attic/a.cc", "tests/attic/a.py",
                     "compat/attic/a.c", "fuzz/a.cc", "bench/a.cc", "sim/a.h", "src/a.cuh"):
            with self.subTest(path):
                self.breaks({path: "\n"}, "house", (path, 1))
                (self.root / path).unlink()
        self.keeps({"bench/main.cc": "", "sim/record_main.cc": "", "bench/results/a.jsonl": ""},
                   "house")

    def test_a_library_imports_no_script(self):
        self.keeps({"report/report": "#!/usr/bin/env python3\nfrom reportlib import main\n",
                    "report/a_test.py": "import report\n",
                    "report/reportlib/main.py": "import json\nfrom reportlib import page\n",
                    "report/reportlib/page.py": "import re\n"}, "house")
        self.breaks({"report/reportlib/page.py": "import re\nimport json, a_test as a\n"}, "house",
                    ("report/reportlib/page.py", 2))
        self.breaks({"report/reportlib/page.py": "def f():\n    from report import x\n"}, "house",
                    ("report/reportlib/page.py", 2))


class Links(TidyTest):
    def test_libraries_link_downwards(self):
        self.keeps({"src/net/CMakeLists.txt": "weft_module(net DEPENDS base LIBRARIES X::Y)\n"},
                   "house")
        self.keeps({"src/net/CMakeLists.txt": "weft_module(net COLD DEPENDS base)\n"}, "house")
        for text in ("weft_module(net DEPENDS base server)", "weft_module(net DEPENDS attic)",
                     "weft_module(net COLD DEPENDS base server)",
                     "target_link_libraries(weft_net PRIVATE weft_bench_harness)"):
            with self.subTest(text):
                self.breaks({"src/net/CMakeLists.txt": f"add_library(weft_net)\n{text}\n"}, "house",
                            ("src/net/CMakeLists.txt", 2))

    def test_those_of_the_other_towers_do_as_well(self):
        good = ("weft_bench_part(target\n weft_bench_workload weft_cache X::Y)\n"
                "add_executable(weft-bench main.cc)\n"
                "target_link_libraries(weft-bench PRIVATE weft_bench_target)\n"
                "target_link_libraries(weft_bench_harness_test PRIVATE weft_bench_target)\n")
        self.keeps({"bench/CMakeLists.txt": good,
                    "sim/CMakeLists.txt": "weft_sim_part(figure COLD weft_sim_run)\n"
                                       "weft_sim_part(record weft_sim_recorded_cache)\n"}, "house")
        for tower, text in (("bench", "weft_bench_part(workload weft_bench_target)"),
                            ("sim", "weft_sim_part(core weft_sim_run)"),
                            ("sim", "weft_sim_part(core weft_bench_target)"),
                            ("sim", "weft_sim_part(core weft_cache)"),
                            ("compat/leveldb", "set(rooms weft_base weft_cache)\nadd_library(a)\n"
                             "target_link_libraries(a PUBLIC ${rooms})")):
            with self.subTest(text):
                path = f"{tower}/CMakeLists.txt"
                self.breaks({path: f"{text}\n"}, "house", (path, text.count("\n") + 1))
                (self.root / path).unlink()

    def test_a_module_names_what_it_includes(self):
        files = {"src/tier/CMakeLists.txt": "weft_module(tier DEPENDS lsm base)\n",
                 "src/lsm/CMakeLists.txt": "weft_module(lsm DEPENDS table base)\n",
                 "src/tier/a.h": '#include "lsm/b.h"\n#include "tier/c.h"\n#include "d.h"\n',
                 "src/tier/a_test.cc": '#include "cache/b.h"\n'}
        self.keeps(files, "link")
        # Not by what lsm names, nor by a program's names.
        files["src/tier/CMakeLists.txt"] += ("add_executable(weft main.cc)\n"
                                             "target_link_libraries(weft PRIVATE weft_table)\n")
        self.keeps({**files, "src/tier/main.cc": '#include "table/b.h"\n'}, "link")
        self.breaks({"src/tier/a.cc": '\n#include "table/b.h"\n'}, "link", ("src/tier/a.cc", 2))

    def test_a_part_may_get_it_by_what_it_names(self):
        files = {"bench/CMakeLists.txt": "weft_bench_part(harness weft_planner)\n"
                                         "weft_bench_part(target weft_bench_harness)\n"
                                         "weft_sim_part(core weft_bench_harness)\n",
                 "src/planner/CMakeLists.txt": "weft_module(planner DEPENDS task)\n",
                 "bench/target/a.cc": '#include "task/b.h"\n#include "base/b.h"\n'
                                      '#include "bench/harness/b.h"\n'}
        self.keeps(files, "link")
        files["bench/CMakeLists.txt"] += ("target_link_libraries(weft_bench_target"
                                          " PRIVATE weft_net)\n")
        self.keeps({**files, "bench/target/b.cu": '#include "net/b.h"\n'}, "link")
        self.breaks({"bench/target/c_bench.cc": '\n#include "bench/cost/b.h"\n'}, "link",
                    ("bench/target/c_bench.cc", 2))

    def test_what_a_target_is_private_about_stays_with_it(self):
        files = {"sim/CMakeLists.txt": "weft_sim_part(noc)\nweft_sim_part(cache weft_sim_noc)\n"
                                       "target_link_libraries(weft_sim_noc PUBLIC weft_sim_dram)\n",
                 "sim/cache/a.cc": '#include "sim/dram/b.h"\n'}
        self.keeps(files, "link")
        files["sim/CMakeLists.txt"] = files["sim/CMakeLists.txt"].replace("PUBLIC", "PRIVATE")
        self.breaks(files, "link", ("sim/cache/a.cc", 1))


class Drawing(TidyTest):
    DOCUMENT = "docs/architecture.md"

    def test_the_order_must_agree(self):
        self.keeps({self.DOCUMENT: "src/net/  a\nsrc/cache/  b\nsrc/base/  c\n"}, "house")
        for text in ("src/base/  a\nsrc/net/  b\n", "bench/harness/  a\nbench/target/  b\n",
                     "sim/dram/  a\nsim/core/  b\n", "src/net/  a\nsrc/net/  a\n"):
            with self.subTest(text):
                self.breaks({self.DOCUMENT: text}, "house", (self.DOCUMENT, 1))

    def test_every_folder_is_drawn_and_no_other(self):
        self.write({"bench/harness/a.cc": "", "bench/target/a.cc": "", "sim/core/a.cc": ""})
        self.keeps({self.DOCUMENT: "bench/target/  a\nbench/harness/  b\n"}, "house")
        self.breaks({self.DOCUMENT: "bench/harness/  b\n"}, "house", (self.DOCUMENT, 1))
        self.breaks({self.DOCUMENT: "\nsim/core/  a\nsim/attic/  b\n"}, "house",
                    (self.DOCUMENT, 1), (self.DOCUMENT, 3))

    def test_the_arrows_are_those_of_cmake(self):
        self.write({"src/tier/CMakeLists.txt": "weft_module(tier DEPENDS lsm table base)\n",
                    "src/lsm/CMakeLists.txt": "weft_module(lsm DEPENDS table base)\n",
                    "sim/CMakeLists.txt": "weft_sim_part(core weft_bench_harness)\n"})
        good = ("src/tier/  a, b  lsm\nsrc/lsm/  c  table\nsrc/table/  d  -\n"
                "sim/core/  e  bench/harness\n")
        self.keeps({self.DOCUMENT: good}, "house")
        self.keeps({self.DOCUMENT: good.replace("b  lsm", "b  lsm table")}, "house")
        for old, new, line in (("b  lsm", "b  lsm cache", 1), ("b  lsm", "b  table", 1),
                               ("c  table", "c  -", 2), ("bench/harness", "bench/cost", 4)):
            with self.subTest(new):
                found = self.findings({self.DOCUMENT: good.replace(old, new)}, "house")
                self.assertIn((self.DOCUMENT, line), found)

    def test_the_readme_has_a_row_for_each_folder(self):
        table = "| `src/base/` | x |\n| `docs/`, `tools/` | y |\n"
        tree = {"src/base/a.cc": "", "docs/b.md": "", "tools/c": "", ".ci/run": ""}
        self.keeps({**tree, "README.md": table}, "house")
        self.breaks({"README.md": table.replace("`docs/`, ", "docs/ ")}, "house", ("README.md", 1))


class Lists(unittest.TestCase):
    def test_what_towers_may_reach_are_rooms(self):
        rooms = {f"{name}/{room}" for name, tower in tidy.TOWERS.items() for room in tower.rooms}
        for name, tower in tidy.TOWERS.items():
            self.assertEqual(len(set(tower.rooms)), len(tower.rooms), name)
            self.assertEqual(set(tower.may) - {"", *tower.rooms}, set(), name)
            reached = {there for allowed in tower.may.values() for there in allowed}
            self.assertEqual(reached - rooms - set(tidy.TOWERS), set(), name)


if __name__ == "__main__":
    unittest.main()
