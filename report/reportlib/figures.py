"""The figures of the page. Each function takes the table of an experiment's runs and gives a
picture, or None where there is nothing to draw; `narrow` draws it for a narrow window."""

import math

from matplotlib import lines, ticker

from reportlib import style
from reportlib.cost import ELECTRICITY, LIFETIMES_YEARS
from reportlib.results import above_0, dig, highest, medians, number, peak, short, typical

CLOSED = "hollow: closed loop"  # in a legend
SI = ticker.FuncFormatter(lambda value, _: short_tick(value))


def short_tick(value):
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size * 0.9995:
            return f"{value / size:g} {unit}"
    return f"{value:g}"


def si_axis(axis):
    axis.set_major_formatter(SI)
    axis.set_minor_formatter(ticker.NullFormatter())


def log_axis(axis, limits):
    """Ticks at powers of ten; where these would be few, within them as well; in a range that has
    none of these, at round numbers."""
    low, high = (math.log10(limit) for limit in limits)
    steps = (1,) if high - low > 2.5 else (1, 2, 5) if high - low > 1 else (1, 2, 3, 5, 7)
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks = [step * 10.0 ** power for power in powers for step in steps]
    inside = [tick for tick in ticks if limits[0] <= tick <= limits[1]]
    if len(inside) < 2:
        ticks = ticker.MaxNLocator(4).tick_values(*limits)
        inside = [tick for tick in ticks if limits[0] <= tick <= limits[1]]
    axis.set_major_locator(ticker.FixedLocator(inside[::math.ceil(len(inside) / 6)]))
    axis.set_minor_locator(ticker.NullLocator())
    si_axis(axis)


def names_of(table):
    return list(dict.fromkeys(table["series"]))


def wrapped(text, width):
    """In lines of at most `width` letters, broken at spaces where there are any."""
    lines_ = [""]
    for word in text.split(" "):
        if lines_[-1] and len(lines_[-1]) + 1 + len(word) > width:
            lines_.append("")
        lines_[-1] += (" " if lines_[-1] else "") + word
    return "\n".join(lines_)


def bars(table, look, narrow, value, unit, columns=2):
    """A panel a workload, a bar a series: the median of `value`, and its range as a line."""
    found = medians(peak(table), ["workload", "series"])
    found = found[found[f"{value}_median"].notna()]
    if found.empty:
        return None
    names = [name for name in names_of(table) if name in set(found["series"])]
    workloads = list(dict.fromkeys(found["workload"]))
    labels = [wrapped(name, 18 if narrow else 22) for name in names]
    height = 0.62 + sum(0.12 + 0.13 * label.count("\n") + 0.14 for label in labels)
    figure, axes = style.grid(len(workloads), columns, narrow, height)
    columns = 1 if narrow else min(columns, len(workloads))
    for at, (axis, workload) in enumerate(zip(axes, workloads)):
        of = found[found["workload"] == workload].set_index("series")
        draw_bars(axis, of, names, look, value)
        axis.set_title(workload)
        axis.set_yticks(range(len(names)), labels if at % columns == 0 else [""] * len(names))
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(len(names) - 0.4, -0.6)
        axis.grid(axis="y", visible=False)
        axis.xaxis.set_major_locator(ticker.MaxNLocator(4, min_n_ticks=2, prune="upper"))
        si_axis(axis.xaxis)
        if at >= len(workloads) - columns:
            axis.set_xlabel(unit)
    return figure


def draw_bars(axis, of, names, look, value):
    most = of[f"{value}_max"].max()
    for place, name in enumerate(names):
        if name not in of.index:
            axis.text(most * 0.02, place, "not measured", va="center", color=style.SOFT, size=7.5,
                      style="italic")
            continue
        row = of.loc[name]
        middle, low, high = (row[f"{value}_{kind}"] for kind in ("median", "min", "max"))
        axis.barh(place, middle, 0.62, **look.bar(name))
        if row["repetitions"] > 1:
            axis.errorbar(middle, place, xerr=[[middle - low], [high - middle]], color=style.INK,
                          linewidth=1, capsize=2.5, capthick=1)
        of_energy = value in ("energy_uj", "ops_per_j")
        marks = short(middle) + ("*" if row["modelled"] and of_energy else "")
        axis.text(high + most * 0.025, place, marks, va="center", size=7.5)
    axis.set_xlim(0, most * 1.24)


