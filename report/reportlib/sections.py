"""The sections of the page: an experiment's figures and tables, meters, machines and settings."""

import json

from reportlib import ahead, cost, experiments, figures
from reportlib.page import escape, slug
from reportlib.results import dig, highest, limit_text, medians, number, peak, short

PRICES = 25  # points of a cost curve
UNITS = {"us": "µs"}
ABSENT = "not in the results"
NONE = '<span class="none">–</span>'
HOW = "how-to-get-a-meter"
METERS_HOW = (
    "On your own machine with an Intel or AMD processor: <code>chmod a+r "
    "/sys/class/powercap/*/energy_uj</code>, then <code>--energy rapl</code>. It counts packages "
    "and memory. Most virtual machines have no such counter.",
    "With an NVIDIA GPU: <code>--energy nvml</code>, or <code>rapl+nvml</code> for both.",
    "With a power monitor of the MCP39F511 family at the plug, on a serial line: <code>--energy "
    "serial:/dev/ttyACM0</code>. It sees the whole server.",
    "With any other meter that writes a table of time and watts: <code>--energy csv:FILE</code>.",
    "Without a meter: the watts of a data sheet. <code>--energy model:IDLE_W,BUSY_W</code> uses "
    "them in a measurement, and <code>report/report --server HOST=IDLE_W,BUSY_W</code> for these "
    "results. Values computed from them are marked as modelled.")


def figure_cell(row, name):
    """Median, and below it the range."""
    middle, low, high = (row[f"{name}_{kind}"] for kind in ("median", "min", "max"))
    if middle != middle:
        return NONE
    text = escape(short(middle))
    if row["repetitions"] > 1:
        text += f'<span class="range">{escape(short(low))} – {escape(short(high))}</span>'
    return text


def experiment(page, name, runs, look, options):
    """A part for each kind of store: their loads and figures are not comparable, so they share no
    axis."""
    page.section(f"Experiment: {name}" if name else "Results")
    kinds = list(dict.fromkeys(runs["group"]))
    for kind in kinds:
        base = slug(name) if name else "results"
        if len(kinds) > 1:
            page.section(kind[:1].upper() + kind[1:], level=3)
            base += "-" + slug(kind)
        stores(page, base, runs[runs["group"] == kind], look, options)


def stores(page, base, runs, look, options):
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
    ahead_table(page, runs)
    if not plots:
        page.figure(
            f"{base}-latency-throughput", "Latency against throughput", "Each point is a load: the "
            "median of the repetitions, with thin lines for their ranges. Lines join open loops by "
            "the requested rate; their latency counts from the intended start. Hollow points are "
            "closed loops, whose latency omits requests that a slow store delayed. Rings: the "
            "highest rate within the limit.",
            runs["command"], lambda narrow: figures.latency_curves(runs, look, narrow))
        limits_table(page, runs)
    page.figure(
        f"{base}-percentiles", "Latency by percentile", f"{at} Each step to the right leaves a "
        "tenth of the operations. Strong line: the repetition with the median throughput; faint: "
        "the others. A line ends where one operation is left.", at_best,
        lambda narrow: figures.percentiles(runs, look, narrow))
    page.figure(
        f"{base}-time", "Throughput and p99 over time", f"{at} The repetition with the median "
        "throughput; shades cover all repetitions.", at_best,
        lambda narrow: figures.time_series(runs, look, narrow))
    if not page.figure(
            f"{base}-cpu", "CPU time per operation", f"{at} All threads of the store's processes. "
            f"{embedded_note(best)}", at_best,
            lambda narrow: figures.cpu(runs, look, narrow)):
        missing(page, "CPU time per operation", best, ("cpu_s",))
    if not page.figure(
            f"{base}-energy", "Energy per operation", f"{at} {energy_note(best)}", at_best,
            lambda narrow: figures.energy(runs, look, narrow)):
        missing(page, "Energy per operation", best, ("energy_j", "power_w_mean"))
    figures_table(page, best)
    servers_table(page, best, options.target_throughput)
    cost_figure(page, base, runs, look, options)


