"""Rules that look at one line at a time: form, bans, vendor macros, machine paths, scripts."""

import re
import subprocess

import test_threads
from tidylib.tree import Finding, matches_by_line

LINE_COLUMNS_MAX = 100

# Words that mark unfinished work; spelt apart so that this file does not hold them.
LEFTOVER = re.compile(r"\b(" + "|".join(("FIX" "ME", "TO" "DO", "X" "XX", "HA" "CK")) + r")\b")

# What only the compiler in use defines. These turn it into our own words: the first for the tasks,
# which OpenCL C reads too, the second for what stands below them.
VENDOR_HOMES = ("src/task/portable.h", "src/base/host_device.h")
VENDOR = re.compile(
    r"\b(__CUDACC__|__CUDA_ARCH__|__NVCC__|__CUDA\w*__|__OPENCL\w*|__HIP\w*|__SYCL\w*"
    r"|__SANITIZE_\w+|__has_feature|__AVX\w*|__SSE\w*|__BMI\w*|__PCLMUL\w*|__ARM_\w+"
    r"|__x86_64__|__aarch64__|__amd64__|__clang__|__GNUC__|_MSC_VER)(?!\w)")

# (what, where it is banned, what to use instead). `where` is matched from the path's start.
OURS = ("src/", "include/", "compat/", "bench/", "tests/", "fuzz/", "sim/")
BANS = (
    (r"std::(?:recursive_|shared_|timed_)?mutex\b|std::(?:lock_guard|unique_lock|scoped_lock"
     r"|shared_lock|condition_variable)\b", OURS,
     "use base::Mutex, MutexLock and CondVar (base/mutex.h): clang checks them"),
    (r"(?<!asm )(?<!asm__ )\bvolatile\b", OURS, "use std::atomic or base::AtomicRef"),
    (r"std::endl\b", OURS, r"use '\n': endl also flushes"),
    (r"\bs?rand\s*\(", OURS, "use a std::mt19937_64 with a printed seed"),
    (r"\bstrerror(?:_r)?\s*\(", OURS, "use Status::FromErrno: strerror is not thread-safe"),
    (r"\bv?sprintf\s*\(", OURS, "use fmt::format_to_n or std::snprintf: sprintf knows no bound"),
    (r"\busing\s+namespace\b", OURS, "name what you use: using a::b;"),
    (r"\bthrow\b", ("src/", "include/"), "return a Status (weft/status.h)"),
    (r"std::w?(?:regex|smatch|cmatch)\b", OURS, "parse by hand: std::regex is slow and recursive"),
    (r"(?<!static_)\bassert\s*\(", ("src/", "include/"),
     "use WEFT_CHECK or WEFT_DCHECK (base/check.h)"),
    (r"\b(?:dynamic_cast|typeid)\b", ("src/", "include/"), "there is no RTTI: use an enum"),
)

# Folders that exist on one machine only.
MACHINE = re.compile(r"(?<![\w.~$})/-])/(?:work|root|home)/[\w.]")


def check_form(tree):
    for file in tree.having("is_code"):
        for number, line in enumerate(file.lines, 1):
            if len(line) > LINE_COLUMNS_MAX:
                yield Finding(file.path, number, "form", f"{len(line)} columns, the limit is"
                              f" {LINE_COLUMNS_MAX}")
            if "\t" in line:
                yield Finding(file.path, number, "form", "a tab: indent with spaces")
            if line != line.rstrip():
                yield Finding(file.path, number, "form", "spaces at the end of the line")
        if file.text and not file.text.endswith("\n"):
            yield Finding(file.path, len(file.lines), "form", "no line break at the end")


def check_leftovers(tree):
    for file in tree.files:
        if file.is_code or file.is_markdown:
            for line, match in matches_by_line(LEFTOVER, file.text):
                yield Finding(file.path, line, "leftover", f"{match.group()}: do it, or say in the"
                              " contract what is not done")


def check_headers(tree):
    for file in tree.having("is_header"):
        if "#pragma once" not in file.text:
            yield Finding(file.path, 1, "header", "lacks #pragma once")
        name = re.sub(r"^(src|include)/", "", file.path)
        if not re.match(r"// " + re.escape(name) + r":\s", file.text):
            yield Finding(file.path, 1, "header", f'starts with its contract: "// {name}: ..."')


