#!/usr/bin/env python3
"""The self-test of tools/test_log.py."""

import unittest

import test_log

GOOGLE_TEST = """\
[ RUN      ] Cache.Passes
[       OK ] Cache.Passes (1 ms)
[ RUN      ] Cache.Fails
/a/b_test.cc:83: Failure
Expected: (a) > (0u), actual: 0 vs 0
[  FAILED  ] Cache.Fails (868 ms)
[ RUN      ] All/Sizes.Fit/2
/a/c_test.cc:9: Failure
[  FAILED  ] All/Sizes.Fit/2, where GetParam() = (64, "x") (0 ms)
[==========] 3 tests from 2 test suites ran. (2 ms total)
[  FAILED  ] 2 tests, listed below:
[  FAILED  ] Cache.Fails
[  FAILED  ] All/Sizes.Fit/2, where GetParam() = (64, "x")
"""
INTEGRATION = """\
server under test: weft
PASS plan_test.test_one (0.2 s): 3 replies
FAIL plan_test.test_two (20.4 s)
Traceback (most recent call last):
  File "harness.py", line 296, in run_tests
harness.Failure: not within 20 s: replies

note: --net=io_uring does not start here
SKIP server_test.test_three: needs root
1 passed, 1 failed, 1 skipped
"""


class TestLog(unittest.TestCase):
    def test_failed_cases_of_google_test(self):
        cases = test_log.failed_cases(GOOGLE_TEST)
        self.assertEqual([name for name, _ in cases], ["Cache.Fails", "All/Sizes.Fit/2"])
        self.assertEqual(len(cases[0][1]), 4)
        self.assertIn("actual: 0 vs 0", cases[0][1][2])

    def test_failed_cases_beside_others_of_ctest(self):
        text = "".join(f"11: {line}\n" for line in GOOGLE_TEST.split("\n")[:6])
        self.assertEqual([name for name, _ in test_log.failed_cases(text)], ["Cache.Fails"])

    def test_failed_cases_of_the_integration_tests(self):
        ((name, lines),) = test_log.failed_cases(INTEGRATION)
        self.assertEqual(name, "plan_test.test_two")
        self.assertEqual(lines[0], "FAIL plan_test.test_two (20.4 s)")
        self.assertEqual(lines[-2], "harness.Failure: not within 20 s: replies")

    def test_without_a_failed_case_the_end_is_shown(self):
        text = "\n".join(str(i) for i in range(100))
        self.assertEqual(test_log.worth_showing(text, 3), ["97", "98", "99"])

    def test_long_cases_lose_their_middle(self):
        body = "\n".join(f"line {i}" for i in range(500))
        text = f"[ RUN      ] A.B\n{body}\n[  FAILED  ] A.B (1 ms)\n" + "after\n" * 200
        shown = test_log.worth_showing(text, 20)
        self.assertEqual(len(shown), 20)
        self.assertEqual(shown[0], "[ RUN      ] A.B")
        self.assertEqual(shown[3], "... 488 lines ...")
        self.assertEqual(shown[13:], ["line 499", "[  FAILED  ] A.B (1 ms)", "...", *["after"] * 4])

    def test_many_cases_share_the_room(self):
        text = "".join(f"[ RUN      ] A.B{i}\nbad\n[  FAILED  ] A.B{i} (1 ms)\n" for i in range(99))
        shown = test_log.worth_showing(text, 80)
        self.assertEqual(len(shown), 80)
        self.assertEqual(shown[0], "[ RUN      ] A.B0")
        self.assertEqual(shown[20], "[  FAILED  ] A.B6 (1 ms)")

    def test_another_programs_crash_is_shown_too(self):
        text = GOOGLE_TEST + "other lines\n" * 100 + "ERROR: AddressSanitizer: SEGV\n"
        shown = test_log.worth_showing(text, 40)
        self.assertIn("Expected: (a) > (0u), actual: 0 vs 0", shown)
        self.assertEqual(shown[-1], "ERROR: AddressSanitizer: SEGV")


if __name__ == "__main__":
    unittest.main()
