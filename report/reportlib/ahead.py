"""Who is ahead at what: of stores of one kind, workload by workload.

Ahead is who is best by the median, where its worst repetition is better than the best of all
others, as weft-bench compare has it of two. Of single runs the noise is not known: the best is
named, and it is said that they were single. Nobody is ahead where the client was the limit or
answers were wrong. Modelled energy is marked wherever it was compared.
"""

import math
from collections import Counter
from dataclasses import dataclass, replace

from reportlib.results import medians, peak, short


@dataclass
class Measure:
    column: str
    name: str
    headline: str
    more_is_better: bool
    at_one_load: bool  # told only where all ran at the same load
    of_energy: bool = False


NAMED_MOST = 8  # more workloads are counted, not named
MEASURES = (
    Measure("throughput", "operations a second", "Most operations a second", True, False),
    Measure("p99", "p99 latency", "Lowest p99 latency", False, True),
    Measure("ops_per_j", "operations a joule", "Most operations a joule", True, False,
            of_energy=True))


@dataclass
class Verdict:
    """Of a measure and a workload."""
    series: str = ""   # who is ahead; empty: nobody
    ratio: float = math.nan  # how many times as good as the next
    other: str = ""    # the next
    single: bool = False
    why: str = ""      # nobody is
    compared: tuple = ()  # the series
    modelled: tuple = ()  # those of them whose figures no meter told


def verdict(found, measure):
    """`found`: medians of a workload, a row a series."""
    of = found[found[f"{measure.column}_median"].notna()]
    modelled = tuple(of[of["modelled"]]["series"]) if measure.of_energy else ()
    return replace(judged(of, measure), compared=tuple(of["series"]), modelled=modelled)


def judged(of, measure):
    """Of those that have the measure."""
    column = measure.column
    if len(of) < 2:
        return Verdict(why="not measured" if of.empty else "only one store has it")
    if measure.at_one_load and of["load"].nunique() > 1:
        return Verdict(why="not at the same load")
    if of["saturated"].any():
        return Verdict(why="the client was the limit")
    ordered = of.sort_values(f"{column}_median", ascending=not measure.more_is_better)
    first, second = ordered.iloc[0], ordered.iloc[1]
    others = ordered.iloc[1:]
    single = bool(ordered["repetitions"].min() < 2)
    best, next_best = first[f"{column}_median"], second[f"{column}_median"]
    ratio = best / next_best if measure.more_is_better else next_best / best
    if measure.more_is_better:
        apart = first[f"{column}_min"] > others[f"{column}_max"].max()
    else:
        apart = first[f"{column}_max"] < others[f"{column}_min"].min()
    if not apart:
        return Verdict(ratio=ratio, single=single, why="too close to tell")
    return Verdict(first["series"], ratio, second["series"], single)


def verdicts(runs):
    """{(experiment, workload): {measure's name: Verdict}} of runs of one kind of store."""
    right = runs[~(runs["wrong"] > 0)]
    if right.empty:
        return {}
    best = peak(right)
    found = medians(best, ["experiment", "workload", "series", "load"])
    return {case: {measure.name: verdict(of, measure) for measure in MEASURES}
            for case, of in found.groupby(["experiment", "workload"], sort=False)}


def places_text(workloads, all_of, is_short):
    """"all 7 workloads", "ycsb-a and ycsb-b", "5 of 24 workloads"."""
    if len(workloads) == len(all_of) > 1:
        return "both workloads" if len(all_of) == 2 else f"all {len(all_of)} workloads"
    if len(all_of) > NAMED_MOST or (is_short and len(all_of) > 1):
        return f"{len(workloads)} of {len(all_of)} workloads"
    return listed(workloads)


def listed(names):
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def group_text(cases, measure, is_short):
    """"Weft at ycsb-a and ycsb-b, Redis at ycsb-c"; empty where nothing is compared."""
    compared = {case: of[measure.name] for case, of in cases.items()
                if of[measure.name].ratio == of[measure.name].ratio}
    several = len({experiment for experiment, _ in compared}) > 1
    wins = {}
    for (experiment, workload), one in compared.items():
        name = f"{workload} ({experiment or 'other'})" if several else workload
        wins.setdefault(one.series, []).append(name)
    even = wins.pop("", [])  # the table tells of these
    ordered = sorted(wins.items(), key=lambda win: -len(win[1]))
    parts = [f"{series} at {places_text(places, compared, is_short)}"
             for series, places in ordered]
    return ", ".join(parts) or ("nobody clearly" if even else "")


def modelled_text(told):
    """Behind a measure's name: " (modelled)" where all that was compared was, otherwise whose."""
    compared = Counter(name for one in told for name in one.compared)
    modelled = Counter(name for one in told for name in one.modelled)
    if modelled == compared:
        return " (modelled)" if modelled else ""
    if len(modelled) > NAMED_MOST:
        return f" (modelled for {len(modelled)} of {len(compared)} stores)"
    whole = [name for name in modelled if modelled[name] == compared[name]]
    parts = [f"partly {name}" for name in modelled if modelled[name] < compared[name]]
    return f" (modelled for {listed(whole + parts)})" if modelled else ""


def sentences(table):
    """For the head of the page, one a measure: who is ahead at what."""
    of_groups = {group: verdicts(runs) for group, runs in table.groupby("group", sort=False)}
    told = [one for cases in of_groups.values() for of in cases.values() for one in of.values()]
    found = []
    for measure in MEASURES:
        is_short = measure is not MEASURES[0]
        texts = {group: group_text(cases, measure, is_short)
                 for group, cases in of_groups.items()}
        parts = [f"of {group} {text}" if len(of_groups) > 1 else text
                 for group, text in texts.items() if text]
        mark = modelled_text([of[measure.name] for cases in of_groups.values()
                              for of in cases.values()
                              if of[measure.name].ratio == of[measure.name].ratio])
        if parts:
            found.append(f"{measure.headline}{mark}: {'; '.join(parts)}.")
    if not found:
        return [f"Nobody is ahead: {nobody(told)}."]
    if any(one.single and one.series for one in told):
        found.append("These are single runs, so their variation is unknown.")
    return found


def nobody(told):
    whys = dict.fromkeys(one.why for one in told if one.why not in ("", "not measured"))
    return " or ".join(whys) or "nothing is compared"


def cell(one):
    """Of the table: who, and how far before whom."""
    if not one.series:
        return one.why
    return f"{one.series}: {short(one.ratio)} × {one.other}"
