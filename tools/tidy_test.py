#!/usr/bin/env python3
"""Tests of tools/tidy: every rule on a small tree that breaks it and on one that keeps it. Those of
the order of the house are in tools/tidy_house_test.py.
"""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent


def load_tidy():
    loader = importlib.machinery.SourceFileLoader("tidy", str(HERE / "tidy"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    loader.exec_module(module)
    return module


tidy = load_tidy()
from tidylib import alone, precompiled, ratchet  # noqa: E402
from tidylib.tree import Tree, split_cpp  # noqa: E402

HEADER = "// {name}: what it is for.\n#pragma once\n{body}"


def header(name, body=""):
    return HEADER.format(name=name, body=body)


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)

    def write(self, files):
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)

    def findings(self, files, rule, compile_files=False):
        """(path, line) of each finding of `rule` in a tree of these files."""
        self.write(files)
        found = tidy.findings_of(Tree(self.root), compile_files)
        return [(f.path, f.line) for f in found if f.rule == rule]

    def keeps(self, files, rule, **how):
        self.assertEqual(self.findings(files, rule, **how), [])

    def breaks(self, files, rule, *where, **how):
        self.assertEqual(self.findings(files, rule, **how), list(where))


class Alone(TidyTest):
    def test_a_header_that_includes_what_it_needs_passes(self):
        body = "#include <string>\ninline std::string Name() { return {}; }\n"
        files = {"src/base/a.h": header("base/a.h", body)}
        self.keeps(files, "alone", compile_files=True)
        self.assertTrue((self.root / "build/tidy/alone.json").is_file())
        self.keeps(files, "alone", compile_files=True)  # now from the store

    def test_a_header_that_leans_on_others_fails_each_time(self):
        files = {"src/base/a.h": header("base/a.h", "inline std::string Name() { return {}; }\n")}
        self.breaks(files, "alone", ("src/base/a.h", 1), compile_files=True)
        self.breaks(files, "alone", ("src/base/a.h", 1), compile_files=True)

    def test_the_build_proves_a_header_that_its_source_includes_first(self):
        bad = header("base/a.h", "inline std::string Name() { return {}; }\n")
        self.keeps({"src/base/a.h": bad, "src/base/a.cc": '#include "base/a.h"\n'}, "alone",
                   compile_files=True)
        self.breaks({"src/base/a.cc": '#include <string>\n#include "base/a.h"\n'}, "alone",
                    ("src/base/a.h", 1), compile_files=True)

    def built_together(self, flags):
        """Writes the database of a build that compiles src/base/a.cc and b.cc as one file."""
        unit = self.root / "build/release/src/base/CMakeFiles/weft_base.dir/Unity/unity_0_cxx.cxx"
        unit.parent.mkdir(parents=True, exist_ok=True)
        unit.write_text("".join(f'#include "{self.root}/src/base/{name}.cc"\n' for name in "ab"))
        database = [{"directory": str(self.root), "file": str(unit),
                     "command": f"c++ -std=c++20 -I{self.root}/src {flags} -c {unit}"}]
        (self.root / "build/release/compile_commands.json").write_text(json.dumps(database))

    def test_a_source_may_not_lean_on_one_that_is_compiled_with_it(self):
        files = {"src/base/a.h": header("base/a.h", "struct A {};\n"),
                 "src/base/a.cc": '#include "base/a.h"\n#include <string>\nstd::string a;\n',
                 "src/base/b.cc": "#include <string>\nstd::string b;\n"}
        self.built_together("-fPIC")
        self.keeps(files, "alone", compile_files=True)
        files["src/base/b.cc"] = "std::string b;\n"
        self.breaks(files, "alone", ("src/base/b.cc", 1), compile_files=True)

    def test_a_source_is_parsed_as_the_build_compiles_it(self):
        files = {"src/base/a.cc": "static_assert(WEFT_A == 1);\n",
                 "src/base/b.cc": "inline void F(int unused) {}\n"}
        self.built_together("-DWEFT_A=1")
        self.keeps(files, "alone", compile_files=True)
        self.built_together("-DWEFT_A=1 -Wall -Wextra -Werror")
        self.breaks(files, "alone", ("src/base/b.cc", 1), compile_files=True)

    def test_headers_are_parsed_with_what_includes_them_and_nothing_else(self):
        files = {"src/base/a.h": header("base/a.h", "struct A {};\n"),
                 "src/base/b.h": header("base/b.h", '#include "base/a.h"\nstruct B { A a; };\n'),
                 "src/base/c.h": header("base/c.h", "struct C {};\n"),
                 "src/base/d.h": header("base/d.h", '#include "base/b.h"\n#include "base/c.h"\n'),
                 "src/base/e.h": header("base/e.h", '#ifdef E\n#include "base/c.h"\n#endif\n')}
        self.write(files)
        tree = Tree(self.root)
        jobs = [(path, ["c++", "-std=c++20", f"-I{self.root}/src"]) for path in files]
        lists = alone.together(jobs, precompiled.Precompiled(tree, jobs, self.root))
        self.assertEqual([["src/base/a.h", "src/base/b.h", "src/base/d.h"], ["src/base/c.h"],
                          ["src/base/e.h"]], [[path for path, _ in of] for of, _ in lists])

    def test_of_those_that_are_parsed_together_the_broken_one_is_named(self):
        good = header("base/b.h", '#include "base/a.h"\n')
        lean = header("base/a.h", "struct A { std::string name; };\n")
        self.breaks({"src/base/a.h": header("base/a.h", "struct A {};\n"),
                     "src/base/b.h": good + "inline std::string Name() { return {}; }\n"},
                    "alone", ("src/base/b.h", 1), compile_files=True)
        self.breaks({"src/base/a.h": lean, "src/base/b.h": "#include <string>\n" + good},
                    "alone", ("src/base/a.h", 1), compile_files=True)

    def test_a_change_below_is_seen(self):
        files = {"src/base/a.h": header("base/a.h", "struct A {};\n"),
                 "src/base/b.h": header("base/b.h", '#include "base/a.h"\nstruct B { A a; };\n')}
        self.keeps(files, "alone", compile_files=True)
        files["src/base/a.h"] = header("base/a.h", "struct C {};\n")
        self.breaks(files, "alone", ("src/base/b.h", 1), compile_files=True)


