"""The page: one HTML file with its style and pictures within, and the pictures as PNG beside it."""

import base64
import html
import io
import json
import re
from pathlib import Path

from matplotlib import pyplot

from reportlib import cost, experiments, figures, style
from reportlib.results import dig, highest, medians, peak, short

PNG_DPI = 200
NARROW_PX = 600  # windows up to this width get the narrow pictures (as in page.css)
PRICES = 25  # points of a cost curve

UNITS = {"us": "µs"}


def escape(value):
    return html.escape(str(value), quote=True)


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "results"


class Page:
    """Collects sections; draws each figure twice, for wide and for narrow windows."""

    def __init__(self, out):
        self.out = Path(out)
        self.parts = []
        self.contents = []
        self.pngs = set()

    def add(self, text):
        self.parts.append(text)

    def section(self, title):
        anchor = f"{slug(title)}-{len(self.contents) + 1}"
        self.contents.append((anchor, title))
        self.add(f'<h2 id="{anchor}">{escape(title)}</h2>')

    def figure(self, name, title, text, commands, draw):
        """`draw(narrow)` gives a picture or None; returns whether there was one."""
        pictures = []
        for narrow in (False, True):
            with pyplot.rc_context(style.RC):
                picture = draw(narrow)
                if picture is None:
                    return False
                svg = io.BytesIO()
                picture.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
                pictures.append(base64.b64encode(svg.getvalue()).decode())
                if not narrow:
                    name = self.unused(name)
                    picture.savefig(self.out / f"{name}.png", dpi=PNG_DPI)
                    width, height = picture.get_size_inches() * 96
                pyplot.close(picture)
        wide, small = (f"data:image/svg+xml;base64,{picture}" for picture in pictures)
        self.add(f'<figure id="{name}"><picture>'
                 f'<source media="(max-width: {NARROW_PX}px)" srcset="{small}">'
                 f'<img src="{wide}" width="{width:.0f}" height="{height:.0f}" '
                 f'alt="{escape(title)}"></picture>'
                 f"<figcaption><b>Figure {len(self.pngs)}. {escape(title)}.</b> {text}</figcaption>"
                 f"{command_block(commands)}</figure>")
        return True

    def unused(self, name):
        found, count = name, 1
        while found in self.pngs:
            count += 1
            found = f"{name}-{count}"
        self.pngs.add(found)
        return found

    def table(self, caption, head, rows):
        """Cells are HTML; a head that begins with # is of numbers, with > of long texts."""
        kinds = [{"#": "n", ">": "long"}.get(name[:1], "") for name in head]
        heads = "".join(f'<th class="{kind}">{escape(name.lstrip("#>"))}</th>'
                        for kind, name in zip(kinds, head))
        body = "".join("<tr>" + "".join(f'<td class="{kind}">{cell}</td>'
                                        for kind, cell in zip(kinds, row)) + "</tr>"
                       for row in rows)
        self.add(f'<p class="caption">{caption}</p><div class="box"><table><thead><tr>{heads}</tr>'
                 f"</thead><tbody>{body}</tbody></table></div>")


def command_block(commands):
    lines = [command for command in dict.fromkeys(commands) if command]
    lines = lines or ["the results have no command line"]
    many = " many" if len(lines) > 6 else ""
    codes = "".join(f"<code>{escape(line)}</code>" for line in lines)
    return f'<div class="command{many}">{codes}</div>'


def write(table, out, options, powers):
    """Writes all; gives the page's path."""
    page = Page(out)
    look = style.Look(figures.names_of(table))
    overview(page, table)
    for experiment, runs in table.groupby("experiment", sort=False):
        experiment_section(page, experiment, runs, look, options, powers)
    meters_section(page, table)
    machines_section(page, table)
    path = Path(out) / "report.html"
    path.write_text(document(page, options.title, table), encoding="utf-8")
    return path


