#!/usr/bin/env python3
"""Tests of report/report: from results that are made up here, never from measured ones."""

import contextlib
import copy
import importlib.machinery
import importlib.util
import io
import json
import random
import re
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

try:
    from matplotlib import pyplot
    from reportlib import ahead, cost, figures, main, page, results, style
    WHY_NOT = ""
except ImportError as error:
    WHY_NOT = f"not installed: {error.name} (report/requirements.txt)"

TITLES = {"weft-cache": "Weft 0.9 (cache, embedded)", "memcached": "memcached 1.6.18",
          "redis": "Redis 7.0.15", "rocksdb": "RocksDB 7.8.3", "leveldb": "LevelDB 1.23"}
OTHERS = {"valkey": "Valkey 7.2"}
WORKLOADS = ("ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f")
EMBEDDED = ("weft-cache", "rocksdb", "leveldb")
NO_RAPL = "no /sys/class/powercap/intel-rapl here: a virtual machine"
NO_PERF = "perf_event_open: Permission denied"
PERCENTILES = (0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 99.999, 100)


class Sample:
    """Made-up result lines, plausible enough to be drawn."""

    def __init__(self, seed=1):
        self.random = random.Random(seed)

    def line(self, target="memcached", workload="ycsb-a", repetition=0, rate=None, depth=32,
             host="2x-sample-cpu", speed=1.0, experiment="quick"):
        noise = 1 + self.random.uniform(-0.04, 0.04)
        best = 1e6 * speed * (0.1 if workload == "ycsb-e" else 1) * noise * depth / 32
        per_s = min(rate, best) if rate else best
        p50 = 20 / speed * (1 + 3 * (per_s / best) ** 4) * noise
        seconds = 5.0
        operations = int(per_s * seconds)
        latency = {"count": operations, "mean": p50 * 1.3, "min": p50 * 0.3, "p50": p50,
                   "p90": p50 * 2, "p95": p50 * 3, "p99": p50 * 6, "p99_9": p50 * 15,
                   "p99_99": p50 * 40, "max": p50 * 120}
        command = f"weft-bench {experiment} --target {target} --workload {workload}"
        return {
            "format": "weft-bench run", "version": 1, "date": "2026-11-24T22:00:00Z",
            "commit": "0123456789ab", "experiment": experiment,
            "command_line": command + (f" --rate {rate:g}" if rate else ""),
            "machine": {"host_class": host, "cpu_model": "Sample CPU at 3 GHz", "kernel": "6.1",
                        "huge_pages": "madvise", "cpus": 2, "memory_gib": 7.75},
            "target": {"name": target, "title": (TITLES | OTHERS)[target],
                       "embedded": target in EMBEDDED,
                       "settings": {"threads": 4, "memory_mb": 1024, "flags": "-U 0 -m 1024"}},
            "workload": {"name": workload, "operations": {"read": 0.5, "update": 0.5},
                         "keys": "scrambled-zipf 0.99", "records": 1000000, "key_bytes": "24",
                         "value_bytes": "1000"},
            "load": {"loop": "open" if rate else "closed", "threads": 2, "sessions": 8,
                     "depth": depth, "rate_per_s": rate, "seconds": seconds, "warmup_s": 1.0,
                     "repetition": repetition, "seed": 1},
            "result": {
                "seconds": seconds, "operations": operations, "operations_per_s": per_s,
                "outcomes": {"done": operations, "missing": 0, "refused": 0, "wrong": 0},
                "latency_us": {"all": latency},
                "percentiles_us": [[p, self.at(p50, p, operations)] for p in PERCENTILES],
                "slices": [{"at_s": float(s), "seconds": 1.0,
                            "operations": int(per_s * self.random.uniform(0.9, 1.05)),
                            "p50_us": p50, "p99_us": p50 * 6 * self.random.uniform(0.8, 1.6),
                            "max_us": p50 * 100} for s in range(5)],
                "client": {"cpu_s": 1.2, "cpu_us_per_operation": 0.24, "busy": 0.4,
                           "saturated": False}},
            "meters": {
                "cpu_s": {"value": per_s * seconds * 1.1e-6 / speed, "unit": "s",
                          "source": "/proc/PID/stat"},
                "energy_j": {"unavailable": NO_RAPL},
                "instructions": {"unavailable": NO_PERF}}}

    @staticmethod
    def at(p50, percentile, count):
        left = max(1 - percentile / 100, 1 / count)
        return p50 * (0.3 if percentile == 0 else 1) * (0.5 / left) ** 0.45

    def quick(self, targets=("weft-cache", "memcached", "redis"), workloads=WORKLOADS,
              repetitions=3, **more):
        speeds = (1.4, 1.0, 0.6, 0.3, 0.25)
        return [self.line(target, workload, repetition, speed=speed, **more)
                for target, speed in zip(targets, speeds) for workload in workloads
                for repetition in range(repetitions)]

    def sweep(self, targets=("weft-cache", "memcached", "redis")):
        return [self.line(target, "ycsb-a", repetition, rate=rate, speed=speed, experiment="sweep")
                for target, speed in zip(targets, (1.4, 1.0, 0.6))
                for rate in (100e3, 200e3, 400e3, 550e3, 800e3, 950e3, 1.3e6)
                for repetition in range(2)]


