"""Reads result files: a table with a row a repetition.

A line is checked before anything is drawn from it; what is wrong is a ReportError that begins with
FILE:LINE. Columns: `series` is the target, with its machine where there are several; `group` the
kind of store, for only those of one kind share an axis; `workload` and `load` are texts, `load`
with what else the run differs in from others of its experiment; `run` is the whole line. What was
not measured is NaN, never 0.
"""

import json
import math
import re

import pandas

FORMAT = "weft-bench run"
LEFT_OUT = "weft-bench left out"
VERSION = 1
REQUIRED = (
    ("target.name", str),
    ("machine.host_class", str),
    ("workload.name", str),
    ("load.loop", str),
    ("result.seconds", float),
    ("result.operations", float),
    ("result.operations_per_s", float),
    ("result.latency_us.all", dict),
)
OPTIONAL = (  # of these kinds where they are there
    ("experiment", str), ("setting", str), ("command_line", str), ("date", str), ("sweep", dict),
    ("machine", dict), ("target.title", str), ("target.settings", dict),
    ("workload.operations", dict), ("load.rate_per_s", float), ("load.threads", float),
    ("load.sessions", float), ("load.depth", float), ("load.repetition", float),
    ("result.slices", list), ("result.percentiles_us", list), ("meters", dict),
)
KINDS = {str: "a text", float: "a number", dict: "an object", list: "a list"}
SERVERS = "servers"
EMBEDDED = {"weft-cache": "embedded caches", "weft": "embedded durable stores",
            "leveldb": "embedded durable stores", "rocksdb": "embedded durable stores"}


class ReportError(Exception):
    """What the reader of the message can mend: a file, an option."""


def dig(line, path, otherwise=None):
    """What is at "result.latency_us" of a line; `otherwise` where nothing is there."""
    for name in path.split("."):
        if not isinstance(line, dict) or line.get(name) is None:
            return otherwise
        line = line[name]
    return line


def number(line, path):
    """As dig, but NaN for what is no number."""
    value = dig(line, path)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else math.nan


def check(line):
    """Why the line is no result; empty: it is one."""
    if not isinstance(line, dict) or line.get("format") != FORMAT:
        return f'not a result: "format" must be "{FORMAT}"'
    if line.get("version") != VERSION:
        return f"it has version {line.get('version')}, but this program reads {VERSION}"
    for path, kind in REQUIRED:
        value = dig(line, path)
        if value is None:
            return f"{path} is missing"
        if not is_kind(line, path, kind):
            return f"{path} is not {KINDS[kind]}"
        if kind is float and not (value > 0 and math.isfinite(value)):
            return f"{path} must be above 0, not {value}"
    for path, kind in OPTIONAL:
        if dig(line, path) is not None and not is_kind(line, path, kind):
            return f"{path} is not {KINDS[kind]}"
    return check_parts(line)


def is_kind(line, path, kind):
    return math.isfinite(number(line, path)) if kind is float else isinstance(dig(line, path), kind)


def check_parts(line):
    """Of the lists and of the meters."""
    for name, meter in dig(line, "meters", {}).items():
        has = not math.isnan(number(meter, "value")) or isinstance(dig(meter, "unavailable"), str)
        if not has:
            return f"meters.{name} has neither a value nor a reason"
    for part in dig(line, "result.slices", []):
        if any(math.isnan(number(part, name)) for name in ("at_s", "seconds", "operations")):
            return "result.slices has an element without at_s, seconds or operations"
    for point in dig(line, "result.percentiles_us", []):
        if not (isinstance(point, list) and len(point) == 2
                and all(not math.isnan(number({"of": of}, "of")) for of in point)):
            return "result.percentiles_us has an element that is not a pair of numbers"
    return ""


def count_of(value, one, many=None):
    return f"{value:g} {one if value == 1 else many or one + 's'}"


def load_text(load):
    """"closed loop, 2 threads, 8 sessions, depth 32"."""
    parts = [f"{load['loop']} loop"]
    if load.get("rate_per_s"):
        parts.append(f"{short(load['rate_per_s'])}/s")
    for name in ("thread", "session"):
        if load.get(name + "s"):
            parts.append(count_of(load[name + "s"], name))
    if load.get("depth"):
        parts.append(f"depth {load['depth']:g}")
    return ", ".join(parts)


def short(value):
    """1.23 M, 45.6 k, 0.0123: three digits."""
    if value is None or not math.isfinite(value):
        return "-"
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size * 0.9995:
            return f"{three(value / size)} {unit}"
    return three(value)


def limit_text(limit):
    """"p99 <= 10 s" of a sweep's "p99 <= 10000000 us"; any other text as it is."""
    found = re.fullmatch(r"(.* <= )([0-9.]+(?:e[+-]?[0-9]+)?) us", limit)
    if not found:
        return limit
    us = float(found[2])
    for unit, size in (("s", 1e6), ("ms", 1e3), ("µs", 1)):
        if us >= size:
            return f"{found[1]}{us / size:g} {unit}"
    return f"{found[1]}{us * 1e3:g} ns"