def throughput(table, look, narrow):
    return bars(table, look, narrow, "throughput", "operations per second")


def energy(table, look, narrow):
    return bars(table, look, narrow, "energy_uj", "energy per operation (µJ)")


def cpu(table, look, narrow):
    return bars(table, look, narrow, "cpu_us", "CPU time per operation (µs)")


def curve_figure(panels, columns, narrow, panel_in, names, look, markers):
    """Axes with the legend of their lines above."""
    handles = [hollow() if name == CLOSED else
               lines.Line2D([], [], **(look.line(name) | ({} if markers else {"marker": ""})))
               for name in names]
    rows = style.legend_rows(names, narrow)
    figure, axes = style.grid(panels, columns, narrow, panel_in, rows)
    style.legend(figure, handles, names, narrow)
    return figure, axes


def hollow():
    return lines.Line2D([], [], color=style.SOFT, marker="o", linestyle="none",
                        markerfacecolor="white")


def latency_curves(table, look, narrow):
    """Where a workload was run at several loads: latency against throughput; a row a workload, p50
    on the left and p99 on the right. Rings: the highest rate that keeps the limit, where a sweep
    looked for it; what it tried on the way, at rates of each repetition's own, is no part of the
    line."""
    rings = medians(highest(table), ["workload", "series"])
    # What differs by its setting, not by its load, is no curve.
    table = table[[not run.get("setting") for run in table["run"]]]
    table = table[~table["sweep_part"].isin(("search", "highest"))]
    # By the rate too: the text of a load has three digits of it.
    found = medians(table, ["workload", "series", "loop", "load", "rate"])
    counts = found.drop_duplicates(["workload", "load", "rate"]).groupby("workload").size()
    workloads = [name for name in dict.fromkeys(found["workload"]) if counts[name] > 1]
    if not workloads:
        return None
    found = found[found["workload"].isin(workloads)]
    names = [name for name in names_of(table) if name in set(found["series"])]
    labels = names + ([CLOSED] if (found["loop"] == "closed").any() else [])
    figure, axes = curve_figure(2 * len(workloads), 2, narrow, 2.1, labels, look, True)
    panels = [(workload, which) for workload in workloads for which in ("p50", "p99")]
    for axis, (workload, which) in zip(axes, panels):
        for name in names:
            of = found[(found["workload"] == workload) & (found["series"] == name)]
            # By what was asked for: where a store can't keep up its throughput falls again.
            for loop, points in of.sort_values(["rate", "throughput_median"]).groupby("loop"):
                draw_curve(axis, points, look.line(name), which, loop == "closed")
            ring = rings[(rings["workload"] == workload) & (rings["series"] == name)]
            axis.plot(ring["throughput_median"].to_numpy(), ring[f"{which}_median"].to_numpy(),
                      "o", markersize=11, markerfacecolor="none", color=look.line(name)["color"])
        axis.set_title(f"{workload}, {which}")
        axis.set_yscale("log")
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(ticker.MaxNLocator(5))
        si_axis(axis.xaxis)
        log_axis(axis.yaxis, axis.get_ylim())
        axis.set_xlabel("operations per second")
        axis.set_ylabel("latency (µs)")
    return figure


