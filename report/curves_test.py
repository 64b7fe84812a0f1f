#!/usr/bin/env python3
"""Tests of what report/report shows of a sweep: from results that are made up here."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import report_test  # noqa: E402
from report_test import Sample  # noqa: E402

if not report_test.WHY_NOT:
    from matplotlib import pyplot
    from reportlib import figures, results, style


class CurveTest(report_test.ReportTest):
    def lines_of(self, rates, repetitions=1, part="curve"):
        """(x, y) of the line that joins the open loops; what the ranges of x reach over. `rates`:
        (asked for, done) of each load, the last of the sweep's `part`."""
        lines = []
        for repetition in range(repetitions):
            for asked, done in rates:
                line = Sample().line("redis", rate=asked, repetition=repetition)
                line["result"]["operations_per_s"] = done * (1 + repetition)
                line["result"]["latency_us"]["all"]["p50"] = done / 1e3 * (1 + repetition)
                line["sweep"] = {"part": "curve" if (asked, done) != rates[-1] else part}
                lines.append(line)
        table = results.read([self.file(lines)])
        with pyplot.rc_context(style.RC):
            look = style.Look(figures.names_of(table))
            axis = figures.latency_curves(table, look, False).axes[0]
            line, = (of for of in axis.lines if of.get_linestyle() == "-")
            across, upright = (sorted(tuple(sorted(points[:, at])) for points in of.get_segments())
                               for at, of in enumerate(axis.collections))
            pyplot.close("all")
        return list(line.get_xdata()), list(line.get_ydata()), across, upright

    def test_a_line_goes_by_what_was_asked_for(self):
        x, *_ = self.lines_of([(1e5, 1e5), (3e5, 1.5e5), (2e5, 2e5)])
        self.assertEqual([1e5, 2e5, 1.5e5], x)

    def test_repetitions_of_a_rate_are_one_point_with_its_range(self):
        x, y, across, upright = self.lines_of([(4e5, 1e5), (8e5, 2e5)], 3)
        self.assertEqual(([2e5, 4e5], [200, 400]), (x, y))
        self.assertEqual([(1e5, 3e5), (2e5, 6e5)], across)
        self.assertEqual([(100, 300), (200, 600)], upright)

    def test_what_a_search_tried_is_no_part_of_the_line(self):
        for part in ("search", "highest"):
            x, *_ = self.lines_of([(1e5, 1e5), (2e5, 2e5), (1.5e5, 1.5e5)], part=part)
            self.assertEqual([1e5, 2e5], x)

    def test_rates_that_read_alike_are_points_of_their_own(self):
        x, *_ = self.lines_of([(123_100, 1e5), (123_400, 2e5)])
        self.assertEqual([1e5, 2e5], x)


if __name__ == "__main__":
    unittest.main()