def with_energy(line, joules, source="rapl package-0", modelled=False, idle_w=None):
    line = copy.deepcopy(line)
    if idle_w is not None:
        line["meters"]["idle_power_w"] = {"value": idle_w, "unit": "W", "source": source}
    line["meters"]["energy_j"] = {"value": joules, "unit": "J", "source": source}
    if modelled:
        line["meters"]["energy_j"]["modelled"] = True
    return line


@unittest.skipIf(WHY_NOT, WHY_NOT)
class ReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = Path(self.folder.name) / "out"

    def file(self, lines, name="results.jsonl"):
        path = Path(self.folder.name) / name
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n"
                                for line in lines), encoding="utf-8")
        return str(path)

    def report(self, *arguments, painted=False):
        """The page's text. `painted` where its pictures count: painting takes the longest."""
        errors = io.StringIO()
        paint = contextlib.nullcontext() if painted else mock.patch.object(pyplot.Figure, "savefig")
        with paint, contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            status = main.main([*arguments, "--out", str(self.out)])
        self.assertEqual(0, status, errors.getvalue())
        text = (self.out / "report.html").read_text(encoding="utf-8")
        text = text.replace("\u00a0", " ")  # which keeps numbers and units together
        return re.sub('<span class="whole">(.*?)</span>', r"\1", text)

    def error(self, *arguments):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            status = main.main([*arguments, "--out", str(self.out)])
        self.assertEqual(2, status)
        return errors.getvalue()

    def figure(self, text, name):
        found = re.search(rf'<figure id="{name}">.*?</figure>', text, re.S)
        self.assertIsNotNone(found, f"no figure {name}")
        return found.group()

    def section(self, text, caption):
        """The table with that caption, to the end of it."""
        at = text.index(f"<b>{caption}</b>")
        return text[at:text.index("</table>", at)]


