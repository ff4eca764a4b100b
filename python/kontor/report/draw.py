# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The charts of a report, drawn by matplotlib: all in one picture, or each as SVG for a page. No other module draws.

Pictures are made by Figure and not by pyplot, which needs a backend and keeps them.
"""

import io
import textwrap
from typing import Any

from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.ticker import (EngFormatter, FixedLocator, LogLocator, MaxNLocator, NullFormatter, NullLocator,
                               StrMethodFormatter)
from matplotlib.transforms import ScaledTranslation

from .colours import OTHER
from .report_parts import Chart
from .text import percent, printable

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
WIDTH, HEIGHT, BAR, LEGEND = 6.4, 3.9, 0.35, 0.5  # inches; the last from an axis to its legend
LEAST = 0.08  # of the longest bar: a part that has room for its percentage
PLATE = {"facecolor": "white", "alpha": 0.7, "pad": 1, "linewidth": 0}  # behind words on any colour
MOST_TICKS = 12
# Of every Figure, whatever a matplotlibrc says. The same figure is the same SVG; its texts stay texts, in which a $ begins no formula.
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True,
         "savefig.dpi": 150, "text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "kontor",
         "legend.frameon": False, "legend.fontsize": 8}


def plot_charts(title: str, charts: list[Chart], path: str, columns: int = 2) -> None:
    """ValueError if there is none."""
    charts = list(filter(None, charts))
    if not charts:
        raise ValueError("there is nothing to plot yet")
    columns = min(columns, len(charts))
    heights = [max(map(_height, charts[first: first + columns])) for first in range(0, len(charts), columns)]
    with style.context(["default", STYLE]):
        figure = Figure(figsize=(WIDTH * columns, sum(heights)))
        places = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights).flat
        for chart, axes in zip(charts, places):
            _draw(chart, axes)
            axes.set_title(wrapped(chart.title, 64), fontsize=10)
        for axes in places[len(charts):]:
            axes.set_axis_off()
        figure.suptitle(wrapped(title, 80 * columns))
        figure.savefig(path)


def chart_svg(chart: Chart) -> bytes:
    """Without its title."""
    with style.context(["default", STYLE]):
        figure, file = Figure(figsize=(1.2 * WIDTH, _height(chart))), io.BytesIO()
        _draw(chart, figure.subplots())
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def wrapped(words: str, width: int) -> str:
    """In lines of at most so many letters."""
    return textwrap.fill(printable(words), width)


def _height(chart: Chart) -> float:
    if chart.bars:
        return 1.8 + BAR * len(chart.bars)
    return 1.2 * HEIGHT if chart.image else HEIGHT


def _draw(chart: Chart, axes: Any) -> None:
    kinds = ((chart.image, _draw_image), (chart.bars, _draw_bars), (True, _draw_lines))
    next(draw for content, draw in kinds if content)(chart, axes)
    axes.set(xlabel=printable(chart.x_label), ylabel=printable(chart.y_label))


def _draw_image(chart: Chart, axes: Any) -> None:
    image: Any = chart.image
    shown = axes.imshow(image.values, origin="upper" if image.names else "lower", extent=image.extent,
                        cmap=image.colours, vmin=image.least, vmax=image.most, interpolation="nearest")
    axes.spines[:].set_visible(True)
    if image.names:
        step = -(-len(image.names) // MOST_TICKS)
        places, names = range(0, len(image.names), step), list(map(printable, image.names[::step]))
        axes.set_xticks(places, names, fontsize=8, rotation=90 if len("".join(names)) > 40 else 0)
        axes.set_yticks(places, names, fontsize=8)
    axes.figure.colorbar(shown, ax=axes, label=printable(image.label))


def _draw_bars(chart: Chart, axes: Any) -> None:
    lengths = [sum(length for _, length in bar.parts) for bar in chart.bars]
    for place, (bar, whole) in enumerate(zip(chart.bars, lengths)):
        left = 0.0
        for name, length in bar.parts:
            colour = chart.colours.get(name, OTHER)
            part = axes.barh(place, length, height=0.65, left=left, color=colour, label=printable(name))
            if LEAST * max(lengths) < length < whole:
                axes.bar_label(part, [percent(length / whole)], label_type="center", fontsize=7, bbox=PLATE)
            left += length
        axes.text(left, place, f" {printable(bar.words)}", va="center", fontsize=8)
    _name_rows(axes, [wrapped(bar.name, 52) for bar in chart.bars], chart.unit.removeprefix("1"), 4)
    axes.margins(x=max(0.2, 0.02 * max(len(bar.words) for bar in chart.bars)))
    if any([name for name, _ in bar.parts] != [bar.name] for bar in chart.bars):
        _legend_below(axes)


def _name_rows(axes: Any, names: list[str], unit: str, most: int) -> None:
    """Names from above to below, and at most so many ticks across."""
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(EngFormatter(unit))
    axes.xaxis.set_major_locator(MaxNLocator(most))


def _draw_lines(chart: Chart, axes: Any) -> None:
    small = sum(line.small for line in chart.lines)
    for place, line in enumerate(chart.lines):
        # The first of many points are the widest: others may lie upon them.
        style: dict[str, Any] = {"color": line.colour, "label": wrapped(line.name, 48),
                                 "linestyle": "none" if line.points else DASHES[line.dash % len(DASHES)],
                                 "linewidth": 1.4 + 2 * (1 - (place + 1) / small) if line.small else 1.2}
        if line.ideal or line.small:
            axes.plot(line.x, line.y, marker="." if line.small and len(line.x) < 40 else None, **style)
            continue
        errors = [[0 if low is None else y - low for low, y in zip(line.low, line.y)],
                  [0 if high is None else high - y for high, y in zip(line.high, line.y)]] if any(line.low) else None
        axes.errorbar(line.x, line.y, errors, capsize=3, marker=MARKERS[place % len(MARKERS)], markersize=5, **style)
    axes.set(xscale="log" if chart.log_x else "linear", yscale="log" if chart.log_y else "linear")
    across = sorted({x for line in chart.lines for x in line.x})
    _tell(axes.xaxis, chart.x_unit, chart.log_x)
    if not chart.x_unit and len(across) <= MOST_TICKS:
        axes.xaxis.set_major_locator(FixedLocator(across))
        axes.xaxis.set_minor_locator(NullLocator())
    _tell(axes.yaxis, chart.unit, chart.log_y)
    if chart.from_zero:
        axes.set_ylim(bottom=0)
    axes.legend()


def _tell(axis: Any, unit: str, log: bool) -> None:
    """Ticks as 1 kB, 2 G/s of a count, or 1e-09 without a unit; more of them on a logarithmic axis of a short range."""
    axis.set_major_formatter(EngFormatter(unit.removeprefix("1")) if unit else StrMethodFormatter("{x:g}"))
    if log:
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,)))
        axis.set_minor_formatter(NullFormatter())


def _legend_below(axes: Any) -> None:
    """Each name once."""
    named = dict(zip(*reversed(axes.get_legend_handles_labels())))
    below = axes.transAxes + ScaledTranslation(0, -LEGEND, axes.figure.dpi_scale_trans)
    axes.legend(named.values(), named, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below)