class Precompiled(TidyTest):
    """Many headers that include the same of a library's: it is parsed once."""

    PREFIX = "#include <memory>\n#include <string>\n#include <thread>\n"
    GOOD = PREFIX + "inline std::unique_ptr<std::string> Make() { return nullptr; }\n"

    def files(self, last):
        return {**{f"src/base/h{i}.h": header(f"base/h{i}.h", self.GOOD) for i in range(9)},
                "src/base/z.h": header("base/z.h", last)}

    def test_some_are_chosen(self):
        self.write(self.files(self.GOOD))
        tree = Tree(self.root)
        flags = ["c++", "-std=c++20"]
        made = precompiled.Precompiled(tree, [(f.path, flags) for f in tree.files], self.root)
        names, = (names for of in made.made.values() for _, names, _ in of)
        self.assertLessEqual({"memory", "string", "thread"}, names)
        self.assertNotIn("map", names)
        self.assertIn("atomic", names)  # which comes with <thread>, whole
        self.assertEqual(made.flags_for("src/base/z.h", flags)[0], "-include")
        self.assertEqual(made.flags_for("src/base/z.h", ["c++", "-std=c++17"]), [])

    def test_the_compiler_takes_them(self):
        self.write(self.files(self.GOOD))
        tree = Tree(self.root)
        flags = alone.Settings.kept(["ccache", "c++", "-std=c++20", "-fPIC", "-O3", "-pthread"])
        flags.append(f"-I{self.root}/src")
        made = precompiled.Precompiled(tree, [(f.path, flags) for f in tree.files], self.root)
        command = [*flags, *made.flags_for("src/base/z.h", flags), "-Winvalid-pch", "-Werror", "-H"]
        done = subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], text=True,
                              input='#include "base/z.h"\n', capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^! \S+\.gch")

    def test_headers_pass_with_them(self):
        self.keeps(self.files(self.GOOD), "alone", compile_files=True)

    def test_what_a_header_does_not_include_is_not_there(self):
        for last in ("inline std::string Name() { return {}; }\n",
                     "#include <memory>\ninline std::thread* Get() { return nullptr; }\n",
                     "#ifdef WEFT_NEVER\n" + self.PREFIX + "#endif\n"
                     "inline std::string Name() { return {}; }\n"):
            self.breaks(self.files(last), "alone", ("src/base/z.h", 1), compile_files=True)
            (self.root / "build/tidy/alone.json").unlink()  # so that all are compiled again

    def test_nor_for_one_that_another_includes(self):
        files = self.files(self.PREFIX + '#include "base/lean.h"\n')
        files["src/base/lean.h"] = header("base/lean.h", "struct Lean { std::string name; };\n")
        self.breaks(files, "alone", ("src/base/lean.h", 1), compile_files=True)

    def test_what_is_included_under_a_condition_does_not_count(self):
        text = ('#ifdef A\n#include <map>\n#include "a.h"\n#endif\n#include <set>\n'
                '#include "b.h"\n#include <cstdint>\n')
        self.assertEqual(precompiled.includes(text), (["b.h"], {"set"}))


