#!/usr/bin/env python3
"""Tests of what report/report reads and works out: from results that are made up here."""

import contextlib
import io
import math
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import report_test  # noqa: E402
from report_test import NO_RAPL, Sample, with_energy  # noqa: E402

if not report_test.WHY_NOT:
    from matplotlib import pyplot
    from reportlib import ahead, cost, figures, main, page, results, style


class ErrorTest(report_test.ReportTest):
    def test_a_broken_line_is_named(self):
        good = Sample().line()
        path = self.file([good, "", '{"format": "weft-bench run", '])
        self.assertIn(f"{path}:3: not valid JSON", self.error(path))
        self.assertFalse((self.out / "report.html").exists())

    def test_what_is_no_result_is_named(self):
        line = Sample().line()
        line["version"] = 2
        self.assertIn(":1: it has version 2", self.error(self.file([line])))
        self.assertIn(':1: not a result: "format"', self.error(self.file(["[]"])))
        for path in ("result.operations_per_s", "target.name", "result.latency_us.all"):
            line = Sample().line()
            at = line
            for name in path.split(".")[:-1]:
                at = at[name]
            del at[path.rsplit(".", maxsplit=1)[-1]]
            self.assertIn(f":1: {path} is missing", self.error(self.file([line])))
        line = Sample().line()
        line["result"]["operations_per_s"] = "fast"
        self.assertIn(":1: result.operations_per_s is not a number",
                      self.error(self.file([line])))
        line = Sample().line()
        line["meters"]["cycles"] = {}
        self.assertIn(":1: meters.cycles has neither", self.error(self.file([line])))

    def test_what_is_of_another_kind_is_named(self):
        for path, value, why in (
                ("meters", [1], "meters is not an object"),
                ("workload.operations", "all", "workload.operations is not an object"),
                ("target.settings", ["a"], "target.settings is not an object"),
                ("target.title", 7, "target.title is not a text"),
                ("load.rate_per_s", "fast", "load.rate_per_s is not a number"),
                ("result.slices", [{"at_s": 1}], "result.slices has an element without"),
                ("result.percentiles_us", [[50]],
                 "result.percentiles_us has an element that is not a pair"),
                ("meters.energy_j", {"value": "much"}, "meters.energy_j has neither")):
            line = Sample().line()
            at = line
            for name in path.split(".")[:-1]:
                at = at[name]
            at[path.rsplit(".", maxsplit=1)[-1]] = value
            self.assertIn(":1: " + why, self.error(self.file([line])))

    def test_files_that_are_empty_or_missing(self):
        self.assertIn("results.jsonl: has no results", self.error(self.file([])))
        self.assertIn("/no/such/file", self.error("/no/such/file"))

    def test_bad_servers(self):
        path = self.file([Sample().line()])
        for bad in ("2x-sample-cpu", "2x-sample-cpu=1", "2x-sample-cpu=a,b", "2x-sample-cpu=9,1"):
            self.assertIn("--server " + bad, self.error(path, "--server", bad))
        self.assertIn("the machines are: 2x-sample-cpu", self.error(path, "--server", "other=1,2"))
        one = ("--server", "2x-sample-cpu=1,2")
        self.assertIn("--server 2x-sample-cpu: given twice", self.error(path, *one, *one))

    def test_an_option_without_effect_is_refused(self):
        server = ("--server", "2x-sample-cpu=40,120")
        without = self.file([Sample().line()], "without.jsonl")
        self.assertIn("--price-max: the power is unknown",
                      self.error(without, "--price-max", "2000"))
        pages = [self.figure(self.report(without, *server, *more, painted=True), "quick-cost")
                 for more in ((), ("--price-max", "6000"), ("--price-max", "2000"))]
        self.assertEqual(pages[0], pages[1])
        self.assertNotEqual(pages[0], pages[2])
        metered = self.file([with_energy(Sample().line(), 500)], "metered.jsonl")
        self.figure(self.report(metered, "--price-max", "2000"), "quick-cost")
        self.assertIn("--server 2x-sample-cpu: its runs already have a power (rapl package-0)",
                      self.error(metered, *server))
        idle = Sample().line()
        idle["meters"]["cpu_s"] = {"unavailable": "no /proc here"}
        self.assertIn("--server 2x-sample-cpu: no run there says how busy the CPUs were",
                      self.error(self.file([idle], "idle.jsonl"), *server))

    def refused(self, program, *arguments):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as stop:
            program(list(arguments))
        self.assertEqual(2, stop.exception.code)
        return errors.getvalue()

    def test_a_second_value_is_refused_for_the_first_would_be_ignored(self):
        path = self.file([with_energy(Sample().line(), 500)])
        for name, values in (("--out", "ab"), ("--title", "ab"), ("--price-max", "12"),
                             ("--target-throughput", "12")):
            twice = [part for value in values for part in (name, value)]
            out = () if name == "--out" else ("--out", str(self.out))
            self.assertIn(f"{name}: given twice", self.refused(main.main, path, *out, *twice))
        self.assertFalse(self.out.exists())

    def test_an_option_of_compare_is_not_taken_for_another(self):
        path = self.file([with_energy(Sample().line(), 500)])
        self.assertIn("unrecognized arguments: --price",
                      self.refused(main.main, path, "--out", str(self.out), "--price", "500"))

    def test_the_layout_of_no_page_or_no_width_is_not_skipped(self):
        layout = report_test.check_layout()
        self.assertIn("no such file", self.refused(layout.main, "/no/such/page.html"))
        self.assertIn("--width must be above 0",
                      self.refused(layout.main, self.file([]), "--width", "0"))

    def test_a_model_leaves_alone_what_was_metered(self):
        lines = [with_energy(Sample().line("redis"), 500), Sample().line("memcached")]
        table = results.read([self.file(lines)])
        told = cost.with_power(table, {"2x-sample-cpu": (40, 120)})
        self.assertEqual([100, False], list(told.iloc[0][["power_w", "power_modelled"]]))
        self.assertTrue(40 < told["power_w"][1] < 120 and told["power_modelled"][1])


