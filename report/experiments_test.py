#!/usr/bin/env python3
"""Tests of the figures of paper 002's experiments: from results that are made up here."""

import copy
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import report_test  # noqa: E402
from report_test import NO_PERF, NO_RAPL, Sample, with_energy  # noqa: E402

if not report_test.WHY_NOT:
    from matplotlib import pyplot
    from reportlib import experiments, figures, page, results, style

STORES = (("rocksdb", 0.3), ("leveldb", 0.25))


def reading(value):
    return {"value": value, "unit": "1", "source": "perf"}


def noted(line, setting="", **note):
    line = copy.deepcopy(line) | note
    if setting:
        line["setting"] = setting
    return line


def runs_of(experiment, workloads, repetitions=2, **more):
    sample = Sample()
    return [sample.line(target, workload, repetition, speed=speed, experiment=experiment, **more)
            for target, speed in STORES for workload in workloads
            for repetition in range(repetitions)]


def efficiency(counters=True, busy=0.9):
    lines = []
    for part, depth in (("one", 1), ("all", 2)):
        for line in runs_of("efficiency", ("ycsb-load", "ycsb-a", "ycsb-e"), depth=depth):
            names = ("ipc_per_core", "branch_miss_ratio", "cache_miss_ratio")
            ratios = {name: reading(value) if counters else {"unavailable": NO_PERF}
                      for name, value in zip(names, (1.2, 0.012, 0.05))}
            lines.append(noted(line, efficiency=ratios | {
                "threads": part, "threads_on_a_core": 1, "busy": busy}))
    return lines


def bandwidth(counters=True):
    lines = []
    for share in (1, 0.5, 0):
        for line in runs_of("bandwidth", ("ycsb-load", "ycsb-c")):
            line["result"]["operations_per_s"] *= 1 - share / 2
            hog = 40e9 * share
            lines.append(noted(
                line, f"hog at {100 * share:g} %" if share else "no hog", bandwidth={
                    "hog_share": share, "hog_threads": 4, "machine_bytes_per_s": 60e9,
                    "hog_bytes_per_s": hog, "left_bytes_per_s": 60e9 - hog,
                    "ipc": reading(1.5 - share) if counters else {"unavailable": NO_PERF}}))
    return lines


def oversubscription():
    lines = []
    for each in (1, 2, 4, 8):
        for line in runs_of("oversubscription", ("ycsb-load", "ycsb-c")):
            line["load"]["threads"] = line["load"]["sessions"] = 2 * each
            lines.append(noted(line, oversubscription={"threads_per_hardware_thread": each}))
    return lines


def block_cache():
    return [noted(line, f"block cache of {100 * fraction:g} % of the data",
                  block_cache={"fraction": fraction, "bytes": int(fraction * 1e9)})
            for fraction in (0, 0.1, 0.2, 0.4)
            for line in runs_of("block-cache", ("ycsb-load", "ycsb-c"))]


class ExperimentTest(report_test.ReportTest):
    def table(self, lines):
        return results.read([self.file(lines)])

    def plots(self, lines):
        table = self.table(lines)
        return experiments.plots(table, style.Look(figures.names_of(table)))

    def test_each_experiment_has_its_figures(self):
        lines = [with_energy(line, 150) for line in efficiency()]
        lines += bandwidth() + oversubscription() + block_cache()
        text = self.report(self.file(lines), painted=True)
        for part in ("one-thread", "all-hardware-threads"):
            for name in ("operations-per-joule", "throughput", "ipc", "branch-misses",
                         "cache-misses"):
                figure = self.figure(text, f"efficiency-{name}-{part}")
                self.assertIn("weft-bench efficiency --target rocksdb", figure)
        self.assertNotIn('id="efficiency-throughput"', text)
        for name in ("bandwidth-bandwidth-throughput", "bandwidth-bandwidth-ipc",
                     "oversubscription-latency-threads", "block-cache-latency-block-cache"):
            self.figure(text, name)
        self.assertIn("60.0 GB/s on 2x-sample-cpu", text)
        self.assertIn("The CPUs were 90 % busy or more", text)
        self.assertNotIn("-latency-throughput", text)

    def test_what_is_unavailable_is_told_and_not_drawn(self):
        text = self.report(self.file(efficiency(counters=False) + bandwidth(counters=False)))
        for name in ("efficiency-ipc", "efficiency-branch", "efficiency-operations-per-joule",
                     "bandwidth-bandwidth-ipc"):
            self.assertNotIn(f'id="{name}', text)
        self.assertIn("Operations per joule, one thread: unavailable (energy_j: "
                      + page.escape(NO_RAPL), text)
        self.assertIn(f"instructions: {page.escape(NO_PERF)}", text)
        self.figure(text, "bandwidth-bandwidth-throughput")

    def test_other_experiments_have_none_of_them(self):
        self.assertEqual([], self.plots(Sample().quick(workloads=("ycsb-a",))))

    def test_modelled_energy_is_marked(self):
        lines = [with_energy(line, 150, "idle and busy watts", modelled=True)
                 for line in efficiency()]
        text = self.report(self.file(lines))
        figure = self.figure(text, "efficiency-operations-per-joule-all-hardware-threads")
        self.assertIn("* Modelled, not measured", figure)

    def test_settings_are_loads_of_their_own(self):
        table = self.table(bandwidth())
        self.assertEqual(3, table["load"].nunique())
        self.assertIn("hog at 50 %", " ".join(table["load"]))
        best = results.peak(table)
        self.assertTrue(all("no hog" in load for load in best["load"]))
        self.assertEqual({2}, set(results.medians(best, ["workload", "series"])["repetitions"]))

    def test_numbers_by_hand(self):
        table = self.table([with_energy(line, 250) for line in efficiency()])
        row = table.iloc[0]
        self.assertAlmostEqual(row["run"]["result"]["operations"] / 250, row["ops_per_j"])
        self.assertEqual((1.2, 1.2, 5.0, 90.0), tuple(row[[
            "ipc", "branch_misses", "cache_misses", "busy"]]))
        row = self.table(bandwidth()).iloc[0]
        self.assertEqual((20.0, 60.0, 0.5), tuple(row[["left_gb", "machine_gb", "ipc"]]))

    def test_no_text_overlaps_or_is_clipped_and_every_axis_has_a_name(self):
        lines = [with_energy(line, 150) for line in efficiency()]
        drawn = 0
        for of in (lines, bandwidth(), oversubscription(), block_cache(), block_cache()[:2]):
            for plot in self.plots(of):
                for narrow in (False, True):
                    with pyplot.rc_context(style.RC):
                        figure = plot.draw(narrow)
                        self.assertEqual([], style.clashes(figure), (plot.name, narrow))
                        self.assertTrue(figure.axes[-1].get_xlabel(), plot.name)
                        if not plot.name.endswith(("thread", "threads")):
                            self.assertTrue(all(axis.get_ylabel() for axis in figure.axes))
                        pyplot.close(figure)
                    drawn += 1
        self.assertGreaterEqual(drawn, 28)

    def test_the_page_holds_together_wide_and_narrow(self):
        layout = report_test.check_layout()
        browser = layout.chromium()
        if browser is None:
            self.skipTest("no Chromium here (Debian's package is chromium)")
        lines = efficiency() + bandwidth() + oversubscription() + block_cache()
        self.report(self.file(lines), painted=True)
        for width in layout.WIDTHS:
            self.assertEqual([], layout.check(browser, self.out / "report.html", width))


if __name__ == "__main__":
    unittest.main()