class Vendor(TidyTest):
    def test_only_portable_h_knows_the_compilers(self):
        guard = "#if defined(__CUDACC__) || defined(__AVX2__)\n#endif\n"
        self.keeps({"src/task/portable.h": guard}, "vendor")
        self.breaks({"src/task/a.h": "\n#ifdef __SANITIZE_THREAD__\n#endif\n"}, "vendor",
                    ("src/task/a.h", 2))

    def test_a_comment_may_name_them(self):
        self.keeps({"src/task/a.h": "// nothing here tests __CUDACC__\n"}, "vendor")


class Threads(TidyTest):
    def test_what_says_that_it_has_one_names_none(self):
        says = "// What it is.\n// Threads   one.\n"
        self.keeps({"src/base/a_test.cc": says + "// std::thread\nint i;\n"}, "threads")
        self.keeps({"src/base/a_test.cc": "// Threads   any.\nstd::thread t;\n"}, "threads")
        self.breaks({"src/base/a_test.cc": says + "std::thread t;\n"}, "threads",
                    ("src/base/a_test.cc", 3))

    def test_a_suite_is_marked_whole(self):
        says, case = "// What it is.\n// Threads   one.\n", "TEST(Clock, %s) {\n}\n"
        for mark, check in ((says, self.keeps), ("", self.breaks)):
            check({"src/base/a_test.cc": says + case % "Ticks",
                   "src/base/b_test.cc": mark + case % "Stops"}, "threads",
                  *[("src/base/a_test.cc", 3)] * (check == self.breaks))


class Names(TidyTest):
    TREE = {"src/base/clock.h": header("base/clock.h", "struct Clock {\n  int Now();\n};\n"
                                       "constexpr int kTicks = 1;\n#define WEFT_CLOCK 1\n")}

    def test_what_is_there_may_be_named(self):
        comment = ("// base/clock.h, src/base/clock.h and src/base/: Clock::Now, Clock(), kTicks,\n"
                   "// WEFT_CLOCK, WEFT_*, std::vector, https://a.example/b/c.h, a/b, <sys/x.h>.\n")
        self.keeps({**self.TREE, "src/base/a.cc": comment,
                    "tools/tidy_words.txt": "std::*\n"}, "name")

    def test_what_is_gone_may_not(self):
        for text in ("base/gone.h", "src/gone/", "Clock::Gone", "Gone()", "kGone", "WEFT_GONE"):
            with self.subTest(text):
                self.breaks({**self.TREE, "src/base/a.cc": f"\n// See {text} for it.\n"}, "name",
                            ("src/base/a.cc", 2))

    def test_environment_variables_may_be_named(self):
        self.keeps({"src/base/a.cc": '// WEFT_PORT: a port\nauto p = getenv("WEFT_PORT");\n'},
                   "name")

    def test_code_is_not_a_comment(self):
        self.keeps({**self.TREE, "src/base/a.cc": 'const char* p = "a/gone.h"; int x = Gone();\n'},
                   "name")

    def test_documents_name_in_backticks(self):
        self.keeps({**self.TREE, "docs/a.md": "Gone() kGone and `clock.h`, `Clock`, `Now()`\n"
                    "```\nbuild/x.h src/gone.h\n```\n[code](../src/base/clock.h)\n"}, "name")
        self.breaks({**self.TREE, "docs/a.md": "`gone.h`\n`GoneClock`\nsrc/gone.h\n"
                     "`Clock::Gone`\n"}, "name", *[("docs/a.md", line) for line in (1, 2, 3, 4)])

    def test_words_of_others_are_listed(self):
        self.keeps({"src/base/a.cc": "// doc/protocol.txt, boost::any and folly::Foo::Bar\n",
                    "tools/tidy_words.txt": "doc/protocol.txt\nboost::any\nfolly::*  # all\n"},
                   "name")

    def test_a_family_of_constants_may_be_named_by_its_beginning(self):
        self.keeps({"src/base/a.cc": "// the kAccess bits\nconstexpr int kAccessShift = 1;\n"},
                   "name")