class NumberTest(report_test.ReportTest):
    def table(self, lines):
        return results.read([self.file(lines)])

    def test_medians_and_ranges(self):
        lines = []
        for repetition, per_s in enumerate((100.0, 120.0, 90.0)):
            line = Sample().line(repetition=repetition)
            line["result"]["operations_per_s"] = per_s
            lines.append(line)
        row = results.medians(self.table(lines), ["workload", "series"]).iloc[0]
        self.assertEqual((100, 90, 120, 3), (row["throughput_median"], row["throughput_min"],
                                             row["throughput_max"], row["repetitions"]))

    def test_energy_adds_the_gpu_to_the_processors_counter_only(self):
        line = with_energy(Sample().line(), 100)
        line["meters"]["gpu_energy_j"] = {"value": 300, "unit": "J", "source": "nvml 0"}
        self.assertEqual(400, results.energy_of(line["meters"], 5)[0])
        line["meters"]["energy_j"]["source"] = "rapl package-0 + nvml gpu 0"  # both already
        self.assertEqual(100, results.energy_of(line["meters"], 5)[0])
        line["meters"]["energy_j"]["source"] = "rapl package-0"
        line["meters"]["energy_j"]["source"] = "meter at the socket"
        self.assertEqual(100, results.energy_of(line["meters"], 5)[0])
        line["meters"]["energy_j"] = {"unavailable": NO_RAPL}
        self.assertTrue(math.isnan(results.energy_of(line["meters"], 5)[0]))
        line["meters"]["power_w_mean"] = {"value": 50, "source": "csv"}
        self.assertEqual((250, "csv"), results.energy_of(line["meters"], 5))

    def test_the_best_load_is_a_closed_one(self):
        sample = Sample()
        lines = [sample.line(depth=depth) for depth in (8, 32)] + [sample.line(rate=5e6)]
        best = results.peak(self.table(lines))
        self.assertEqual(["closed loop, 2 threads, 8 sessions, depth 32"], list(best["load"]))
        self.assertEqual([2], list(best["loads"]))

    def test_what_was_not_measured_is_not_0(self):
        line = with_energy(Sample().line(), 0)
        line["meters"]["cpu_s"]["value"] = 0.0  # it counts steps of 10 ms
        row = self.table([line]).iloc[0]
        for name in ("cpu_us", "energy_uj", "power_w", "utilization", "idle_w"):
            self.assertTrue(math.isnan(row[name]), name)
        text = self.report(self.file([line]))
        for name in ("CPU (µs/op)", "energy (µJ/op)", "CPUs used (%)", "watts"):
            self.assertIn(f'data-head="{name}"><span><span class="none">–</span>', text)
        self.assertNotRegex(text, r"<td[^>]*><span>0</span>")
        self.assertIn("CPU time per operation: unavailable (cpu_s: it counted nothing).", text)
        self.assertNotIn("unavailable ()", text)
        row = self.table([Sample().line("weft-cache")]).iloc[0]
        self.assertTrue(math.isnan(row["client_cpu_us"]))
        self.assertEqual("embedded caches", row["group"])

    def test_a_latency_or_a_ratio_of_0_is_none(self):
        line = Sample().line()
        for name in ("mean", "p50", "p99", "p99_9"):
            line["result"]["latency_us"]["all"][name] = 0.0
        line["efficiency"] = {"threads": "one", "busy": 0.0, "ipc_per_core": {"value": 0.0}}
        row = self.table([line]).iloc[0]
        for name in ("mean", "p50", "p99", "p99_9", "busy", "ipc"):
            self.assertTrue(math.isnan(row[name]), name)
        self.assertNotRegex(self.report(self.file([line])), r"<td[^>]*><span>0</span>")

    def with_empty_slice(self, at, repetition=0, **latencies):
        line = Sample().line(repetition=repetition)
        line["result"]["slices"][at] |= {"operations": 0} | latencies
        return line

    def test_a_slice_without_operations_is_a_gap(self):
        for none in (0.0, None):
            line = self.with_empty_slice(2, p50_us=none, p99_us=none, max_us=none)
            table = self.table([line])
            with pyplot.rc_context(style.RC):
                look = style.Look(figures.names_of(table))
                figure = figures.time_series(table, look, False)
                rates, latencies = (axis.lines[0].get_ydata() for axis in figure.axes)
                pyplot.close(figure)
            self.assertEqual([2], [at for at, us in enumerate(latencies) if math.isnan(us)])
            self.assertEqual([2], [at for at, rate in enumerate(rates) if rate == 0])

    def test_a_shade_is_of_the_repetitions_that_have_it(self):
        for order in ((0, 1), (1, 0)):
            ys = [[1.0, math.nan, 3.0], [2.0, 5.0, math.nan]]
            with pyplot.rc_context(style.RC):
                figure, (axis,) = style.grid(1, 1, True, 2)
                figures.shade(axis, [0, 1, 2], [ys[at] for at in order], "black")
                corners = axis.collections[0].get_paths()[0].vertices.tolist()
                pyplot.close(figure)
            for corner in ([0, 1], [0, 2], [1, 5], [2, 3]):
                self.assertIn(corner, corners, order)

    def test_the_same_line_twice_is_one_run(self):
        line = Sample().line()
        path = self.file([line, line])
        self.assertEqual(1, len(results.read([path, path])))

    def test_who_is_ahead(self):
        def told(*per_s, saturated=False):
            lines = []
            for target, rates in zip(("redis", "memcached", "valkey"), per_s):
                for repetition, rate in enumerate(rates):
                    line = Sample().line(target, repetition=repetition)
                    line["result"]["operations_per_s"] = rate
                    line["result"]["client"]["saturated"] = saturated
                    lines.append(line)
            of = ahead.verdicts(self.table(lines))[("quick", "ycsb-a")]["operations a second"]
            return of.series, of.single, of.why
        self.assertEqual(("Redis 7.0.15", False, ""), told((30, 33), (20, 29)))
        self.assertEqual(("", False, "too close to tell"), told((30, 33), (20, 31)))
        self.assertEqual(("", False, "too close to tell"), told((30, 33), (20, 21), (3, 31)))
        self.assertEqual(("memcached 1.6.18", True, ""), told((30,), (31,)))
        self.assertEqual("the client was the limit", told((30,), (31,), saturated=True)[2])
        self.assertEqual("only one store has it", told((30, 31))[2])

    def joules_of(self, *modelled):
        """Lines of stores that are named by (target, workload, is its energy modelled)."""
        speeds = {"redis": 0.6, "memcached": 1.0, "valkey": 0.3}
        return [with_energy(Sample().line(target, workload, speed=speeds[target]), 150,
                            "idle and busy watts" if is_so else "rapl", is_so)
                for target, workload, is_so in modelled]

    def told_of(self, lines):
        """The sentence about joules, and the cells of the table of who is ahead."""
        text = self.report(self.file(lines))
        sentence, = re.findall(r"Most operations a joule.*?(?=: )", text)
        return sentence, re.findall(r'data-head="operations a joule"><span>(.*?)</span></td>', text)

    def test_who_is_ahead_by_modelled_joules_is_marked(self):
        mark = ' <span class="mark">modelled</span>'
        sentence, cells = self.told_of(self.joules_of(("redis", "ycsb-a", True),
                                                      ("memcached", "ycsb-a", True)))
        self.assertEqual("Most operations a joule (modelled)", sentence)
        self.assertRegex(cells[0], f"^memcached.* × Redis 7.0.15{mark}$")
        sentence, cells = self.told_of(self.joules_of(("redis", "ycsb-a", False),
                                                      ("memcached", "ycsb-a", False)))
        self.assertEqual("Most operations a joule", sentence)
        self.assertNotIn("modelled", cells[0])

    def test_whose_joules_are_modelled_is_told_where_not_all_are(self):
        mark = ' <span class="mark">modelled</span>'
        sentence, cells = self.told_of(self.joules_of(
            ("redis", "ycsb-a", True), ("memcached", "ycsb-a", False), ("valkey", "ycsb-a", True),
            ("redis", "ycsb-b", False), ("memcached", "ycsb-b", False),
            ("valkey", "ycsb-b", True)))
        self.assertEqual("Most operations a joule (modelled for Valkey 7.2 and partly Redis "
                         "7.0.15)", sentence)
        self.assertTrue(cells[0].endswith(f"{mark}: Redis 7.0.15, Valkey 7.2"), cells[0])
        self.assertTrue(cells[1].endswith(f"{mark}: Valkey 7.2"), cells[1])

    def test_modelled_joules_that_are_too_close_are_marked(self):
        lines = self.joules_of(("redis", "ycsb-a", True), ("memcached", "ycsb-a", True))
        for line in lines:
            line["result"]["operations"] = 1000
        _, cells = self.told_of(lines)
        self.assertIn("too close to tell", cells[0])
        self.assertIn("modelled", cells[0])

    def test_of_many_stores_modelled_ones_are_counted(self):
        names = tuple(str(at) for at in range(12))
        one = ahead.Verdict(compared=names, modelled=names[:9])
        self.assertEqual(" (modelled for 9 of 12 stores)", ahead.modelled_text([one]))

    def test_servers_and_energy_as_the_papers_table(self):
        # Paper 002: S4's servers for 100 M operations a second, and their energy at $0.07.
        line = with_energy(Sample().line(), 5 * 236)  # watts, of 5 s
        line["result"]["operations_per_s"] = 100e6 / 87
        table = cost.with_power(self.table([line]), {})
        row, = cost.servers_table(table, 100e6)
        self.assertEqual((87, 236.0), (row["servers"], row["power_w"]))
        self.assertAlmostEqual(87 * 0.236 * 0.07, row["dollars_per_h"][0])
        self.assertEqual(1, row["over_least"])
        self.assertTrue(math.isnan(row["idle_w"]))

    def uneven(self):
        """Two stores with the same watts, of which the first does more by its median, 110 a second,
        but has the dearer median of its runs' own energies: 100 W / 20 and / 200 against / 100."""
        lines = []
        for target, rates in (("redis", (20.0, 200.0)), ("memcached", (100.0, 100.0))):
            for repetition, per_s in enumerate(rates):
                line = with_energy(Sample().line(target, repetition=repetition), 500)  # of 5 s
                line["result"]["operations_per_s"] = per_s
                line["result"]["operations"] = int(per_s * 5)
                line["meters"]["cpu_s"]["value"] = 5
                line["result"]["client"]["cpu_us_per_operation"] = 1e6 / per_s
                lines.append(line)
        return cost.with_power(self.table(lines), {})

    def test_what_is_spent_an_operation_is_of_the_medians(self):
        redis, memcached = (row for _, row in results.medians(
            self.uneven(), ["workload", "series"]).iterrows())
        self.assertAlmostEqual(1e6 * 100 / 110, redis["energy_uj_median"])
        self.assertAlmostEqual(1e6 / 110, redis["cpu_us_median"])
        self.assertAlmostEqual(1e6 / 110, redis["client_cpu_us_median"])
        self.assertAlmostEqual(110 / 100, redis["ops_per_j_median"])
        self.assertEqual((0.5e6, 5e6), (redis["energy_uj_min"], redis["energy_uj_max"]))
        self.assertLess(redis["energy_uj_median"], memcached["energy_uj_median"])
        self.assertEqual(memcached["cpu_us_min"], memcached["cpu_us_median"])

    def test_a_run_without_a_meter_is_no_part_of_what_is_spent(self):
        lines = [Sample().line(repetition=0), with_energy(Sample().line(repetition=1), 500)]
        lines[0]["result"]["operations_per_s"] *= 9
        table = self.table(lines)
        row, = (row for _, row in results.medians(table, ["workload", "series"]).iterrows())
        self.assertAlmostEqual(table["energy_uj"][1], row["energy_uj_median"])

    def test_table_and_charts_agree_on_uneven_repetitions(self):
        table = self.uneven()
        rows = {row["series"]: row for row in cost.servers_table(table, 1000)}
        self.assertEqual({"Redis 7.0.15": 10, "memcached 1.6.18": 10},
                         {name: row["servers"] for name, row in rows.items()})

        def curve_of(row, dollars_per_kwh, _years):
            servers = cost.servers_needed(1000, row["throughput"])
            dollars = cost.energy_dollars_per_h(servers, row["power_w"], dollars_per_kwh)
            return [(0, dollars), (9, 9)]
        with pyplot.rc_context(style.RC):
            look = style.Look(figures.names_of(table))
            figure = figures.cost_curves(table, look, False, curve_of)
            for axis, price in zip(figure.axes, (0, 1)):
                drawn = [line.get_ydata()[0] for line in axis.lines]
                self.assertEqual([row["dollars_per_h"][price] for row in rows.values()
                                  for _ in cost.LIFETIMES_YEARS], drawn)
            self.assertEqual(2 * 2 * 2, sum(len(axis.lines) for axis in figure.axes))
            pyplot.close(figure)

    def test_an_even_share_of_the_operations_takes_the_harmonic_mean(self):
        lines = []
        for workload, per_s, watts in (("ycsb-a", 500.0, 100), ("ycsb-e", 10.0, 200)):
            line = with_energy(Sample().line("redis", workload), 5 * watts, idle_w=watts / 2)
            line["result"]["operations_per_s"] = per_s
            lines.append(line)
        rows = cost.servers_table(cost.with_power(self.table(lines), {}), 1000)
        self.assertEqual([("ycsb-a", 2), ("ycsb-e", 100), ("", 51)],
                         [(row["workload"], row["servers"]) for row in rows])
        # 500 operations a second by one server of 100 W, 500 by fifty of 200 W.
        self.assertAlmostEqual((100 + 50 * 200) / 51, rows[-1]["power_w"])
        self.assertAlmostEqual((50 + 50 * 100) / 51, rows[-1]["idle_w"])
        self.assertAlmostEqual((0.1 + 50 * 0.2) * 0.07, rows[-1]["dollars_per_h"][0])

    def test_a_limit_has_a_unit_that_fits(self):
        for limit, text in (("p99 <= 10000000 us", "p99 <= 10 s"),
                            ("p99.9 <= 1500 us", "p99.9 <= 1.5 ms"),
                            ("mean <= 80 us", "mean <= 80 µs"), ("max <= 0.25 us", "max <= 250 ns"),
                            ("p50 <= 1e-06 us", "p50 <= 0.001 ns"), ("as it likes", "as it likes")):
            self.assertEqual(text, results.limit_text(limit))

    def test_short(self):
        for value, text in ((0, "0"), (1.234e6, "1.23 M"), (45_600, "45.6 k"), (999.9, "1.00 k"),
                            (12.34, "12.3"), (0.01234, "0.0123"), (float("nan"), "-")):
            self.assertEqual(text, results.short(value))

    def test_a_number_keeps_its_unit_and_only_long_words_may_be_broken(self):
        self.assertEqual("79.7\u00a0k – 198\u00a0k, 8 sessions, 1.20\u00a0×, 50\u00a0%",
                         page.cell_of("79.7 k – 198 k, 8 sessions, 1.20 ×, 50 %"))
        self.assertEqual(f'<b>short</b> <span class="long-word">{"x" * 30}</span>',
                         page.cell_of(f'<b>short</b> {"x" * 30}'))
        self.report(self.file(Sample().quick(("redis",), ("ycsb-a",), 2)))
        text = (self.out / "report.html").read_text(encoding="utf-8")
        for cell in re.findall(r"<td.*?</td>|<figcaption>.*?</figcaption>", text, re.S):
            self.assertNotRegex(cell, r"[0-9] [kMG]\b")

    def test_options_and_names_of_workloads_are_not_broken(self):
        def whole(text):
            return f'<span class="whole">{text}</span>'
        names = ("ycsb-a", "ycsb", "a-<b", "x-" + "y" * 20)
        for markup, expected in (
                ("(--points 3), ycsb-a.", f"({whole('--points')} 3), {whole('ycsb-a')}."),
                ('<a title="--points ycsb-a">ycsb</a>', '<a title="--points ycsb-a">ycsb</a>'),
                ("ycsb-ab x-ycsb-a a--b", "ycsb-ab x-ycsb-a a--b"),
                ("--" + "x" * 23, "--" + "x" * 23), ("--" + "x" * 22, whole("--" + "x" * 22)),
                (names[3], names[3])):
            self.assertEqual(expected, page.with_whole_words(markup, names))
        left = {"format": "weft-bench left out", "version": 1, "target": {"name": "redis"},
                "workload": {"name": "ycsb-d"}, "load": "at 5 k/s", "why": "needs --points 3"}
        self.report(self.file([*(Sample().line(workload=name) for name in ("ycsb-d", "ycsb-e")),
                               left]))
        text = (self.out / "report.html").read_text(encoding="utf-8")
        self.assertIn(f'<span>{whole("ycsb-d")} at 5 k/s</span>'.replace("5 k", "5\u00a0k"), text)
        self.assertIn(f'<span>needs {whole("--points")} 3</span>', text)
        self.assertIn(f'{whole("--workload")} {whole("ycsb-e")}</code>', text)
        self.assertIn(f'<code>{whole("--energy")} rapl</code>', text)
        self.assertIn(".whole { white-space: nowrap; }", text)

    def test_on_a_card_a_value_without_room_stands_below_its_head(self):
        css = (Path(__file__).parent / "reportlib" / "page.css").read_text(encoding="utf-8")
        cards = css[css.index("Each row is a card"):css.index("@media print")]
        self.assertRegex(cards, r"td\.long \{[^}]*flex-wrap: wrap")

    def test_costs_by_hand(self):
        # As Cost.PurchaseAndEnergy and Cost.BreakEvenPrice of bench/cost/cost_test.cc.
        self.assertAlmostEqual(180, cost.mean_power_w(0.8, 200, 100))
        self.assertAlmostEqual(13.3690, cost.dollars_per_h(84, 3000, 3, 180, 0.25), 4)
        self.assertAlmostEqual(84 * 0.045, cost.energy_dollars_per_h(84, 180, 0.25))
        self.assertEqual(101, cost.servers_needed(100e6, 0.999999e6))
        self.assertEqual(3, cost.servers_needed(3 * 0.1, 0.1))

    def test_nines(self):
        self.assertEqual(0, figures.nines(0))
        self.assertAlmostEqual(3, figures.nines(99.9))
        self.assertEqual(["90", "99", "99.9", "99.99"],
                         [figures.nines_label(mark) for mark in range(1, 5)])


if __name__ == "__main__":
    unittest.main()