def draw_curve(axis, of, line, which, is_closed):
    """Open loops are joined. A closed one stands for itself: its latency is of another kind."""
    # Arrays: of a table's columns with a single row matplotlib would make numbers, and be warned.
    x, x_low, x_high = (of[f"throughput_{kind}"].to_numpy() for kind in ("median", "min", "max"))
    y, y_low, y_high = (of[f"{which}_{kind}"].to_numpy() for kind in ("median", "min", "max"))
    axis.plot(x, y, **line | ({"linestyle": "none", "markerfacecolor": "white"} if is_closed
                              else {}))
    axis.errorbar(x, y, fmt="none", ecolor=line["color"], elinewidth=0.8, alpha=0.7,
                  xerr=[x - x_low, x_high - x], yerr=[y - y_low, y_high - y])


def nines(percentile):
    """How many nines: 0 for 0, 1 for 90, 2 for 99, 3 for 99.9."""
    return -math.log10(1 - percentile / 100)


def nines_points(run):
    """(nines, microseconds), up to the last one that the number of samples can tell; the greatest
    latency lies where one of them is."""
    count = dig(run, "result.latency_us.all.count") or dig(run, "result.operations")
    last = math.log10(max(count, 10))
    points = [(min(nines(p), last) if p < 100 else last, us)
              for p, us in dig(run, "result.percentiles_us", [])]
    return sorted((x, y) for x, y in points if y > 0)


def percentiles(table, look, narrow):
    table = peak(table)
    table = table[[len(nines_points(run)) > 1 for run in table["run"]]]
    if table.empty:
        return None
    workloads = list(dict.fromkeys(table["workload"]))
    names = names_of(table)
    figure, axes = curve_figure(len(workloads), 2, narrow, 2.1, names, look, False)
    for axis, workload in zip(axes, workloads):
        most = 1.0
        for name in names:
            runs = table[(table["workload"] == workload) & (table["series"] == name)]
            if runs.empty:
                continue
            most = max(most, draw_percentiles(axis, runs, look.line(name) | {"marker": ""}))
        marks = list(range(1, int(most) + 1, 2 if most >= (5 if narrow else 7) else 1))
        axis.set_xticks([nines(50), *marks], ["50", *(nines_label(mark) for mark in marks)])
        axis.set_xlim(0, most * 1.02)
        axis.set_yscale("log")
        log_axis(axis.yaxis, axis.get_ylim())
        axis.set_title(workload)
        axis.set_xlabel("percentile (%)")
        axis.set_ylabel("latency (µs)")
    return figure


def nines_label(mark):
    return f"{100 - 100 / 10 ** mark:.{max(0, mark - 2)}f}"


def draw_percentiles(axis, runs, line):
    middle = typical(runs)
    for _, row in runs.iterrows():
        points = nines_points(row["run"])
        is_middle = row["run"] is middle["run"]
        axis.plot(*zip(*points), **line, **({} if is_middle else {"alpha": 0.3, "linewidth": 0.8}))
    return max(x for x, _ in nines_points(middle["run"]))


def time_series(table, look, narrow):
    """Throughput, and p99, of each slice of the typical repetition; a row a workload."""
    table = peak(table)
    table = table[[len(dig(run, "result.slices", [])) > 1 for run in table["run"]]]
    if table.empty:
        return None
    workloads, names = list(dict.fromkeys(table["workload"])), names_of(table)
    figure, axes = curve_figure(2 * len(workloads), 2, narrow, 1.75, names, look, False)
    kinds = (("throughput", "operations per second"), ("p99", "p99 latency (µs)"))
    panels = [(workload, kind) for workload in workloads for kind in kinds]
    for axis, (workload, (kind, label)) in zip(axes, panels):
        for name in names:
            runs = table[(table["workload"] == workload) & (table["series"] == name)]
            if runs.empty:
                continue
            x, y = slices(typical(runs)["run"], kind)
            axis.plot(x, y, **(look.line(name) | {"marker": ""}))
            shade(axis, x, [slices(run, kind)[1] for run in runs["run"]], look.line(name)["color"])
        axis.set_title(f"{workload}, {kind}")
        if kind == "throughput":
            axis.set_ylim(bottom=0)
            axis.yaxis.set_major_locator(ticker.MaxNLocator(4))
            si_axis(axis.yaxis)
        else:
            axis.set_yscale("log")
            log_axis(axis.yaxis, axis.get_ylim())
        axis.set_xlim(left=0)
        axis.set_xlabel("time (s)")
        axis.set_ylabel(label)
    return figure