def document(page, title, table):
    css = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    contents = "".join(f'<li><a href="#{anchor}">{escape(text)}</a></li>'
                       for anchor, text in page.contents)
    days = sorted({str(run.get("date", ""))[:10] for run in table["run"]} - {""})
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "undated"
    lead = (f"{when} · {len(table)} runs of {table['workload'].nunique()} workloads on "
            f"{table['title'].nunique()} stores and {table['machine'].nunique()} machine"
            f"{'s' if table['machine'].nunique() > 1 else ''}")
    return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(title)}</title><style>{css}</style></head><body>"
            f'<header><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p></header>'
            f'<nav aria-label="Contents"><ul>{contents}</ul></nav><main>'
            + "\n".join(page.parts)
            + "</main><footer>Bars and points are medians of the repetitions; lines through them "
            "reach from the least to the most. Made by report/report of Weft.</footer>"
            "</body></html>\n")


def figure_cell(row, name):
    """Median, and below it the range."""
    middle, low, high = (row[f"{name}_{kind}"] for kind in ("median", "min", "max"))
    if middle != middle:
        return '<span class="none">unavailable</span>'
    text = escape(short(middle))
    if row["repetitions"] > 1:
        text += f'<span class="range">{escape(short(low))} – {escape(short(high))}</span>'
    return text


def overview(page, table):
    page.section("Overview")
    page.add("<p>One line a store and workload, at the load at which it did most (closed loop "
             "where there was one). Each figure is the median of the repetitions, with their range "
             "below. Latencies are of all operations. CPU is of the store's processes, client CPU "
             "the load generator's own, both in µs an operation.</p>")
    best = peak(table)
    for experiment, runs in best.groupby("experiment", sort=False):
        loads = list(dict.fromkeys(runs["load"]))
        several = len(loads) > 1
        found = medians(runs, ["workload", "series", "load"])
        order = {name: at for at, name in enumerate(dict.fromkeys(runs["workload"]))}
        found = found.sort_values("workload", key=lambda names: names.map(order), kind="stable")
        caption = f"<b>{escape(experiment or 'Results')}</b>" + (
            "" if several else f", {escape(loads[0])}")
        page.table(caption, ["workload", "store", *([">load"] if several else []), "#runs",
                             "#operations/s", "#p50 (µs)", "#p99 (µs)", "#p99.9 (µs)",
                             "#CPU (µs/op)", "#client CPU", "#energy (µJ/op)"],
                   [overview_row(row, several) for _, row in found.iterrows()])
    for series, runs in table[table["wrong"] > 0].groupby("series", sort=False):
        page.add(f"<p><b>{escape(series)}</b>: {runs['wrong'].sum():g} answers were wrong.</p>")


def overview_row(row, with_load):
    marks = [text for text, is_so in (("client saturated", row["saturated"]),
                                      ("energy modelled", row["modelled"])) if is_so]
    marks = "".join(f' <span class="mark">{text}</span>' for text in marks)
    return [escape(row["workload"]), escape(row["series"]) + marks,
            *([escape(row["load"])] if with_load else []), row["repetitions"],
            *(figure_cell(row, name) for name in
              ("throughput", "p50", "p99", "p99_9", "cpu_us", "client_cpu_us", "energy_uj"))]