class PageTest(ReportTest):
    def test_every_figure_is_there_with_its_commands_and_a_picture(self):
        sample = Sample()
        workloads = ("ycsb-a", "ycsb-e")
        lines = [with_energy(line, 150) for line in sample.quick(workloads=workloads)]
        lines += sample.sweep()
        text = self.report(self.file(lines), painted=True)
        for name in ("throughput", "percentiles", "time", "cpu", "energy", "cost"):
            figure = self.figure(text, f"quick-servers-{name}")
            for workload in workloads:
                self.assertIn(f"weft-bench quick --target redis --workload {workload}", figure)
                self.assertNotIn("--target weft-cache", figure)  # it is no server
            self.assertEqual(2, figure.count("data:image/svg+xml;base64,"))
            self.assertTrue((self.out / f"quick-servers-{name}.png").stat().st_size > 10_000)
            figure = self.figure(text, f"quick-embedded-caches-{name}")
            self.assertIn("--target weft-cache", figure)
        curve = self.figure(text, "sweep-servers-latency-throughput")
        self.assertIn("weft-bench sweep --target memcached --workload ycsb-a --rate 550000", curve)
        self.assertNotIn('id="quick-servers-latency-throughput"', text)  # one load: no curve

    def test_what_was_left_out_has_its_reason(self):
        left = {"format": "weft-bench left out", "version": 1, "target": {"name": "weft<cache"},
                "workload": {"name": "ycsb-e"}, "load": "at 5 k/s", "why": "has no scans"}
        whole = {**left, "target": {"name": "rocksdb"}, "why": "is not in this build"}
        del whole["workload"], whole["load"]
        text = self.report(self.file([left, *Sample().quick(("redis",)), whole, left]))
        section = self.section(text, "What was not measured, and why")
        self.assertEqual(3, section.count("<tr>"))  # with the head
        for cell in ("weft&lt;cache", "ycsb-e at 5 k/s", "has no scans", "rocksdb", "all",
                     "is not in this build"):
            self.assertIn(f"<span>{cell}</span>", section)
        self.assertNotIn("What was not measured", self.report(self.file([Sample().line()])))
        self.assertIn("has no results", self.error(self.file([left])))

    def test_a_sweep_shows_the_highest_rate_within_its_limit(self):
        sample, lines = Sample(), []

        def add(target, rate, part, holds, speed):
            line = sample.line(target, rate=rate, speed=speed, experiment="sweep")
            line["sweep"] = {"part": part, "limit": "p99 <= 500 us"}
            if holds is not None:
                line["sweep"]["holds"] = holds
            lines.append(line)

        for target, speed in (("weft-cache", 1.4), ("memcached", 1.0)):
            add(target, None, "top", None, speed)
            for rate in (200e3, 400e3, 800e3):
                add(target, rate, "curve", rate < 500e3, speed)
            add(target, 610e3, "search", True, speed)
        for holds in (True, False, False):
            add("weft-cache", 650e3, "highest", holds, 1.4)
        for holds in (False, True, True):
            add("weft-cache", 620e3, "highest", holds, 1.4)
        for _ in range(3):  # made again, for the client was late
            add("weft-cache", 620e3, "highest", False, 1.4)
            lines[-1]["sweep"]["counts"] = False
        path = self.file(lines)
        self.assertEqual([620e3] * 3, list(results.highest(results.read([path]))["rate"]))
        text = self.report(path)
        embedded, servers = re.findall(r"The highest rate within a limit.*?</table>", text, re.S)
        self.assertIn("p99 &lt;= 500 µs", embedded)
        self.assertNotIn("none was found", embedded)
        self.assertEqual(1, servers.count("none was found"))  # memcached's
        self.assertIn('id="sweep-servers-latency-throughput"', text)

    def test_needs_nothing_from_elsewhere(self):
        text = self.report(self.file(Sample().quick(workloads=("ycsb-a",), repetitions=2)))
        for link in re.findall(r'(?:src|href|srcset)="([^"]*)"', text):
            self.assertRegex(link, r"^(#|data:)")
        self.assertNotRegex(text, r"<script|@import|url\(")

    def test_unavailable_meters_are_listed_with_their_reasons(self):
        text = self.report(self.file(Sample().quick(workloads=("ycsb-a",), repetitions=1)))
        self.assertIn("What was unavailable, and why", text)
        for reason in (NO_RAPL, NO_PERF):
            self.assertIn(page.escape(reason), text)
        self.assertNotIn('id="quick-servers-energy"', text)
        self.assertIn(f"Energy per operation: unavailable (energy_j: {page.escape(NO_RAPL)}", text)
        self.assertNotIn('id="quick-servers-cost"', text)

    def test_without_a_meter_there_are_servers_but_no_dollars_and_it_says_how_to_get_one(self):
        text = self.report(self.file(Sample().quick(("memcached",), ("ycsb-a",), 1)))
        servers = self.section(text, "Servers for 100 M operations a second")
        self.assertIn('data-head="servers"', servers)
        self.assertIn('data-head="watts"><span><span class="none">–</span>', servers)
        self.assertNotIn("<span>0</span>", servers)
        self.assertIn('href="#how-to-get-a-meter"', servers)
        for how in ("--energy rapl", "nvml", "serial:/dev/ttyACM0", "csv:FILE", "--server HOST"):
            self.assertIn(how, text[text.index('id="how-to-get-a-meter"'):])

    def test_with_a_meter_the_page_has_watts_idle_watts_servers_and_dollars(self):
        lines = [with_energy(line, 500, idle_w=41)
                 for line in Sample().quick(("memcached", "redis"), ("ycsb-a", "ycsb-b"), 1)]
        text = self.report(self.file(lines))
        servers = self.section(text, "Servers for 100 M operations a second")
        self.assertIn('data-head="watts"><span>100</span>', servers)
        self.assertIn('data-head="idle watts"><span>41.0</span>', servers)
        self.assertEqual(2, servers.count("all, evenly"))
        self.assertIn("1.00 ×", servers)
        self.assertNotIn("how-to-get-a-meter", text)

    def test_modelled_figures_are_marked(self):
        lines = [with_energy(line, 100, "idle and busy watts", modelled=True)
                 for line in Sample().quick(("memcached",), ("ycsb-a",), 1)]
        text = self.report(self.file(lines))
        self.assertIn("Modelled, not measured", self.figure(text, "quick-energy"))
        self.assertIn("energy modelled", text)
        self.assertIn('energy_j <span class="mark">modelled</span>', text)
        self.assertIn("memcached 1.6.18 modelled: idle and busy watts",
                      self.figure(text, "quick-cost"))

    def test_costs_by_a_model_of_the_server(self):
        path = self.file(Sample().quick(("memcached",), ("ycsb-a",), 1))
        text = self.report(path, "--server", "2x-sample-cpu=40,120")
        self.assertIn("modelled: model 40 W idle, 120 W busy", self.figure(text, "quick-cost"))
        self.assertIn('data-head="idle watts"><span>40.0</span>', text)
        self.assertNotIn("energy modelled", text)  # of an operation nothing is known

    def test_one_sentence_says_who_is_ahead_at_what(self):
        table = results.read([self.file(Sample().quick(tuple(TITLES), ("ycsb-a", "ycsb-b")))])
        headline, latency = ahead.sentences(table)
        self.assertIn("Lowest p99 latency: of servers", latency)
        self.assertIn("Most operations a second: of servers memcached 1.6.18 at both workloads",
                      headline)
        self.assertIn("of embedded durable stores RocksDB 7.8.3 at both workloads", headline)
        self.assertNotIn("Weft", headline)  # alone among its kind

    def test_a_single_store_is_ahead_of_nobody(self):
        text = self.report(self.file(Sample().quick(("redis",), ("ycsb-a",), 1)))
        self.assertIn('<p class="headline">Nobody is ahead: only one store has it.</p>', text)
        self.assertLess(text.index('class="headline"'), text.index("<figure"))
        self.assertNotIn("Who is ahead", text)

    def test_several_machines_are_told_apart(self):
        sample = Sample()
        other = sample.line() | {"commit": "ba9876543210"}
        text = self.report(self.file([sample.line(), other], "a.jsonl"),
                           self.file([sample.line(host="64x-arm")], "b.jsonl"))
        self.assertIn("0123456789ab, ba9876543210", text)
        self.assertIn("memcached 1.6.18 on 2x-sample-cpu", text)
        self.assertIn("memcached 1.6.18 on 64x-arm", text)

    def test_wrong_answers_and_saturated_clients_are_told(self):
        line = Sample().line()
        line["result"]["client"]["saturated"] = True
        line["result"]["outcomes"]["wrong"] = 7
        text = self.report(self.file([line]))
        self.assertIn("client saturated", text)
        self.assertIn("7 answers were wrong", text)

    def test_names_cannot_break_the_page(self):
        line = Sample().line()
        line["target"]["title"] = "<b>$x^2$ & \"store\"</b>"
        line["command_line"] = "weft-bench <script>"
        text = self.report(self.file([line]), painted=True)
        self.assertNotIn("<b>$x", text)
        self.assertNotIn("<script", text)
        self.assertIn("weft-bench &lt;script&gt;", text)

    def test_a_single_run_without_meters_slices_or_percentiles(self):
        line = Sample().line()
        del line["meters"], line["result"]["slices"], line["result"]["percentiles_us"]
        text = self.report(self.file([line]), painted=True)
        self.figure(text, "quick-throughput")
        self.assertNotIn('id="quick-time"', text)
        self.assertIn("cpu_s: not in the results", text)
        self.assertIn("The results have no meters.", text)