def three(value):
    if value == 0:
        return "0"
    rounded = abs(float(f"{value:.3g}"))  # so that 0.9999 is 1.00
    digits = max(0, 2 - math.floor(math.log10(rounded) + 1e-12))
    return f"{value:.{min(digits, 6)}f}"


def left_out_of(line):
    """(target, workload and load, why) of a line of what was not measured; None of any other."""
    if not isinstance(line, dict) or line.get("format") != LEFT_OUT:
        return None
    what = filter(None, (dig(line, "workload.name"), dig(line, "load")))
    return tuple(str(text) for text in (dig(line, "target.name", ""), " ".join(map(str, what)),
                                        dig(line, "why", "")))


def read_file(path, left_out):
    """The lines of a file, checked: (line number, line). What was not measured goes to the other
    list."""
    try:
        with open(path, encoding="utf-8") as file:
            texts = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    found = []
    for at, text in enumerate(texts, 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except ValueError as error:
            raise ReportError(f"{path}:{at}: not valid JSON: {error}") from error
        if left := left_out_of(line):
            left_out.append(left)
            continue
        if why := check(line):
            raise ReportError(f"{path}:{at}: {why}")
        found.append((at, line))
    if not found:
        raise ReportError(f"{path}: has no results")
    return found


def row_of(line):
    load = line["load"]
    meters = line.get("meters", {})
    operations = line["result"]["operations"]
    cpu = above_0(number(meters, "cpu_s.value"))  # it counts steps of 10 ms
    embedded = bool(dig(line, "target.embedded", False))
    energy, energy_source = energy_of(meters, line["result"]["seconds"])
    return {
        "machine": line["machine"]["host_class"],
        "target": line["target"]["name"],
        "title": line["target"].get("title") or line["target"]["name"],
        "experiment": line.get("experiment") or "",
        "workload": line["workload"]["name"],
        "load": ", ".join(filter(None, (load_text(load), line.get("setting")))),
        "loop": load["loop"],
        "rate": number(load, "rate_per_s"),
        "repetition": load.get("repetition", 0),
        "throughput": line["result"]["operations_per_s"],
        "mean": above_0(number(line, "result.latency_us.all.mean")),
        "p50": above_0(number(line, "result.latency_us.all.p50")),
        "p99": above_0(number(line, "result.latency_us.all.p99")),
        "p99_9": above_0(number(line, "result.latency_us.all.p99_9")),
        "cpu_us": cpu / operations * 1e6,
        # Of an embedded store it is the store's, too.
        "client_cpu_us": math.nan if embedded else above_0(
            number(line, "result.client.cpu_us_per_operation")),
        "embedded": embedded,
        "group": group_of(line["target"]["name"], embedded),
        "energy_uj": energy / operations * 1e6,
        "ops_per_j": operations / energy if energy > 0 else math.nan,
        "power_w": energy / line["result"]["seconds"],
        "idle_w": above_0(number(meters, "idle_power_w.value")),
        "energy_source": energy_source,
        "utilization": utilization_of(line, cpu),
        "modelled": any(bool(meters.get(name, {}).get("modelled"))
                        for name in ("energy_j", "power_w_mean", "gpu_energy_j")),
        "saturated": bool(dig(line, "result.client.saturated", False)),
        "wrong": number(line, "result.outcomes.wrong"),
        "sweep_part": dig(line, "sweep.part", ""),
        "sweep_limit": dig(line, "sweep.limit", ""),
        "sweep_holds": bool(dig(line, "sweep.holds", False)),
        "sweep_counts": bool(dig(line, "sweep.counts", True)),
        "command": line.get("command_line") or "",
        "run": line,
    } | experiment_of(line)


def experiment_of(line):
    """What the experiments of paper 002 add to their lines; NaN, or empty, where they do not."""
    def percent(path):
        return 100 * number(line, path)
    ipc = number(line, "efficiency.ipc_per_core.value")
    return {
        "part": dig(line, "efficiency.threads", ""),
        "busy": above_0(percent("efficiency.busy")),
        "ipc": above_0(number(line, "bandwidth.ipc.value") if math.isnan(ipc) else ipc),
        "branch_misses": percent("efficiency.branch_miss_ratio.value"),
        "cache_misses": percent("efficiency.cache_miss_ratio.value"),
        "left_gb": number(line, "bandwidth.left_bytes_per_s") / 1e9,
        "machine_gb": number(line, "bandwidth.machine_bytes_per_s") / 1e9,
        "per_hardware_thread": number(line, "oversubscription.threads_per_hardware_thread"),
        "block_cache": percent("block_cache.fraction"),
    }


def above_0(value):
    """A meter that counted nothing did not measure."""
    return value if value > 0 else math.nan


def group_of(target, embedded):
    return EMBEDDED.get(target, "embedded stores") if embedded else SERVERS


def utilization_of(line, cpu_s):
    """The share of the machine's CPU time that the store's processes used."""
    cpus = above_0(number(line, "machine.cpus"))
    share = cpu_s / (cpus * line["result"]["seconds"])
    return share if math.isnan(share) else min(1.0, share)


def energy_of(meters, seconds):
    """Joules and what told them. The processor's own counter sees no GPU, a meter of the whole
    server does, so a GPU's joules are added to the first alone, where they are not in it."""
    energy, source = number(meters, "energy_j.value"), dig(meters, "energy_j.source", "")
    if math.isnan(energy):
        energy = number(meters, "power_w_mean.value") * seconds
        source = dig(meters, "power_w_mean.source", "")
    gpu = number(meters, "gpu_energy_j.value")
    if not math.isnan(gpu) and "rapl" in source.lower() and "nvml" not in source.lower():
        energy += gpu
        source += " + " + dig(meters, "gpu_energy_j.source", "GPU")
    energy = above_0(energy)
    return energy, source if not math.isnan(energy) else ""


def read(paths):
    """All files as one table, in the order of the files; the same line twice is one run. Its
    attribute `left_out` has what was not measured."""
    rows, left_out = {}, []
    for path in paths:
        for at, line in read_file(path, left_out):
            rows.setdefault(json.dumps(line), row_of(line) | {"file": str(path), "line": at})
    table = pandas.DataFrame(list(rows.values()))
    several = table["machine"].nunique() > 1
    table["series"] = table["title"] + (" on " + table["machine"] if several else "")
    table.attrs["left_out"] = list(dict.fromkeys(left_out))
    return table


PER_OPERATION = ("cpu_us", "client_cpu_us", "energy_uj")  # microseconds, microjoules


def medians(table, by):
    """Of each group: median, least and most of what is drawn. What is spent on an operation is no
    median of its own: see per_operation."""
    columns = ["throughput", "mean", "p50", "p99", "p99_9", "cpu_us", "client_cpu_us", "energy_uj",
               "power_w", "idle_w", "utilization", "ops_per_j", "ipc", "branch_misses",
               "cache_misses", "left_gb"]
    grouped = table.groupby(by, sort=False, dropna=False)
    found = grouped[columns].agg(["median", "min", "max"])
    found.columns = [f"{name}_{kind}" for name, kind in found.columns]
    for name in PER_OPERATION:
        found[f"{name}_median"] = per_operation(table, by, name).clip(
            found[f"{name}_min"], found[f"{name}_max"])  # of a single run rounding leaves it
    found["ops_per_j_median"] = 1e6 / found["energy_uj_median"]
    found["repetitions"] = grouped.size()
    for name in ("modelled", "power_modelled", "saturated", "embedded"):
        if name in table:
            found[name] = grouped[name].any()
    return found.reset_index()


def per_operation(table, by, name):
    """Of each group what was spent a second over what was done a second: the median of the one over
    the median of the other, of the runs that have both. A median of the runs' own ratios would be
    dearer where their throughputs differ, and contradict the servers and dollars that are worked
    out from the median throughput. It lies within the range of the ratios."""
    both = table.assign(spent=table[name] * table["throughput"],
                        done=table["throughput"].where(table[name].notna()))
    found = both.groupby(by, sort=False, dropna=False)[["spent", "done"]].median()
    return found["spent"] / found["done"]


def peak(table):
    """Of each experiment, workload and series the runs at one load: the closed loop with the
    highest median throughput; an open one where there is no closed. The column `loads` has how many
    there were."""
    kept = []
    for _, runs in table.groupby(["experiment", "workload", "series"], sort=False):
        closed = runs[runs["loop"] == "closed"]
        runs = runs if closed.empty else closed
        by_load = runs.groupby("load", sort=False)["throughput"].median()
        best = runs[runs["load"] == by_load.idxmax()].copy()
        best["loads"] = len(by_load)
        kept.append(best)
    return pandas.concat(kept)


def typical(runs):
    """The repetition with the median throughput (the lower one of two)."""
    ordered = runs.sort_values("throughput", kind="stable")
    return ordered.iloc[(len(ordered) - 1) // 2]


def highest(table):
    """Of each workload and series of a sweep the highest rate that kept its limit: the runs that
    confirmed it, of which most did."""
    kept = []
    runs = table[(table["sweep_part"] == "highest") & table["sweep_counts"]]
    by = ["workload", "series", "sweep_limit", "command", "repetition"]
    for _, of in runs.groupby(by, sort=False):
        confirmed = of[of["rate"] == of["rate"].min()]  # the last; those above were refuted
        if confirmed["sweep_holds"].mean() > 0.5:
            kept.append(confirmed)
    return pandas.concat(kept) if kept else runs.iloc[:0]
