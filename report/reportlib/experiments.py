"""The figures of paper 002's experiments, 4.1 to 4.8, from the runs of weft-bench efficiency,
bandwidth, oversubscription and block-cache: each where its results are there."""

from dataclasses import dataclass, field
from typing import Callable

from matplotlib import ticker

from reportlib import figures
from reportlib.results import medians, peak, short

PARTS = {"one": "one thread", "all": "all hardware threads"}
LATENCIES = (("mean", "mean"), ("p99", "p99"), ("p99_9", "p99.9"))


@dataclass
class Plot:
    """`draw(narrow)` gives a picture or None; then `meters` tell why."""
    name: str
    title: str
    text: str
    runs: object
    draw: Callable
    meters: tuple = field(default=())


def plots(runs, look):
    """Those of an experiment's runs, in the paper's order; none: it is not one of these."""
    return [*efficiency(runs, look), *bandwidth(runs, look), *oversubscription(runs, look),
            *block_cache(runs, look)]


def efficiency(runs, look):
    of = runs[runs["part"] != ""]
    for part in dict.fromkeys(of["part"]):
        yield from efficiency_part(of[of["part"] == part], look, part)


def efficiency_part(runs, look, part):
    threads = PARTS.get(part, f"{part} threads")
    slug = threads.replace(" ", "-")
    least = runs["busy"].min()
    busy = "" if least != least else f" The CPUs were {least:.0f} % busy or more."
    modelled = peak(runs)["modelled"].any()
    marked = " * Modelled, not measured; see the meters." if modelled else ""

    def plot(name, title, column, unit, text, meters=()):
        return Plot(f"{name}-{slug}", f"{title}, {threads}", text, runs,
                    lambda narrow: figures.bars(runs, look, narrow, column, unit), meters)

    yield plot("operations-per-joule", "Operations per joule", "ops_per_j", "operations per joule",
               f"What energy was spent on (paper 002, figure 4.1).{busy}{marked}",
               ("energy_j", "power_w_mean"))
    yield plot("throughput", "Throughput", "throughput", "operations per second",
               f"Paper 002, figures 4.2 and 4.3.{busy}")
    yield plot("ipc", "Instructions per cycle and core", "ipc", "instructions per cycle",
               "Of a core, whose hardware threads work together (paper 002, figures 4.2 and 4.3).",
               ("instructions", "cycles"))
    yield plot("branch-misses", "Branch misses", "branch_misses", "branches missed (%)",
               "Paper 002, figure 4.4.", ("branches", "branch_misses"))
    yield plot("cache-misses", "Last-level cache misses", "cache_misses",
               "last-level references missed (%)", "Paper 002, figures 4.4 and 4.5.",
               ("cache_references", "cache_misses"))


def bandwidth(runs, look):
    of = runs[runs["left_gb"].notna()]
    if of.empty:
        return
    machines = ", ".join(f"{short(most)} GB/s on {machine}" for machine, most in
                         of.groupby("machine", sort=False)["machine_gb"].max().items())
    text = ("A hog beside the store takes a set share. The rest is the machine's bandwidth "
            f"({machines}, by a triad) minus the hog's (paper 002, figure 4.6).")
    for name, title, column, label, meters in (
            ("bandwidth-throughput", "Throughput", "throughput", "operations per second", ()),
            ("bandwidth-ipc", "Instructions per cycle", "ipc", "instructions per cycle",
             ("instructions", "cycles"))):
        yield Plot(name, f"{title} against the memory bandwidth left", text, of,
                   lambda narrow, column=column, label=label: against(
                       of, look, narrow, "left_gb", "memory bandwidth left (GB/s)",
                       [(column, "", label)]), meters)


def oversubscription(runs, look):
    of = runs[runs["per_hardware_thread"].notna()]
    if not of.empty:
        yield Plot("latency-threads", "Latency against threads per hardware thread",
                   "Client threads share the hardware threads with each other and with the store "
                   "(paper 002, figure 4.7).", of,
                   lambda narrow: latencies(of, look, narrow, "per_hardware_thread",
                                            "threads per hardware thread"))


def block_cache(runs, look):
    of = runs[runs["block_cache"].notna() & ~runs["workload"].str.endswith("-load")]
    if not of.empty:
        yield Plot("latency-block-cache", "Latency against the size of the block cache",
                   "0: no block cache (paper 002, figure 4.8).", of,
                   lambda narrow: latencies(of, look, narrow, "block_cache",
                                            "block cache (% of the data)"))


def latencies(table, look, narrow, x, x_label):
    return against(table, look, narrow, x, x_label,
                   [(column, title, "latency (µs)") for column, title in LATENCIES], log=True)


def against(table, look, narrow, x, x_label, values, log=False):
    """A row a workload, a panel a value: its median against `x`, and its range as a line. `values`:
    (column, title, label)."""
    by = ["workload", "series"] + (["load"] if x == "left_gb" else ["load", x])
    found = medians(table, by)
    found = found[found[[f"{column}_median" for column, _, _ in values]].notna().all(axis=1)]
    if found.empty:
        return None
    place = f"{x}_median" if x == "left_gb" else x
    names = [name for name in figures.names_of(table) if name in set(found["series"])]
    panels = [(workload, value) for workload in dict.fromkeys(found["workload"])
              for value in values]
    columns = max(2, len(values))
    figure, axes = figures.curve_figure(len(panels), columns, narrow, 2.1, names, look, True)
    for axis, (workload, (column, title, label)) in zip(axes, panels):
        for name in names:
            of = found[(found["workload"] == workload) & (found["series"] == name)]
            draw_line(axis, of.sort_values(place), place, column, look.line(name))
        axis.set_title(f"{workload}, {title}" if title else workload)
        axis.set_xlabel(x_label)
        axis.set_ylabel(label)
        axes_of(axis, sorted(set(found[place])), x, log)
    return figure


def draw_line(axis, of, place, column, line):
    x, y = of[place].to_numpy(), of[f"{column}_median"].to_numpy()
    low, high = of[f"{column}_min"].to_numpy(), of[f"{column}_max"].to_numpy()
    axis.plot(x, y, **line)
    axis.errorbar(x, y, fmt="none", ecolor=line["color"], elinewidth=0.8, alpha=0.7,
                  yerr=[y - low, high - y])


def axes_of(axis, places, x, log):
    if x == "per_hardware_thread":
        axis.set_xscale("log", base=2)
        axis.xaxis.set_minor_locator(ticker.NullLocator())
    if x == "left_gb":
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(ticker.MaxNLocator(5))
    else:
        axis.set_xticks(places, [f"{place:g}" for place in places])
    if log:
        axis.set_yscale("log")
        figures.log_axis(axis.yaxis, axis.get_ylim())
    else:
        axis.set_ylim(bottom=0)
        axis.yaxis.set_major_locator(ticker.MaxNLocator(4))
        figures.si_axis(axis.yaxis)