def ahead_table(page, runs):
    """Who is ahead at which workload, where there are several stores."""
    if runs["series"].nunique() < 2:
        return
    told = ahead.verdicts(runs)
    single = any(one.single and one.series for of in told.values() for one in of.values())
    measures = [measure.name for measure in ahead.MEASURES
                if any(of[measure.name].why != "not measured" for of in told.values())]
    caption = ("<b>Who is ahead</b>, and by what factor over the next. Ahead: the worst "
               "repetition is better than the best of all others.")
    if single:
        caption += " Of single runs the better one is named; their variation is unknown."
    page.table(caption, ["workload", *(">" + name for name in measures)], [
        [escape(workload), *(ahead_cell(of[name]) for name in measures)]
        for (_, workload), of in told.items()])


def ahead_cell(one):
    text = escape(ahead.cell(one))
    if not one.series:
        text = f'<span class="none">{text}</span>'
    if one.modelled and one.ratio == one.ratio:  # it was compared
        whose = "" if one.modelled == one.compared else ": " + escape(", ".join(one.modelled))
        text += f' <span class="mark">modelled</span>{whose}'
    return text


def figures_table(page, best):
    loads = list(dict.fromkeys(best["load"]))
    several = len(loads) > 1
    found = in_order(medians(best, ["workload", "series", "load"]), best)
    caption = ("<b>All figures</b>, " + ("each store at the load at which it did most" if several
                                         else "at " + escape(loads[0]))
               + ". Medians and ranges of the repetitions. CPU is that of the store's processes, "
               "client CPU that of the load generator")
    if best["embedded"].any():
        caption += "; an embedded store's CPU includes the client's"
    page.table(caption + ".", [
        "workload", "store", *([">load"] if several else []), "#runs", "#operations/s", "#p50 (µs)",
        "#p99 (µs)", "#p99.9 (µs)", "#CPU (µs/op)", "#client CPU (µs/op)", "#energy (µJ/op)"],
        [figures_row(row, several) for _, row in found.iterrows()])
    for series, runs in best[best["wrong"] > 0].groupby("series", sort=False):
        page.add(f"<p><b>{escape(series)}</b>: {runs['wrong'].sum():g} answers were wrong.</p>")


def in_order(found, runs):
    order = {name: at for at, name in enumerate(dict.fromkeys(runs["workload"]))}
    return found.sort_values("workload", key=lambda names: names.map(order), kind="stable")


def figures_row(row, with_load):
    marks = [text for text, is_so in (("client saturated", row["saturated"]),
                                      ("energy modelled", row["modelled"])) if is_so]
    marks = "".join(f' <span class="mark">{text}</span>' for text in marks)
    return [escape(row["workload"]), escape(row["series"]) + marks,
            *([escape(row["load"])] if with_load else []), row["repetitions"],
            *(figure_cell(row, name) for name in
              ("throughput", "p50", "p99", "p99_9", "cpu_us", "client_cpu_us", "energy_uj"))]


def servers_table(page, best, target):
    """Watts, and the paper's table 5.2. Without a meter it says how to get one."""
    rows = cost.servers_table(best, target)
    have_power = any(row["power_w"] == row["power_w"] for row in rows)
    caption = (f"<b>Servers for {short(target)} operations a second</b>, and their energy an hour "
               "(paper 002, table 5.2). ")
    caption += ("Watts are those of one server, averaged over the run. Idle watts are from before "
                "any store was opened. " + power_note(best) if have_power else
                f'No meter measured watts, so dollars are unknown: <a href="#{HOW}">how to get a '
                "meter</a>.")
    if not all(row["workload"] for row in rows):
        caption += (" <b>All, evenly</b>: each workload has an even share of the operations. The "
                    "slow ones need most of the servers, so the throughput is the harmonic mean. "
                    "Watts and CPUs are means over these servers. The paper averages by the "
                    "arithmetic mean, which gives each workload an even share of the servers.")
    page.table(caption, [
        "workload", "store", "#watts", "#idle watts", "#CPUs used (%)", "#servers",
        *(f"#$/h at ${price:g} a kWh" for price in cost.ELECTRICITY), "#over the least"], [
        [escape(row["workload"] or "all, evenly"),
         escape(row["series"]) + (' <span class="mark">modelled</span>' if row["modelled"] else ""),
         known(row["power_w"]), known(row["idle_w"]), known(100 * row["utilization"]),
         f"{row['servers']:,}", *(known(dollars) for dollars in row["dollars_per_h"]),
         NONE if row["over_least"] != row["over_least"] else f"{row['over_least']:.2f} ×"]
        for row in rows])


