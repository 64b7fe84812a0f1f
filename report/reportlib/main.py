"""The command line: reads results, draws, writes the page and its pictures."""

import argparse
import sys
from pathlib import Path

from reportlib.results import ReportError, read


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="report/report", description="A page and pictures of what weft-bench measured.")
    parser.add_argument("results", nargs="+", metavar="RESULTS.jsonl",
                        help="what weft-bench appended by --json; several come onto one page")
    parser.add_argument("--out", required=True, metavar="DIR", help="where the page goes")
    parser.add_argument("--title", default="Measured stores",
                        help="of the page (default: Measured stores)")
    parser.add_argument("--target-throughput", type=float, default=100e6, metavar="N",
                        help="operations a second that servers and costs are for (default: 100e6)")
    parser.add_argument("--server", action="append", default=[], metavar="NAME=idle_w,busy_w",
                        help="power of a machine (its host_class), for modelled costs")
    parser.add_argument("--price-max", type=float, default=6000, metavar="N",
                        help="dollars: where the axis of purchase prices ends (default: 6000)")
    options = parser.parse_args(arguments)
    for name in ("target_throughput", "price_max"):
        if not 0 < getattr(options, name) < float("inf"):
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
        if name not in machines:
            raise ReportError(f"--server {name}: no such machine; there are: "
                              + ", ".join(sorted(machines)))
        found[name] = (idle, busy)
    return found


def main(arguments=None):
    options = parse(arguments)
    try:
        table = read(options.results)
        powers = powers_of(options.server, set(table["machine"]))
    except ReportError as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
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
