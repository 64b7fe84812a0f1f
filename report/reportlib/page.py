"""What a page is made of: sections, tables, and figures, which are PNG beside it, too."""

import base64
import html
import io
import re
from pathlib import Path

from matplotlib import pyplot

from reportlib import style

PNG_DPI = 200
LONG_WORD = 25  # letters
LONG_NAME = 17  # letters; a longer name of a workload would make its column too wide
NARROW_PX = 600  # windows up to this width get the narrow pictures (as in page.css)


def escape(value):
    return html.escape(str(value), quote=True)


def unparted(markup):
    """No line ends between a number and its unit."""
    return re.sub(r"(?<=[0-9]) (?=(?:[kMG×%]|[nµm]?s|W|B)(?![\w.]))", "\u00a0", markup)


def with_long_words(markup):
    """Words that may be broken within, for they are longer than a column can be made: only these
    are, so that a table is as wide as its other words want."""
    return re.sub(rf"(<[^>]*>)|([^\s<>]{{{LONG_WORD},}})",
                  lambda found: found[1] or f'<span class="long-word">{found[2]}</span>', markup)


def with_whole_words(markup, names):
    """No line ends at a hyphen of an option or of one of these names. A span, for a hyphen of
    another kind would be copied into a shell."""
    kept = sorted((escape(name) for name in set(names)
                   if len(name) < LONG_NAME and re.fullmatch(r"[\w.]+(-[\w.]+)+", name)),
                  key=len, reverse=True)
    words = "|".join([rf"--[a-z][a-z0-9-]{{,{LONG_WORD - 4}}}", *map(re.escape, kept)])
    return re.sub(rf"(<[^>]*>)|(?<![\w-])({words})(?![\w-])",
                  lambda found: found[1] or f'<span class="whole">{found[2]}</span>', markup)


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

    def section(self, title, level=2):
        anchor = f"{slug(title)}-{len(self.contents) + 1}"
        self.contents.append((anchor, title, level))
        self.add(f'<h{level} id="{anchor}">{escape(title)}</h{level}>')

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
                 f"<figcaption><b>Figure {len(self.pngs)}. {escape(title)}.</b> {unparted(text)}"
                 "</figcaption>"
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
        """Cells are HTML; a head that begins with # is of numbers, with > of long texts. In a
        narrow window each row is a card, whose cells carry their heads (page.css)."""
        kinds = [{"#": "n", ">": "long"}.get(name[:1], "") for name in head]
        names = [name.lstrip("#>") for name in head]
        heads = "".join(f'<th class="{kind}">{escape(name)}</th>'
                        for kind, name in zip(kinds, names))
        body = "".join("<tr>" + "".join(
            f'<td class="{kind}" data-head="{escape(name)}"><span>{cell}</span></td>'
            for kind, name, cell in zip(kinds, names, map(cell_of, row))) + "</tr>" for row in rows)
        self.add(f'<p class="caption">{unparted(caption)}</p><div class="box"><table><thead><tr>'
                 f"{heads}</tr></thead><tbody>{body}</tbody></table></div>")


def cell_of(cell):
    return with_long_words(unparted(str(cell)))


def command_block(commands):
    lines = [command for command in dict.fromkeys(commands) if command]
    lines = lines or ["the results have no command line"]
    many = " many" if len(lines) > 6 else ""
    codes = "".join(f"<code>{escape(line)}</code>" for line in lines)
    return f'<div class="command{many}">{codes}</div>'