def known(value):
    return NONE if value != value else escape(short(value))


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
        cells = ["none was found", NONE, NONE] if row.empty else [
            figure_cell(row.iloc[0], name) for name in ("throughput", "p50", "p99")]
        top = of[of["sweep_part"] == "top"]["throughput"].median()
        rows.append([escape(workload), escape(series), escape(limit_text(limit)), *cells,
                     known(top)])
    page.table("<b>The highest rate within a limit</b>", [
        "workload", "store", ">limit", "#operations/s", "#p50 there (µs)", "#p99 there (µs)",
        "#closed loop's operations/s"], rows)


def load_note(best):
    loads = list(dict.fromkeys(best["load"]))
    if len(loads) == 1:
        return f"Load: {escape(loads[0])}."
    return "Each at the load at which it did most (see the table of all figures)."


def embedded_note(best):
    names = list(dict.fromkeys(best[best["embedded"]]["series"]))
    if not names:
        return ""
    return f"Embedded, so the client's work is included: {escape(', '.join(names))}."


def energy_note(best):
    sources = sorted({text for text in best[~best["modelled"]]["energy_source"] if text})
    note = f"Measured by: {escape(', '.join(sources))}." if sources else ""
    of_models = best[best["modelled"]]
    models = dict(zip(of_models["series"], of_models["energy_source"]))
    if models:
        names = ", ".join(f"{name} ({source})" for name, source in models.items())
        note += f" * <b>Modelled, not measured</b>: {escape(names)}."
    return note


def power_note(best):
    """Of each way to know power, whose it is."""
    named = {}
    for _, row in best[best["power_w"].notna()].iterrows():
        key = ("modelled" if row["power_modelled"] else "measured", row["power_source"])
        named.setdefault(key, {})[row["series"]] = None
    texts = [f"{escape(', '.join(names))} {how}: {escape(source)}"
             for (how, source), names in named.items()]
    return f"Power of {'; '.join(texts)}."


def missing(page, title, runs, meters):
    """Says in a figure's place why there is none."""
    reasons = {}
    for meter in meters:
        for run in runs["run"]:
            reading = run.get("meters", {}).get(meter)
            why = ABSENT if reading is None else reading.get("unavailable")
            if not why and number(reading, "value") == 0:
                why = "it counted nothing"
            if why:
                reasons.setdefault(why, {})[meter] = None
    if len(reasons) > 1:
        reasons.pop(ABSENT, None)
    texts = [f"{', '.join(names)}: {why}" for why, names in reasons.items()]
    reason = f" ({'; '.join(texts)})" if texts else ""
    page.add(f'<p class="none">{escape(title)}: unavailable{escape(reason)}.</p>')


def cost_figure(page, base, runs, look, options):
    def curve_of(row, dollars_per_kwh, years):
        """(price, dollars an hour) of a run; empty without power."""
        if not row["power_w"] >= 0:
            return []
        servers = cost.servers_needed(options.target_throughput, row["throughput"])
        prices = [options.price_max * i / (PRICES - 1) for i in range(PRICES)]
        return [(price, cost.dollars_per_h(servers, price, years, row["power_w"], dollars_per_kwh))
                for price in prices]

    best = peak(runs)
    text = (f"Servers for {short(options.target_throughput)} operations a second: the cost of "
            "purchase and energy over their lifetime, per hour (paper 002, equations 5.1 to 5.3). "
            "Lines: the median throughput and the median watts, as in the table; shades: ranges of "
            f"the repetitions. {power_note(best)}")
    page.figure(f"{base}-cost", "Cost against purchase price", text, best["command"],
                lambda narrow: figures.cost_curves(runs, look, narrow, curve_of))


