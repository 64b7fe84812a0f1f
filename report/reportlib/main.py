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
            parser.error(f"{option_string}: given twice")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def parse(arguments):
    # No abbreviations: --price is an option of weft-bench compare, and no short --price-max.
    parser = argparse.ArgumentParser(
        prog="report/report", allow_abbrev=False,
        description="Makes a page and pictures of weft-bench's results.")
    parser.add_argument("results", nargs="+", metavar="RESULTS.jsonl",
                        help="files that weft-bench wrote by --json; all go onto one page")
    parser.add_argument("--out", action=Once, required=True, metavar="DIR",
                        help="folder for the page")
    parser.add_argument("--title", action=Once, default="Measured stores",
                        help="title of the page (default: Measured stores)")
    parser.add_argument("--target-throughput", action=Once, type=float, default=100e6,
                        metavar="N", help="operations a second for which to compute servers and "
                        "costs (default: 100e6)")
    parser.add_argument("--server", action="append", default=[], metavar="NAME=idle_w,busy_w",
                        help="power of a machine (its host_class) without a meter, to model costs")
    parser.add_argument("--price-max", action=Once, type=float, metavar="N",
                        help="largest purchase price on the axis, in dollars "
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
            raise ReportError(f"--server {text}: it must be NAME=idle_w,busy_w") from error
        if not 0 <= idle <= busy < float("inf"):
            raise ReportError(f"--server {text}: it must have 0 <= idle_w <= busy_w")
        if name in found:
            raise ReportError(f"--server {name}: given twice")
        if name not in machines:
            raise ReportError(f"--server {name}: no such machine; the machines are: "
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
            raise ReportError(f"--server {name}: its runs already have a power ({sources})")
        if without["utilization"].isna().all():
            raise ReportError(f"--server {name}: no run there says how busy the CPUs were "
                              "(meters.cpu_s), so its power cannot be modelled")
    if options.price_max is not None and best["power_w"].isna().all() and not options.server:
        raise ReportError("--price-max: the power is unknown, so there is no figure of costs; "
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
