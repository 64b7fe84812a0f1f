"""How figures look: one size of letters, colours that colour-blind people tell apart (Okabe and
Ito's), and line styles and markers that differ too, so nothing hangs on colour alone."""

import colorsys
import itertools

import matplotlib
import matplotlib.colors

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

INK, SOFT, RULE = "#1d2430", "#5a6472", "#d9dee5"
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d",
          "#332288", "#882255", "#8a8a1f", "#6f4c1e", "#3fbfb0")
DASHES = ("-", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (9, 2, 3, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "++++", "----")

WIDE_IN, NARROW_IN = 7.6, 3.4  # pictures' widths

RC = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7,
    "axes.labelsize": 8,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "path",
    "svg.hashsalt": "weft",
    "figure.constrained_layout.use": True,
}


def colors():
    """Without end, and none twice: one colour means one series."""
    yield from COLORS
    for at in itertools.count():  # around the circle by the golden angle, so neighbours differ
        shade = colorsys.hls_to_rgb(at * 0.381966 % 1, 0.3 + 0.25 * (at % 3) / 2, 0.55)
        yield matplotlib.colors.to_hex(shade)


class Look:
    """A colour, a line style, a marker and a hatching for each series, the same in all figures."""

    def __init__(self, names):
        kinds = zip(colors(), itertools.cycle(DASHES), itertools.cycle(MARKERS),
                    itertools.cycle(HATCHES))
        self.of = dict(zip(names, kinds))

    def line(self, name):
        color, dashes, marker, _ = self.of[name]
        return {"color": color, "linestyle": dashes, "marker": marker}

    def bar(self, name):
        color, _, _, hatch = self.of[name]
        return {"facecolor": color, "edgecolor": "white", "hatch": hatch, "linewidth": 0}


def grid(panels, columns, narrow, panel_in, legend_rows=0):
    """A picture of `panels` axes, in one column where narrow; those left over are taken away."""
    columns = 1 if narrow else min(columns, panels)
    rows = -(-panels // columns)
    width = NARROW_IN if narrow else WIDE_IN
    height = rows * panel_in + 0.22 * legend_rows + 0.15
    figure, axes = pyplot.subplots(rows, columns, figsize=(width, height), squeeze=False)
    flat = [axis for row in axes for axis in row]
    for axis in flat[panels:]:
        axis.remove()
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06, wspace=0.05, hspace=0.06)
    return figure, flat[:panels]


def legend(figure, handles, labels, narrow):
    """Above the panels, to the left, in as many columns as fit."""
    longest = max(len(label) for label in labels)
    width = (NARROW_IN if narrow else WIDE_IN) - 0.2
    columns = max(1, min(len(labels), int(width / (0.62 + 0.067 * longest))))
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, handlelength=2.8,
                  columnspacing=1.4, borderaxespad=0.2)


def legend_rows(labels, narrow):
    longest = max(len(label) for label in labels)
    width = (NARROW_IN if narrow else WIDE_IN) - 0.2
    columns = max(1, min(len(labels), int(width / (0.62 + 0.067 * longest))))
    return -(-len(labels) // columns)


def clashes(figure):
    """Texts of a picture that overlap or leave it, as (text, text or "edge"). For tests."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    whole = figure.bbox
    undrawn = {id(label) for label in undrawn_labels(figure)}
    boxes = [(text.get_text(), text.get_window_extent(renderer))
             for text in figure.findobj(matplotlib.text.Text)
             if text.get_visible() and text.get_text().strip() and id(text) not in undrawn]
    found = [(name, "edge") for name, box in boxes
             if box.x0 < whole.x0 - 1 or box.x1 > whole.x1 + 1
             or box.y0 < whole.y0 - 1 or box.y1 > whole.y1 + 1]
    for (name, box), (other, its) in itertools.combinations(boxes, 2):
        if min(box.x1, its.x1) - max(box.x0, its.x0) > 1 and \
                min(box.y1, its.y1) - max(box.y0, its.y0) > 1:
            found.append((name, other))
    return found


def undrawn_labels(figure):
    """Labels of ticks beyond the limits, and of ticks left from before, are there but not drawn."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            used = {id(tick) for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())}
            for tick in (*axis.majorTicks, *axis.minorTicks):
                if id(tick) not in used or not low <= tick.get_loc() <= high:
                    yield from (tick.label1, tick.label2)