def meters(page, table):
    page.section("Meters")
    have, lack = {}, {}
    for _, row in table.iterrows():
        for name, meter in row["run"].get("meters", {}).items():
            if "unavailable" in meter:
                lack.setdefault((name, meter["unavailable"]), {})[row["series"]] = None
            else:
                key = (name, str(meter.get("unit", "")), str(meter.get("source", "")),
                       bool(meter.get("modelled")))
                have.setdefault(key, {})[row["series"]] = None
    if have:
        heads = ["meter", "unit", ">source", ">stores"]
        page.table("<b>What was metered, and how</b>", heads, [
            [escape(name) + (' <span class="mark">modelled</span>' if modelled else ""),
             escape(UNITS.get(unit, unit)), escape(source), escape(", ".join(of))]
            for (name, unit, source, modelled), of in sorted(have.items())])
    if lack:
        page.table("<b>What was unavailable, and why</b>", ["meter", ">reason", ">stores"], [
            [escape(name), escape(reason), escape(", ".join(of))]
            for (name, reason), of in sorted(lack.items())])
    if not have and not lack:
        page.add('<p class="none">The results have no meters.</p>')
    if table["power_w"].isna().any():
        page.add(f'<div class="how" id="{HOW}"><p><b>How to get an energy meter</b></p><ul>'
                 + "".join(f"<li>{text}</li>" for text in METERS_HOW) + "</ul></div>")


def left_out(page, rows):
    """What was to be measured and could not be."""
    if rows:
        page.section("Left out")
        page.table("<b>What was not measured, and why</b>",
                   ["target", "workload", ">reason"],
                   [[escape(text) or "all" for text in row] for row in rows])


def machines(page, table):
    page.section("Machines and settings")
    found, commits, settings, workloads = {}, {}, {}, {}
    for _, row in table.iterrows():
        run = row["run"]
        found.setdefault(row["machine"], dict(run["machine"]))
        commits.setdefault(row["machine"], {})[run.get("commit") or "–"] = None
        of = dig(run, "target.settings", {})
        settings.setdefault((row["series"], json.dumps(of, sort_keys=True)), of)
        workloads.setdefault(json.dumps(run["workload"], sort_keys=True), run["workload"])
    for machine, of in found.items():
        of["commit"] = ", ".join(commits[machine])
    names = list(dict.fromkeys(name for machine in found.values() for name in machine))
    page.table("<b>Machines</b>", ["", *(">" + name for name in found)], [
        [escape(name.replace("_", " ")), *(value_text(machine.get(name, "–"))
                                           for machine in found.values())]
        for name in names if name != "host_class"])
    page.table("<b>Stores and their settings</b>", ["store", ">settings"], [
        [escape(name), ", ".join(f"{escape(key)} = {value_text(value)}"
                                 for key, value in of.items()) or "none"]
        for (name, _), of in settings.items()])
    head = ["workload", ">operations", ">keys", "#records", "#key B", "#value B"]
    page.table("<b>Workloads</b>", head, [
        [escape(of["name"]),
         ", ".join(f"{escape(kind)} {share_text(share)}"
                   for kind, share in of.get("operations", {}).items()),
         escape(of.get("keys", "–")), escape(f"{of['records']:,}"
                                             if isinstance(of.get("records"), int) else "–"),
         escape(of.get("key_bytes", "–")), escape(of.get("value_bytes", "–"))]
        for of in workloads.values()])


def share_text(share):
    return f"{share * 100:g} %" if isinstance(share, (int, float)) else escape(share)


def value_text(value):
    if isinstance(value, float):
        return escape(f"{value:.4g}")
    return escape(value if isinstance(value, str) else json.dumps(value))
