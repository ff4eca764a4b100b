# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The charts of a report, drawn by matplotlib: all in one picture, or each as SVG in a page, which needs nothing else:
neither a network nor scripts. No other module draws.

Pictures are made by Figure and not by pyplot, which needs a backend and keeps them.
"""

import base64
import io
import textwrap
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.ticker import (EngFormatter, FixedLocator, LogLocator, MaxNLocator, NullFormatter, NullLocator,
                               StrMethodFormatter)
from matplotlib.transforms import ScaledTranslation

from .parts import OTHER, Chart, Section, Table
from .record import RecordError
from .text import percent, printable

PAGE = Path(__file__).parent / "page"
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
WIDTH, HEIGHT, BAR, LEGEND = 6.4, 3.9, 0.35, 0.5  # inches; the last from an axis to its legend
LEAST = 0.08  # of the longest bar: a part that has room for its percentage
PLATE = {"facecolor": "white", "alpha": 0.7, "pad": 1, "linewidth": 0}  # behind words on any colour
MOST_TICKS = 12
# Of every Figure, whatever a matplotlibrc says. The same figure is the same SVG; its texts stay texts, in which a $
# begins no formula.
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True,
         "savefig.dpi": 150, "text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "kontor",
         "legend.frameon": False, "legend.fontsize": 8}


def plot_charts(title: str, charts: list[Chart], path: str, columns: int = 2) -> None:
    charts = list(filter(None, charts))
    if not charts:
        raise RecordError("there is nothing to plot yet")
    columns = min(columns, len(charts))
    heights = [max(map(_height, charts[first: first + columns])) for first in range(0, len(charts), columns)]
    with style.context(["default", STYLE]):
        figure = Figure(figsize=(WIDTH * columns, sum(heights)))
        places = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights).flat
        for chart, axes in zip(charts, places):
            draw(chart, axes)
            axes.set_title(_wrapped(chart.title, 64), fontsize=10)
        for axes in places[len(charts):]:
            axes.set_axis_off()
        figure.suptitle(_wrapped(title, 80 * columns))
        figure.savefig(path)


def chart_svg(chart: Chart) -> bytes:
    """Without its title."""
    with style.context(["default", STYLE]):
        figure, file = Figure(figsize=(1.2 * WIDTH, _height(chart))), io.BytesIO()
        draw(chart, figure.subplots())
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _wrapped(words: str, width: int) -> str:
    return textwrap.fill(printable(words), width)


def _height(chart: Chart) -> float:
    return 1.8 + BAR * len(chart.bars) if chart.bars else HEIGHT


def draw(chart: Chart, axes: Any) -> None:
    (_draw_image if chart.image else _draw_bars if chart.bars else _draw_lines)(chart, axes)
    axes.set(xlabel=printable(chart.x_label), ylabel=printable(chart.y_label))


def _draw_image(chart: Chart, axes: Any) -> None:
    image: Any = chart.image
    shown = axes.imshow(image.values, origin="lower", extent=image.extent, cmap="inferno", interpolation="nearest")
    axes.spines[:].set_visible(True)
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
    axes.set_yticks(range(len(chart.bars)), [_wrapped(bar.name, 52) for bar in chart.bars], fontsize=8)
    axes.set_ylim(len(chart.bars) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(EngFormatter(chart.unit.removeprefix("1")))
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.margins(x=max(0.2, 0.02 * max(len(bar.words) for bar in chart.bars)))
    if any([name for name, _ in bar.parts] != [bar.name] for bar in chart.bars):
        named = dict(zip(*reversed(axes.get_legend_handles_labels())))
        ordered = dict.fromkeys([*map(printable, chart.colours), *named])  # in one order in all pictures
        names = [name for name in ordered if name in named]
        below = axes.transAxes + ScaledTranslation(0, -LEGEND, axes.figure.dpi_scale_trans)
        axes.legend([named[name] for name in names], names, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 0),
                    bbox_transform=below)


def _draw_lines(chart: Chart, axes: Any) -> None:
    for place, line in enumerate(chart.lines):
        style: dict[str, Any] = {"color": line.colour, "label": _wrapped(line.name, 48), "linewidth": 1.2,
                                 "linestyle": DASHES[line.dash % len(DASHES)]}
        if not line.ideal:
            style |= {"marker": MARKERS[place % len(MARKERS)], "markersize": 5, "markevery": max(1, len(line.x) // 20)}
        axes.plot(line.x, line.y, **style)
        if any(low is not None for low in line.low):  # bands of several lines are seen through each other
            ends = [[y if end is None else end for end, y in zip(its, line.y)] for its in (line.low, line.high)]
            axes.fill_between(line.x, *ends, color=line.colour, alpha=0.2, linewidth=0)
    axes.set(xscale="log" if chart.log_x else "linear", yscale="log" if chart.log_y else "linear")
    _tell(axes.xaxis, chart.x_unit, chart.log_x)
    across = sorted({x for line in chart.lines for x in line.x})
    if not chart.x_unit and len(across) <= MOST_TICKS and all(float(x).is_integer() for x in across):  # workers
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


def html(title: str, found: list[Section]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only pages need it

    environment = Environment(loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True,
                              finalize=lambda value: printable(value) if type(value) is str else value)
    environment.filters.update(svg=lambda chart: base64.b64encode(chart_svg(chart)).decode())
    environment.tests.update(table=lambda part: isinstance(part, Table))
    return environment.get_template("page.html.j2").render(title=title, sections=found)
