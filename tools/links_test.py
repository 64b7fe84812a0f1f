#!/usr/bin/env python3
"""What the programs of the release build link, and the self-test of tools/links.py."""

import unittest
from pathlib import Path

import links

ROOT = Path(__file__).resolve().parent.parent
NINJA = ROOT / "build/release/build.ninja"

MADE_UP = """
build sim/all: phony sim/weft-sim sim/libweft_sim_run.a

build sim/weft-sim: CXX_EXECUTABLE_LINKER__weft-sim_Release a.o | sim/libweft_sim_run.a || other
  FLAGS = -O3 -DNDEBUG
  LINK_LIBRARIES = -Wl,-rpath,"/x/lib"  sim/libweft_sim_run.a  SIM /usr/lib/libfmt.so.9.1.0  -ldl
  OBJECT_DIR = sim/CMakeFiles/weft-sim.dir

build tools/alone: CXX_EXECUTABLE_LINKER__alone_Release a.o
  FLAGS = -O3

build src/server/weft: CXX_EXECUTABLE_LINKER__weft_Release main.cc.o | src/server/libweft_server.a
  LINK_LIBRARIES = src/server/libweft_server.a  SERVER src/base/libweft_base.a

build weft: phony src/server/weft
"""


def made_up(sim="", server=""):
    return MADE_UP.replace("SIM", sim).replace("SERVER", server)


def why_not():
    """Why the release build can't be asked; "" if it can."""
    if not NINJA.is_file():
        return "there is no release build"
    configured = [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake"),
                  *(path for folder in ("src", "bench", "sim", "compat")
                    for path in ROOT.glob(f"{folder}/**/CMakeLists.txt"))]
    if max(path.stat().st_mtime for path in configured) > NINJA.stat().st_mtime:
        return "the release build is older than what configures it"
    return ""


class ReleaseBuild(unittest.TestCase):
    """`./dev build` first: otherwise these are skipped."""

    def test_programs_link_only_what_they_need(self):
        if why_not():
            self.skipTest(why_not())
        ninja = NINJA.read_text(encoding="utf-8")
        for program in links.FORBIDDEN:
            with self.subTest(program=program):
                names = links.linked(ninja, program)
                if names is None:
                    self.skipTest(f"{program} is not built here: a package is missing")
                self.assertIn("weft_base", names)
                self.assertEqual(links.faults(ninja, program), [])


class Links(unittest.TestCase):
    """Builds that are made up here."""

    def test_the_link_line_is_read(self):
        self.assertEqual(links.linked(made_up(), "sim/weft-sim"), ["weft_sim_run"])
        self.assertEqual(links.linked(made_up(), "src/server/weft"), ["weft_server", "weft_base"])
        self.assertEqual(links.linked(made_up(), "tools/alone"), [])
        self.assertIsNone(links.linked(made_up(), "bench/weft-bench"))

    def test_what_is_allowed_is_no_fault(self):
        ninja = made_up("bench/libweft_bench_harness.a", "src/cache/libweft_cache.a")
        for program in links.FORBIDDEN:
            self.assertEqual(links.faults(ninja, program), [], program)

    def test_a_planted_library_is_a_fault(self):
        for name in ("processor", "cache", "planner", "pipeline"):
            ninja = made_up(sim=f"src/{name}/libweft_{name}.a")
            self.assertEqual(links.faults(ninja, "sim/weft-sim"), [f"weft_{name}"])
        for top, name in (("bench", "weft_bench_harness"), ("sim", "weft_sim_trace")):
            ninja = made_up(server=f"{top}/lib{name}.a")
            self.assertEqual(links.faults(ninja, "src/server/weft"), [name])
        harness = made_up(sim="bench/libweft_bench_harness.a src/planner/libweft_planner.a")
        harness = harness.replace("sim/weft-sim:", "bench/weft_bench_harness_test:")
        self.assertEqual(links.faults(harness, "bench/weft_bench_harness_test"),
                         ["weft_sim_run", "weft_planner"])


if __name__ == "__main__":
    unittest.main()
