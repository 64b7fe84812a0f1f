"""The page as a whole: one HTML file with its style and pictures within."""

from pathlib import Path

from reportlib import ahead, cost, figures, sections, style
from reportlib.page import Page, escape, with_whole_words


def write(table, out, options, powers):
    """Writes all; gives the page's path. `powers`: {machine: (idle, busy watts)} of --server."""
    page = Page(out)
    left_out = table.attrs["left_out"]
    table = cost.with_power(table, powers)
    look = style.Look(figures.names_of(table))
    for experiment, runs in table.groupby("experiment", sort=False):
        sections.experiment(page, experiment, runs, look, options)
    sections.left_out(page, left_out)
    sections.meters(page, table)
    sections.machines(page, table)
    path = Path(out) / "report.html"
    path.write_text(document(page, options.title, table), encoding="utf-8")
    return path


def count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def lead(table):
    days = sorted({str(run.get("date", ""))[:10] for run in table["run"]} - {""})
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "undated"
    return (f"{when} · {count(len(table), 'run')} of "
            f"{count(table['workload'].nunique(), 'workload')} on "
            f"{count(table['title'].nunique(), 'store')} and "
            f"{count(table['machine'].nunique(), 'machine')}")


def headline(table):
    first, *others = ahead.sentences(table)
    return (f'<p class="headline">{escape(first)}</p>'
            + (f'<p class="lead">{escape(" ".join(others))}</p>' if others else ""))


def document(page, title, table):
    css = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    contents = "".join(f'<li class="level-{level}"><a href="#{anchor}">{escape(text)}</a></li>'
                       for anchor, text, level in page.contents)
    body = (f'<header><h1>{escape(title)}</h1><p class="lead">{escape(lead(table))}</p>'
            f'{headline(table)}</header>'
            f'<nav aria-label="Contents"><ul>{contents}</ul></nav><main>'
            + "\n".join(page.parts)
            + "</main><footer>Bars and points are medians of the repetitions; lines through them "
            "show the range. Made by report/report of Weft.</footer>")
    return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(title)}</title><style>{css}</style></head><body>"
            + with_whole_words(body, table["workload"]) + "</body></html>\n")