def experiment_section(page, experiment, runs, look, options, powers):
    page.section(f"Experiment: {experiment}" if experiment else "Results")
    base = slug(experiment) if experiment else "results"
    best = peak(runs)
    at_best = list(best["command"])
    at = load_note(best)
    plots = experiments.plots(runs, look)
    for plot in plots:
        drawn = page.figure(f"{base}-{plot.name}", plot.title, escape(plot.text),
                            plot.runs["command"], plot.draw)
        if not drawn and plot.meters:
            missing(page, plot.title, plot.runs, plot.meters)
    if not any(plot.name.startswith("throughput") for plot in plots):
        page.figure(
            f"{base}-throughput", "Throughput", f"{at} Bars: medians; lines: ranges of the "
            "repetitions.", at_best, lambda narrow: figures.throughput(runs, look, narrow))
    if not plots:
        page.figure(
            f"{base}-latency-throughput", "Latency against throughput", "A point a load: median of "
            "the repetitions; thin lines are their ranges in both directions. Latency counts from "
            "the intended start in an open loop. Rings: the highest rate within the limit.",
            runs["command"], lambda narrow: figures.latency_curves(runs, look, narrow))
        limits_table(page, runs)
    page.figure(
        f"{base}-percentiles", "Latency by percentile", f"{at} Each step to the right leaves a "
        "tenth of the operations. Strong line: the repetition with the median throughput; faint: "
        "the others. A line ends where a single operation is left.", at_best,
        lambda narrow: figures.percentiles(runs, look, narrow))
    page.figure(
        f"{base}-time", "Throughput and p99 over time", f"{at} The repetition with the median "
        "throughput.", at_best, lambda narrow: figures.time_series(runs, look, narrow))
    if not page.figure(
            f"{base}-cpu", "CPU time per operation", f"{at} Of the store's processes, all their "
            f"threads. {embedded_note(best)}", at_best,
            lambda narrow: figures.cpu(runs, look, narrow)):
        missing(page, "CPU time per operation", best, ("cpu_s",))
    if not page.figure(
            f"{base}-energy", "Energy per operation", f"{at} {energy_note(best)}", at_best,
            lambda narrow: figures.energy(runs, look, narrow)):
        missing(page, "Energy per operation", best, ("energy_j", "power_w_mean"))
    cost_figure(page, base, runs, look, options, powers)


def limits_table(page, runs):
    """What a sweep with a limit found, and where it found nothing."""
    asked = runs[runs["sweep_limit"] != ""]
    if asked.empty:
        return
    found = medians(highest(runs), ["workload", "series", "sweep_limit"])
    rows = []
    for (workload, series, limit), of in asked.groupby(["workload", "series", "sweep_limit"],
                                                       sort=False):
        row = found[(found["workload"] == workload) & (found["series"] == series)
                    & (found["sweep_limit"] == limit)]
        cells = ["none was found", "-", "-"] if row.empty else [
            figure_cell(row.iloc[0], name) for name in ("throughput", "p50", "p99")]
        top = of[of["sweep_part"] == "top"]["throughput"].median()
        rows.append([escape(workload), escape(series), escape(limit), *cells, short(top)])
    page.table("The highest rate within a limit", [
        "workload", "store", ">limit", "#operations/s", "#p50 there (µs)", "#p99 there (µs)",
        "#closed loop's operations/s"], rows)


def load_note(best):
    loads = list(dict.fromkeys(best["load"]))
    if len(loads) == 1:
        return f"Load: {escape(loads[0])}."
    return "Each at the load at which it did most (see the overview)."


def embedded_note(best):
    names = list(dict.fromkeys(best[best["embedded"]]["series"]))
    if not names:
        return ""
    return f"Embedded, so with the client's own work: {escape(', '.join(names))}."


def energy_note(best):
    sources = sorted({text for text in best[~best["modelled"]]["energy_source"] if text})
    note = f"Measured by: {escape(', '.join(sources))}." if sources else ""
    of_models = best[best["modelled"]]
    models = dict(zip(of_models["series"], of_models["energy_source"]))
    if models:
        names = ", ".join(f"{name} ({source})" for name, source in models.items())
        note += f" * <b>Modelled, not measured</b>: {escape(names)}."
    return note


def missing(page, title, runs, meters):
    """Says in a figure's place why there is none."""
    reasons = {}
    for meter in meters:
        for run in runs["run"]:
            reading = run.get("meters", {}).get(meter)
            why = "not in the results" if reading is None else reading.get("unavailable")
            if why:
                reasons.setdefault(f"{meter}: {why}", None)
    page.add(f'<p class="none">{escape(title)}: unavailable ({escape("; ".join(reasons))}).</p>')