def check_vendor(tree):
    for file in tree.having("is_cpp"):
        if file.path in VENDOR_HOMES:
            continue
        for line, match in matches_by_line(VENDOR, file.code):
            yield Finding(file.path, line, "vendor",
                          f"{match.group(1)}: only {' and '.join(VENDOR_HOMES)} know the"
                          " compilers")


def check_threads(tree):
    for file in tree.having("is_cpp"):
        if file.path.endswith("_test.cc") and test_threads.ONE_THREAD.match(file.text):
            for line, match in matches_by_line(test_threads.THREADS, file.code):
                yield Finding(file.path, line, "threads",
                              f"{match.group(0)}: it says that it has one thread")
    yield from shared_suites(tree)


def shared_suites(tree):
    """A suite with a case in another file runs there too: the mark would do nothing."""
    files = [file for file in tree.having("is_cpp") if file.path.endswith("_test.cc")]
    others = {suite: file.path for file in files if not test_threads.ONE_THREAD.match(file.text)
              for suite in test_threads.SUITE.findall(file.text)}
    for file in files:
        if test_threads.ONE_THREAD.match(file.text):
            for line, match in matches_by_line(test_threads.SUITE, file.text):
                if match.group(1) in others:
                    yield Finding(file.path, line, "threads",
                                  f"{match.group(1)} has cases in {others[match.group(1)]} too, "
                                  "which does not say that it has one thread")


MAIN = re.compile(r"^int main\(.*\) \{\n(.*)\n(.*)", re.M)


def check_programs(tree):
    """Whatever opens a file before StartProgram may get the number of a closed stream."""
    for file in tree.having("is_cpp"):
        if not file.path.endswith("main.cc"):
            continue
        found = list(matches_by_line(MAIN, file.code))
        if not found:
            yield Finding(file.path, 1, "program", "has no main that this rule can read")
        for line, match in found:
            first, last = match.groups()
            if "base::StartProgram(" not in first or "return weft::base::EndProgram(" not in last:
                yield Finding(file.path, line, "program",
                              "main is StartProgram(NAME) and return EndProgram(...)")


def check_bans(tree):
    for pattern, where, instead in BANS:
        compiled = re.compile(pattern)
        for file in tree.having("is_cpp"):
            if file.path.startswith(where):
                for line, match in matches_by_line(compiled, file.code):
                    yield Finding(file.path, line, "ban",
                                  f"{match.group().strip(' (')}: {instead}")


NEW = re.compile(r"(?<!operator )\bnew\b(?!\s*\()")


def check_new(tree):
    """A raw new needs a unique_ptr around it, or a comment that says who frees."""
    for file in tree.having("is_cpp"):
        if not file.path.startswith(OURS):
            continue
        code, comments = file.code.split("\n"), file.comments.split("\n")
        for line, match in matches_by_line(NEW, file.code):
            # `#include <new>` and operators are no allocations.
            before = " ".join(code[max(0, line - 2):line])
            if re.match(r"\s*#", code[line - 1]) or re.search(r"unique_ptr\s*<", before):
                continue
            if not any(text.strip() for text in comments[max(0, line - 2):line]):
                yield Finding(file.path, line, "ban", "raw new: use std::make_unique (or"
                              " its _for_overwrite form), or say beside it who frees it")


def check_machine(tree):
    for file in tree.files:
        for line, match in matches_by_line(MACHINE, file.text):
            yield Finding(file.path, line, "machine", f"{match.group()}...: a path of one machine")


def check_scripts(tree):
    for file in tree.having("is_python"):
        try:
            compile(file.text, file.path, "exec")
        except SyntaxError as error:
            yield Finding(file.path, error.lineno or 1, "script", f"does not compile: {error.msg}")
    for file in tree.having("is_shell"):
        if "bash" not in file.lines[0]:
            continue
        result = subprocess.run(["bash", "-n"], input=file.text, text=True, capture_output=True)
        if result.returncode:
            number = re.search(r"line (\d+)", result.stderr)
            yield Finding(file.path, int(number.group(1)) if number else 1, "script",
                          result.stderr.strip().split("\n")[0])


def check(tree):
    for rule in (check_form, check_leftovers, check_headers, check_vendor, check_threads,
                 check_programs, check_bans, check_new, check_machine, check_scripts):
        yield from rule(tree)
