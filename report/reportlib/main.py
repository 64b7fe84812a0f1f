"""The command line: reads results, draws, writes the page and its pictures."""

import argparse
import sys
from pathlib import Path

from reportlib.results import ReportError, peak, read

PRICE_MAX = 6000  # dollars


class Once(argparse.Action):
    """An option with one value. A second one is refused: it would replace the first unseen."""

    def __call__(self, parser, namespace, values, option_string=None):
        given = vars(namespace).setdefault("given", set())
        if self.dest in given:
            parser.error(f"{option_string}: twice")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def parse(arguments):
    # No abbreviations: --price is an option of weft-bench compare, and no short --price-max.
    parser = argparse.ArgumentParser(
        prog="report/report", allow_abbrev=False,
        description="A page and pictures of what weft-bench measured.")
    parser.add_argument("results", nargs="+", metavar="RESULTS.jsonl",
                        help="what weft-bench appended by --json; several come onto one page")
    parser.add_argument("--out", action=Once, required=True, metavar="DIR",
                        help="where the page goes")
    parser.add_argument("--title", action=Once, default="Measured stores",
                        help="of the page (default: Measured stores)")
    parser.add_argument("--target-throughput", action=Once, type=float, default=100e6,
                        metavar="N", help="operations a second that servers and costs are for "
                        "(default: 100e6)")
    parser.add_argument("--server", action="append", default=[], metavar="NAME=idle_w,busy_w",
                        help="power of a machine (its host_class) that had no meter, for modelled "
                        "costs")
    parser.add_argument("--price-max", action=Once, type=float, metavar="N",
                        help="dollars: where the axis of purchase prices ends "
                        f"(default: {PRICE_MAX})")
    options = parser.parse_args(arguments)
    for name in ("target_throughput", "price_max"):
        value = getattr(options, name)
        if value is not None and not 0 < value < float("inf"):
            parser.error(f"--{name.replace('_', '-')} must be above 0")
    return options


def powers_of(texts, machines):
    """{"host": (idle, busy)} of --server."""
    found = {}
    for text in texts:
        name, _, numbers = text.partition("=")
        try:
            idle, busy = (float(part) for part in numbers.split(","))
        except ValueError as error:
            raise ReportError(f"--server {text}: it is NAME=idle_w,busy_w") from error
        if not 0 <= idle <= busy < float("inf"):
            raise ReportError(f"--server {text}: 0 <= idle_w <= busy_w does not hold")
        if name in found:
            raise ReportError(f"--server {name}: twice")
        if name not in machines:
            raise ReportError(f"--server {name}: no such machine; there are: "
                              + ", ".join(sorted(machines)))
        found[name] = (idle, busy)
    return found


def refuse_unheeded(options, table):
    """What is asked for and would change nothing on the page. Runs at other loads than the best are
    in no table of costs."""
    best = peak(table)
    for name in powers_of(options.server, set(table["machine"])):
        of = best[best["machine"] == name]
        without = of[of["power_w"].isna()]
        if without.empty:
            sources = ", ".join(sorted(set(of["energy_source"])))
            raise ReportError(f"--server {name}: its runs have their power already ({sources})")
        if without["utilization"].isna().all():
            raise ReportError(f"--server {name}: no run there tells how busy the CPUs were "
                              "(meters.cpu_s), so its power can't be modelled")
    if options.price_max is not None and best["power_w"].isna().all() and not options.server:
        raise ReportError("--price-max: nothing tells the power, so there is no figure of costs; "
                          "--server NAME=idle_w,busy_w models it")


def main(arguments=None):
    options = parse(arguments)
    try:
        table = read(options.results)
        powers = powers_of(options.server, set(table["machine"]))
        refuse_unheeded(options, table)
    except ReportError as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    options.price_max = options.price_max or PRICE_MAX
    from reportlib.document import write  # draws, so it loads what takes a second to load
    out = Path(options.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        page = write(table, out, options, powers)
    except OSError as error:
        print(f"report: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    print(page)
    return 0