def function(name, lines):
    return f"int {name}(int x) {{\n" + "  x++;\n" * (lines - 2) + "}\n"


class Size(TidyTest):
    def test_limits(self):
        self.keeps({"src/base/a.cc": function("A", 70) + "\n" * 430}, "size")
        self.breaks({"src/base/a.cc": "\n" + function("A", 71)}, "size", ("src/base/a.cc", 2))
        self.breaks({"src/base/a.cc": "\n" * 501}, "size", ("src/base/a.cc", 1))

    def test_classes_namespaces_and_data_are_no_functions(self):
        body = "  int a;\n" * 80
        self.keeps({"src/base/a.cc": "namespace a {\nclass B {\n" + body
                    + "};\nstruct WEFT(x) C {\n" + body + "};\nenum D { E,\n" + "\n" * 80
                    + "};\nint f[] = {\n" + "1,\n" * 80
                    + "};\n}\n"}, "size")

    def test_a_constructor_with_initialisers_and_a_test_are_functions(self):
        for head in ("A::A(int b) : b_{b}, c_(1)", "TEST(Thing, Behaves)", "bool operator==(A a)",
                     "auto F(int x) const noexcept -> int"):
            with self.subTest(head):
                text = function("A", 80).replace("int A(int x)", head)
                self.breaks({"src/base/a.cc": text}, "size", ("src/base/a.cc", 1))

    def test_python_functions_count(self):
        self.breaks({"tools/a.py": "\ndef f():\n" + "    pass\n" * 70}, "size", ("tools/a.py", 2))

    def test_the_ratchet_lowers_and_grows_only_when_told(self):
        self.write({"tools/a.py": "", "src/base/a.cc": function("A", 90)})
        ratchet.update(Tree(self.root), accept=False)
        self.assertEqual(ratchet.load(Tree(self.root)), {})
        ratchet.update(Tree(self.root), accept=True)
        self.assertEqual(ratchet.load(Tree(self.root)),
                         {"functions": {"src/base/a.cc A": 90}})
        self.keeps({}, "size")
        self.breaks({"src/base/a.cc": function("A", 91)}, "size", ("src/base/a.cc", 1))
        self.write({"src/base/a.cc": function("A", 80)})
        ratchet.update(Tree(self.root), accept=False)
        self.assertEqual(ratchet.load(Tree(self.root)),
                         {"functions": {"src/base/a.cc A": 80}})
        self.write({"src/base/a.cc": function("A", 10)})
        ratchet.update(Tree(self.root), accept=False)
        self.assertEqual(ratchet.load(Tree(self.root)), {})


class Form(TidyTest):
    def test_lines(self):
        self.keeps({"src/base/a.cc": "/" * 100 + "\n", "docs/a.md": "x" * 200 + "\n"}, "form")
        for text in ("/" * 101 + "\n", "\tint x;\n", "int x; \n", "int x;"):
            with self.subTest(text):
                self.breaks({"src/base/a.cc": text}, "form", ("src/base/a.cc", 1))

    def test_columns_are_characters(self):
        self.keeps({"src/base/a.cc": "// " + "→" * 97 + "\n"}, "form")

    def test_headers(self):
        self.keeps({"src/base/a.h": header("base/a.h"), "include/weft/b.h": header("weft/b.h"),
                    "bench/c.h": header("bench/c.h")}, "header")
        self.breaks({"src/base/a.h": "#pragma once\n"}, "header", ("src/base/a.h", 1))
        self.breaks({"src/base/a.h": "// base/a.h: b.\n"}, "header", ("src/base/a.h", 1))

    def test_leftovers(self):
        note = "TO" "DO"
        self.keeps({"src/base/a.cc": f"int {note}s; // mktemp XXXXXX\n"}, "leftover")
        self.breaks({"src/base/a.cc": f"\n// {note}: later\n"}, "leftover", ("src/base/a.cc", 2))