def check_layout():
    """The script as a module."""
    path = str(Path(__file__).resolve().parent / "check_layout")
    loader = importlib.machinery.SourceFileLoader("check_layout", path)
    spec = importlib.util.spec_from_loader("check_layout", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class LayoutTest(ReportTest):
    """In a browser, where there is one."""

    def setUp(self):
        super().setUp()
        self.layout = check_layout()
        self.browser = self.layout.chromium()
        if self.browser is None:
            self.skipTest("no Chromium here (Debian's package is chromium)")

    def test_the_page_holds_together_wide_and_narrow(self):
        line = Sample().line(workload="ycsb-b", depth=8)  # another load: a column more
        line["command_line"] = "weft-bench run " + "x" * 200
        line["machine"] |= {"kernel": "k" * 100, "host_class": "16x-sample-r-processor-2-80ghz"}
        line["target"]["settings"]["flags"] = "--threads and --memory-limit and more of them"
        lines = [with_energy(of, 150) for of in Sample().quick(workloads=("ycsb-a", "ycsb-e"))]
        self.report(self.file([*lines, line]), "--title", "Stores_" + "y" * 60, painted=True)
        for width in self.layout.WIDTHS:
            found = self.layout.check(self.browser, self.out / "report.html", width)
            self.assertEqual([], found, f"at {width} pixels")

    def test_what_sticks_out_or_overlaps_is_found(self):
        page_path = Path(self.folder.name) / "bad.html"
        page_path.write_text(
            "<!doctype html><body style='margin:0'><p style='width:500px'>wide</p>"
            "<p style='position:absolute;top:100px'>one text</p>"
            "<p style='position:absolute;top:104px'>another</p><table style='width:1px'><td "
            "style='overflow-wrap:anywhere'>memcached<td>198 k<td>79&nbsp;k<td>ycsb-d</table>"
            "<p style='position:absolute;top:300px;width:1px'>--points</p></body>",
            encoding="utf-8")
        found = " ".join(self.layout.check(self.browser, page_path, 360))
        self.assertIn("the page is 500 pixels wide of 360", found)
        self.assertIn('p "wide" sticks out', found)
        self.assertIn('p "one text" overlaps p "another"', found)
        self.assertIn('"memcached" is broken', found)
        self.assertIn('"198 k" is broken', found)
        self.assertIn('"--points" is broken', found)
        self.assertIn('"ycsb-d" is broken', found)
        self.assertEqual(4, found.count("is broken"))


class FigureTest(ReportTest):
    def table(self, lines):
        return results.read([self.file(lines)])

    def test_no_text_overlaps_or_is_clipped(self):
        sample = Sample()
        all_stores = sample.quick(tuple(TITLES), WORKLOADS[2:5])
        everything = [with_energy(line, 150) for line in all_stores]
        cases = {"quick": self.table(everything), "sweep": self.table(sample.sweep()),
                 "one": self.table(sample.quick(("redis",), ("ycsb-a",), 1))}
        points = [(0, 1), (3000, 40), (6000, 80)]  # of each run
        draws = (figures.throughput, figures.latency_curves, figures.percentiles,
                 figures.time_series, figures.cpu, figures.energy,
                 lambda table, look, narrow: figures.cost_curves(
                     table, look, narrow, lambda *_: points))
        drawn = 0
        for name, table in cases.items():
            look = style.Look(figures.names_of(table))
            for draw in draws:
                for narrow in (False, True):
                    with pyplot.rc_context(style.RC):
                        figure = draw(table, look, narrow)
                        if figure is None:
                            continue
                        drawn += 1
                        self.assertEqual([], style.clashes(figure), (name, draw, narrow))
                        pyplot.close(figure)
        self.assertGreaterEqual(drawn, 30)

    def test_a_curve_of_one_point_draws_without_a_warning(self):
        sample = Sample()
        lines = [sample.line("redis", rate=rate) for rate in (1e5, 2e5)]
        table = self.table([*lines, sample.line("memcached", rate=1e5)])
        with warnings.catch_warnings(), pyplot.rc_context(style.RC):
            warnings.simplefilter("error")
            look = style.Look(figures.names_of(table))
            pyplot.close(figures.latency_curves(table, look, False))

    def test_an_axis_of_a_narrow_range_has_ticks(self):
        with pyplot.rc_context(style.RC):
            figure, (axis,) = style.grid(1, 1, True, 2)
            axis.set_yscale("log")
            axis.set_ylim(93, 99)
            figures.log_axis(axis.yaxis, axis.get_ylim())
            self.assertGreaterEqual(len(axis.get_yticks()), 2)
            pyplot.close(figure)

    def test_clashes_are_found(self):
        with pyplot.rc_context(style.RC):
            figure, (axis,) = style.grid(1, 1, True, 2)
            axis.text(0.5, 0.5, "one")
            axis.text(0.5, 0.5, "other")
            figure.text(0.9, 0.2, "far too long for the edge of the picture")
            found = style.clashes(figure)
            pyplot.close(figure)
        self.assertIn(("one", "other"), found)
        self.assertTrue(any(other == "edge" for _, other in found))

    def test_every_axis_has_a_name_with_its_unit(self):
        table = self.table([with_energy(line, 150) for line in Sample().quick()])
        look = style.Look(figures.names_of(table))
        for draw, units in ((figures.throughput, {"operations per second"}),
                            (figures.cpu, {"CPU time per operation (µs)"}),
                            (figures.energy, {"energy per operation (µJ)"}),
                            (figures.percentiles, {"percentile (%)", "latency (µs)"}),
                            (figures.time_series, {"time (s)", "operations per second",
                                                   "p99 latency (µs)"})):
            with pyplot.rc_context(style.RC):
                figure = draw(table, look, False)
                names = {text for axis in figure.axes
                         for text in (axis.get_xlabel(), axis.get_ylabel()) if text}
                pyplot.close(figure)
            self.assertEqual(units, names)

    def test_what_differs_by_its_setting_is_no_curve(self):
        line = Sample().line("redis")
        table = self.table([line, line | {"setting": "with an index for scans"}])
        look = style.Look(figures.names_of(table))
        self.assertIsNone(figures.latency_curves(table, look, False))

    def test_a_closed_loop_is_no_part_of_an_open_loops_line(self):
        sample = Sample()
        lines = [sample.line("redis", rate=rate) for rate in (1e5, 2e5)]
        table = self.table([*lines, sample.line("redis")])
        look = style.Look(figures.names_of(table))
        with pyplot.rc_context(style.RC):
            figure = figures.latency_curves(table, look, False)
            joined = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 2]
            alone = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 1]
            pyplot.close(figure)
        self.assertEqual(["-"], [line.get_linestyle() for line in joined])
        self.assertEqual(["None"], [line.get_linestyle() for line in alone])
        self.assertEqual(["white"], [line.get_markerfacecolor() for line in alone])
        self.assertIn(figures.CLOSED, [text.get_text() for text in figure.legends[0].get_texts()])

    def test_repetitions_have_ranges_over_time_and_price(self):
        table = cost.with_power(self.table(
            [with_energy(line, 150) for line in Sample().quick(("redis",), ("ycsb-a",), 3)]), {})
        look = style.Look(figures.names_of(table))
        for draw in (lambda: figures.time_series(table, look, False),
                     lambda: figures.cost_curves(table, look, False,
                                                 lambda row, *_: [(0, row["throughput"]), (9, 9)])):
            with pyplot.rc_context(style.RC):
                figure = draw()
                shades = [of for axis in figure.axes for of in axis.collections]
                pyplot.close(figure)
            self.assertTrue(shades)

    def test_no_two_series_have_one_colour(self):
        look = style.Look([str(i) for i in range(40)])
        self.assertEqual(40, len({look.line(str(i))["color"] for i in range(40)}))

    def test_series_differ_by_more_than_colour(self):
        look = style.Look([str(i) for i in range(5)])
        kinds = [look.line(str(i)) for i in range(5)]
        for key in ("color", "linestyle", "marker"):
            self.assertEqual(5, len({str(kind[key]) for kind in kinds}))


if __name__ == "__main__":
    unittest.main()