def cost_figure(page, base, runs, look, options, powers):
    machines = dict(zip(runs["series"], runs["machine"]))

    def points_of(row, dollars_per_kwh, years):
        power_w = row["power_w_median"]
        if machines[row["series"]] in powers:
            idle, busy = powers[machines[row["series"]]]
            power_w = cost.mean_power_w(row["utilization_median"], busy, idle)
        if not power_w >= 0:
            return []
        servers = cost.servers_needed(options.target_throughput, row["throughput_median"])
        prices = [options.price_max * i / (PRICES - 1) for i in range(PRICES)]
        return [(price, cost.dollars_per_h(servers, price, years, power_w, dollars_per_kwh))
                for price in prices]

    used = {name: powers[machine] for name, machine in machines.items() if machine in powers}
    best = peak(runs)
    sources = [f"{name} modelled: idle {idle:g} W, busy {busy:g} W, measured utilization"
               for name, (idle, busy) in used.items()]
    sources += [f"{name} {'modelled' if of['modelled'].any() else 'measured'}: "
                f"{next(iter(of['energy_source']))}"
                for name, of in best.groupby("series", sort=False)
                if name not in used and of["power_w"].notna().any()]
    text = (f"Servers enough for {short(options.target_throughput)} operations a second: purchase "
            "and energy over their lifetime, an hour (paper 002, equations 5.1 to 5.3). Power of "
            f"{escape('; '.join(sources))}.")
    if not page.figure(f"{base}-cost", "Cost against purchase price", text, best["command"],
                       lambda narrow: figures.cost_curves(runs, look, narrow, points_of,
                                                          options.target_throughput)):
        missing(page, "Cost against purchase price (without power; --server gives a model)", best,
                ("energy_j", "power_w_mean"))


def meters_section(page, table):
    page.section("Meters")
    have, lack = {}, {}
    for _, row in table.iterrows():
        for name, meter in row["run"].get("meters", {}).items():
            if "value" in meter:
                key = (name, meter.get("unit", ""), meter.get("source", ""),
                       bool(meter.get("modelled")))
                have.setdefault(key, {})[row["series"]] = None
            else:
                lack.setdefault((name, meter["unavailable"]), {})[row["series"]] = None
    if have:
        page.table("What was metered, and by what", ["meter", "unit", ">source", ">stores"], [
            [escape(name) + (' <span class="mark">modelled</span>' if modelled else ""),
             escape(UNITS.get(unit, unit)), escape(source), escape(", ".join(of))]
            for (name, unit, source, modelled), of in sorted(have.items())])
    if lack:
        page.table("Unavailable, with the reason", ["meter", ">reason", ">stores"], [
            [escape(name), escape(reason), escape(", ".join(of))]
            for (name, reason), of in sorted(lack.items())])
    if not have and not lack:
        page.add('<p class="none">The results have no meters.</p>')


def machines_section(page, table):
    page.section("Machines and settings")
    machines, settings, workloads = {}, {}, {}
    for _, row in table.iterrows():
        run = row["run"]
        machines.setdefault(row["machine"], run["machine"] | {"commit": run.get("commit", "")})
        of = dig(run, "target.settings", {})
        settings.setdefault((row["series"], json.dumps(of, sort_keys=True)), of)
        workloads.setdefault(json.dumps(run["workload"], sort_keys=True), run["workload"])
    names = list(dict.fromkeys(name for machine in machines.values() for name in machine))
    page.table("Machines", ["", *(">" + name for name in machines)], [
        [escape(name.replace("_", " ")), *(value_text(machine.get(name, "-"))
                                           for machine in machines.values())]
        for name in names if name != "host_class"])
    page.table("Stores and what they were started with", ["store", ">settings"], [
        [escape(name), ", ".join(f"{escape(key)} = {value_text(value)}"
                                 for key, value in of.items()) or "none"]
        for (name, _), of in settings.items()])
    head = ["workload", ">operations", ">keys", "#records", "#key B", "#value B"]
    page.table("Workloads", head, [
        [escape(of["name"]),
         ", ".join(f"{escape(kind)} {share * 100:g} %"
                   for kind, share in of.get("operations", {}).items()),
         escape(of.get("keys", "-")), escape(f"{of.get('records', '-'):,}"
                                             if isinstance(of.get("records"), int) else "-"),
         escape(of.get("key_bytes", "-")), escape(of.get("value_bytes", "-"))]
        for of in workloads.values()])


def value_text(value):
    if isinstance(value, float):
        return escape(f"{value:.4g}")
    return escape(value if isinstance(value, str) else json.dumps(value))