class Words(TidyTest):
    LONG = "word " * 25 + "end.\n"
    SHORT = "word " * 24 + "end.\n"

    def test_long_sentences(self):
        self.keeps({"docs/a.md": self.SHORT + "\n" + self.SHORT}, "sentences")
        self.breaks({"docs/a.md": "# Title\n\n" + self.LONG,
                     "src/base/a.h": header("base/a.h") + "// " + self.LONG}, "sentences",
                    ("docs/a.md", 3), ("src/base/a.h", 3))

    def test_sentences_are_told_apart(self):
        half = "word " * 15
        for between in ("end. The", "end: the", "end; the", "end.\n\nThe", "end\n- the"):
            with self.subTest(between):
                self.keeps({"docs/a.md": f"{half}{between} {half}\n"}, "sentences")
        self.breaks({"docs/a.md": f"{half}e.g. the {half}\n"}, "sentences", ("docs/a.md", 1))

    def test_a_comment_behind_code_is_no_part_of_the_next(self):
        half = "word " * 15
        lines = f"int a;  // {half}\nint b;  // {half}\n"
        self.keeps({"src/base/a.h": header("base/a.h", lines)}, "sentences")
        self.breaks({"src/base/a.h": header("base/a.h", f"int a;  // {self.LONG}")}, "sentences",
                    ("src/base/a.h", 3))

    def test_code_tables_and_bodies_are_no_sentences(self):
        self.keeps({"docs/a.md": f"```\n{self.LONG}```\n\n| {self.LONG.strip()} |\n",
                    "docs/b.md": "Run `" + "word " * 30 + "` twice.\n",
                    "src/base/a.cc": "// " + self.LONG}, "sentences")

    def test_turns_of_phrase(self):
        for text in ("All but for one.", "It waits. Else it fails.", "Who waits is woken.",
                     "It stays, for it is used.", "This is to be done.", "Hence it waits."):
            with self.subTest(text):
                self.breaks({"docs/a.md": text + "\n",
                             "src/base/a.h": header("base/a.h", f"// {text}\n")}, "words",
                            ("docs/a.md", 1), ("src/base/a.h", 3))
        self.keeps({"docs/a.md": "Who waits?\n`but for` stands in code; otherwise not.\n",
                    "src/base/a.h": header("base/a.h")}, "words")

    def test_documents_have_100_columns(self):
        self.keeps({"docs/a.md": "x" * 100 + "\n"}, "columns")
        self.breaks({"docs/a.md": "\n" + "x" * 101 + "\n"}, "columns", ("docs/a.md", 2))

    def test_what_is_recorded_may_shrink_and_not_grow(self):
        record = json.dumps({"sentences": {"docs/a.md": 2}})
        self.keeps({"docs/a.md": self.LONG * 2, ratchet.STORE: record}, "sentences")
        longer = "".join(f"{self.LONG}\n" for _ in range(3))
        self.breaks({"docs/a.md": longer}, "sentences",
                    ("docs/a.md", 1), ("docs/a.md", 3), ("docs/a.md", 5))
        self.write({"docs/a.md": self.LONG})
        ratchet.update(Tree(self.root), accept=False)
        self.assertEqual(json.loads((self.root / ratchet.STORE).read_text())["sentences"],
                         {"docs/a.md": 1})


class Programs(TidyTest):
    BODY = ('int main(int argc, char** argv) {{\n{first}'
            '  return weft::base::EndProgram(Run(argc, argv));\n}}\n')
    START = '  weft::base::StartProgram("weft");\n'

    def test_a_main_starts_and_ends_as_all_do(self):
        self.keeps({"sim/main.cc": self.BODY.format(first=self.START)}, "program")
        self.keeps({"sim/probe.cc": "int main() {\n  return 0;\n}\n"}, "program")

    def test_anything_before_the_start_is_found(self):
        for first in ("", "  // " + self.START.lstrip(), "  Open();\n" + self.START):
            with self.subTest(first):
                self.breaks({"sim/main.cc": self.BODY.format(first=first)}, "program",
                            ("sim/main.cc", 1))

    def test_anything_behind_the_start_is_found(self):
        body = self.BODY.format(first=self.START).replace("weft::base::EndProgram", "Other")
        self.breaks({"sim/main.cc": body}, "program", ("sim/main.cc", 1))

    def test_a_program_without_a_main_is_found(self):
        self.breaks({"sim/record_main.cc": "int x;\n"}, "program", ("sim/record_main.cc", 1))