def shade(axis, x, repetitions, color):
    """Between the least and the most of the repetitions, as far as all of them go. A repetition
    that measured nothing at a place has no part in it there; where none did there is a gap."""
    if len(repetitions) < 2:
        return
    columns = [[y for y in ys if not math.isnan(y)] or [math.nan]
               for ys in zip(*repetitions)][:len(x)]
    axis.fill_between(x[:len(columns)], [min(ys) for ys in columns], [max(ys) for ys in columns],
                      color=color, alpha=0.15, linewidth=0)


def slices(run, kind):
    """The middle of each slice, and its rate or p99. A slice without operations has the rate 0,
    which was measured, and a gap for its p99, which was not."""
    x, y = [], []
    for part in run["result"]["slices"]:
        x.append(part["at_s"] + part["seconds"] / 2)
        rate = part["operations"] / part["seconds"] if part["seconds"] > 0 else math.nan
        latency = above_0(number(part, "p99_us")) if part["operations"] else math.nan
        y.append(rate if kind == "throughput" else latency)
    return x, y


def cost_curves(table, look, narrow, curve_of):
    """Cost an hour against purchase price; a row a workload, a column a price of electricity.
    `curve_of(run, dollars_per_kwh, years)` gives (price, dollars an hour) or nothing; instead of a
    run it takes the medians of `throughput` and `power_w`, as the table of servers has them."""
    all_runs = peak(table)
    best = all_runs[[bool(curve_of(row, ELECTRICITY[0], LIFETIMES_YEARS[0]))
                     for _, row in all_runs.iterrows()]]
    if best.empty:
        return None
    middles = all_runs.groupby(["workload", "series"])[["throughput", "power_w"]].median()
    drawn = list(best.groupby("workload", sort=False))
    names = [name for name in names_of(table) if name in set(best["series"])]
    labels = names + [f"{years} years" for years in LIFETIMES_YEARS]
    handles = [lines.Line2D([], [], color=look.of[name][0], marker=look.of[name][2])
               for name in names]
    handles += [lines.Line2D([], [], color=style.INK, linestyle=dashes)
                for dashes in style.DASHES[:len(LIFETIMES_YEARS)]]
    figure, axes = style.grid(2 * len(drawn), 2, narrow, 2.1, style.legend_rows(labels, narrow))
    style.legend(figure, handles, labels, narrow)
    panels = [(workload, of, price) for workload, of in drawn for price in ELECTRICITY]
    for axis, (workload, of, electricity) in zip(axes, panels):
        for name, runs in of.groupby("series", sort=False):
            for years, dashes in zip(LIFETIMES_YEARS, style.DASHES):
                middle = curve_of(middles.loc[(workload, name)], electricity, years)
                curves = [curve_of(row, electricity, years) for _, row in runs.iterrows()]
                draw_costs(axis, middle, curves, look.line(name) | {"linestyle": dashes})
        axis.set_title(f"{workload}, \\${electricity:g} per kWh")
        axis.set_xlim(left=0)
        axis.set_ylim(bottom=0)
        axis.xaxis.set_major_locator(ticker.MaxNLocator(5))
        si_axis(axis.xaxis)
        si_axis(axis.yaxis)
        axis.set_xlabel("purchase price of a server (\\$)")
        axis.set_ylabel("cost of all servers (\\$/h)")
    return figure


def draw_costs(axis, middle, curves, line):
    """The curve of the medians, and the range of the repetitions' own."""
    prices, dollars = zip(*middle)
    axis.plot(prices, dollars, markevery=0.25, **line)
    shade(axis, prices, [[cost for _, cost in curve] for curve in curves], line["color"])
