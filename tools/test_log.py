"""What a test run's log and report say of its cases: for tools/test, which shows failures first.

Somebody who reads a failed run, maybe cut short, wants the failed cases and why they failed; in a
log they lie among hundreds that passed.
"""

import json
import re

RUN = re.compile(r"^\s*(?:\d+: )?\[ RUN      \] (\S+)$")
FAILED = re.compile(r"^\s*(?:\d+: )?\[  FAILED  \] ([^\s,]+)(?:, where .*)? \(\d+ ms\)$")
INTEGRATION_FAIL = re.compile(r"^FAIL (\S+) \(\d+\.\d s\)$")
INTEGRATION_NEXT = re.compile(r"^(?:PASS|SKIP|FAIL|note:) |^\d+ passed, \d+ failed")


def cases(report):
    """Counts (passed, failed, skipped) of one GoogleTest report, and the names that failed."""
    passed = skipped = 0
    failed = []
    for suite in json.loads(report.read_text()).get("testsuites", []):
        for case in suite["testsuite"]:
            if case.get("failures"):
                failed.append(f"{suite['name']}.{case['name']}")
            elif case["result"] == "COMPLETED":
                passed += 1
            else:
                skipped += 1
    return passed, failed, skipped


def failed_cases(text):
    """(name, lines) of each case that failed, in the log's order: what a GoogleTest program wrote
    from the case's beginning to its end, or tests/integration/run.py from FAIL to the next test.
    A case that never ended (its program crashed) is none of them."""
    found = []
    begun = {}
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if match := RUN.match(line):
            begun[match.group(1)] = at
        elif (match := FAILED.match(line)) and match.group(1) in begun:
            found.append((match.group(1), lines[begun.pop(match.group(1)):at + 1]))
        elif match := INTEGRATION_FAIL.match(line):
            end = at + 1
            while end < len(lines) and not INTEGRATION_NEXT.match(lines[end]):
                end += 1
            found.append((match.group(1), lines[at:end]))
    return found


def worth_showing(text, lines_max):
    """At most `lines_max` lines: of the failed cases, then the log's end, where another program's
    crash or a sanitizer's report may be; without failed cases the end alone. What is left out of a
    long case is its middle."""
    cases = failed_cases(text)
    end = text.rstrip("\n").split("\n")
    if not cases:
        return end[-lines_max:]
    of_cases = lines_max * 3 // 4
    each = max(8, of_cases // len(cases))
    shown = []
    for _, lines in cases[:max(1, of_cases // 8)]:
        if len(lines) > each:
            begin = each // 4  # why it failed is said last
            left_out = f"... {len(lines) - each + 1} lines ..."
            lines = [*lines[:begin], left_out, *lines[len(lines) - (each - 1 - begin):]]
        shown += lines
    return [*shown, "...", *end[len(shown) + 1 - lines_max:]]