class Kits(TidyTest):
    HELPER = {"src/base/helper.h": header("base/helper.h")}
    INCLUDE = '#include "base/helper.h"\n'

    def test_what_only_tests_include_is_named_a_kit(self):
        files = {"src/base/a_test.cc": self.INCLUDE, "tests/b.cc": self.INCLUDE,
                 "src/base/c_bench.cc": self.INCLUDE, "src/base/d_fuzz.cc": self.INCLUDE,
                 "src/base/e_test_kit.h": header("base/e_test_kit.h", self.INCLUDE)}
        for path, text in files.items():
            with self.subTest(path):
                self.breaks({**self.HELPER, path: text}, "kit", ("src/base/helper.h", 1))
                (self.root / path).unlink()
        self.keeps({"src/base/helper.h": header("base/helper.h"),
                    "src/base/f_test_kit.h": header("base/f_test_kit.h"),
                    "src/base/a_test.cc": '#include "base/f_test_kit.h"\n'}, "kit")

    def test_what_others_include_is_none(self):
        self.keeps({**self.HELPER, "src/base/a_test.cc": self.INCLUDE,
                    "src/base/helper.cc": self.INCLUDE}, "kit")
        self.keeps({"bench/a.h": header("bench/a.h"), "bench/a_test.cc": '#include "bench/a.h"\n',
                    "bench/b_bench.cc": '#include "bench/a.h"\n'}, "kit")

    def test_a_kit_is_for_tests_alone(self):
        self.breaks({"src/base/a_test_kit.h": header("base/a_test_kit.h"),
                     "src/net/b.cc": '#include "base/a_test_kit.h"\n'}, "kit",
                    ("src/base/a_test_kit.h", 1))

    def test_a_header_may_be_named_from_beside_it(self):
        self.breaks({"compat/b/kit.h": header("compat/b/kit.h"),
                     "compat/b/a_test.cc": '#include "kit.h"\n'}, "kit", ("compat/b/kit.h", 1))


class Bans(TidyTest):
    def test_each_ban(self):
        for text in ("std::mutex m;", "std::lock_guard l(m);", "volatile int x;",
                     "std::cout << std::endl;", "int x = rand();", "srand(1);", "strerror(1);",
                     "sprintf(a, b);", "using namespace std;", "throw 1;", "std::regex r;",
                     "assert(x);", "int* p = new int;", "int* p = new Foo(1);"):
            with self.subTest(text):
                self.breaks({"src/base/a.cc": "\n" + text + "\n"}, "ban", ("src/base/a.cc", 2))

    def test_what_looks_alike_passes(self):
        self.keeps({"src/base/a.cc": 'asm volatile("");\nint operand(int);\nint i = operand(1);\n'
                    "std::snprintf(a, 1, b);\nstatic_assert(true);\n// throw, new, volatile\n"
                    'const char* a = "std::mutex new";\n#include <new>\n'
                    "new (place) int;\nusing std::string;\n"
                    "auto p = std::unique_ptr<int>(new int);\n"
                    "\nint* q = new int;  // freed by Close\n"}, "ban")

    def test_some_hold_only_in_the_house(self):
        self.keeps({"tests/a.cc": "throw 1;\nassert(x);\n"}, "ban")

    def test_the_allow_list_excuses_and_must_be_needed(self):
        allow = "ban src/base/a.cc std::mutex  # why\n"
        self.keeps({"src/base/a.cc": "std::mutex m;\n", tidy.ALLOW: allow}, "ban")
        self.breaks({"src/base/a.cc": "\n", tidy.ALLOW: allow}, "allow", (tidy.ALLOW, 1))


class MachineAndScripts(TidyTest):
    def test_paths_of_one_machine(self):
        for folder in ("work", "root", "home"):
            self.breaks({"docs/a.md": f"see /{folder}/x\n"}, "machine", ("docs/a.md", 1))
        text = "a/" "work/x https://a.example/" "home/x $HOME/x ~/" "root/x\n"
        self.keeps({"docs/a.md": text}, "machine")

    def test_scripts_parse(self):
        self.keeps({"tools/a.py": "x = 1\n", "dev": "#!/usr/bin/env bash\necho\n"}, "script")
        self.breaks({"tools/a.py": "x = \n", "dev": "#!/usr/bin/env bash\nif\n"}, "script",
                    ("dev", 3), ("tools/a.py", 1))


class Splitting(unittest.TestCase):
    def test_comments_and_literals(self):
        code, comments = split_cpp("int a = 1'000; // b\nchar c = '\"'; /* d\n */ f(\"// e\");")
        self.assertEqual(code.split("\n")[0].rstrip(), "int a = 1'000;")
        self.assertIn("// b", comments)
        self.assertNotIn("e", comments)
        self.assertIn('f("    ");', code)
        self.assertEqual(len(code), len(comments))


if __name__ == "__main__":
    unittest.main()
