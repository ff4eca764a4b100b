# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The charts of a report in one picture, by matplotlib."""

import textwrap

from matplotlib.ticker import EngFormatter, FixedFormatter, FixedLocator, LogLocator, MaxNLocator, NullFormatter, NullLocator

from .drawing import STYLE, plt, save
from .report_parts import Chart

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
HEIGHT, BAR = 3.9, 0.35  # inches of a chart at least, and of a bar


def plot_charts(title: str, charts: list[Chart], path: str, columns: int = 2) -> None:
    """ValueError if there is none."""
    charts = [chart for chart in charts if chart.bars or chart.lines]
    if not charts:
        raise ValueError("there is nothing to plot yet")
    columns = min(columns, len(charts))
    rows = [charts[first: first + columns] for first in range(0, len(charts), columns)]
    heights = [max(HEIGHT, *(1.5 + BAR * len(chart.bars) for chart in row)) for row in rows]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(len(rows), columns, figsize=(6.4 * columns, sum(heights)), squeeze=False, height_ratios=heights)
        for chart, place in zip(charts, axes.flat):
            (_draw_bars if chart.bars else _draw_lines)(chart, place)
            place.set_title(textwrap.fill(chart.title, 80), fontsize=10)
        for place in axes.flat[len(charts):]:
            place.set_axis_off()
        figure.suptitle(title)
        save(figure, path)


def _draw_lines(chart: Chart, axes) -> None:
    small = sum(line.small for line in chart.lines)
    for place, line in enumerate(chart.lines):
        # The first of many points are the widest: others may lie upon them.
        width = 1.4 + 2 * (1 - (place + 1) / small) if line.small else 1.2
        style = {"color": line.colour, "linestyle": DASHES[line.dash % len(DASHES)], "label": textwrap.fill(line.name, 48),
                 "linewidth": width}
        if line.ideal or line.small:
            axes.plot(line.x, line.y, marker="." if line.small and len(line.x) < 40 else None, **style)
            continue
        known = [low is not None and high is not None for low, high in zip(line.low, line.high)]
        errors = [[y - low if low is not None else 0 for y, low in zip(line.y, line.low)],
                  [high - y if high is not None else 0 for y, high in zip(line.y, line.high)]] if any(known) else None
        axes.errorbar(line.x, line.y, errors, capsize=3, marker=MARKERS[place % len(MARKERS)], markersize=5, **style)
    axes.set(xlabel=chart.x_label, ylabel=chart.y_label)
    axes.set(xscale="log" if chart.log_x else "linear", yscale="log" if chart.log_y else "linear")
    across = sorted({x for line in chart.lines for x in line.x})
    if chart.x_unit:
        _tell(axes.xaxis, chart.x_unit, chart.log_x)
    elif len(across) <= 12:
        axes.xaxis.set_major_locator(FixedLocator(across))
        axes.xaxis.set_major_formatter(FixedFormatter([f"{x:g}" for x in across]))
        axes.xaxis.set_minor_locator(NullLocator())
    if chart.unit:
        _tell(axes.yaxis, chart.unit, chart.log_y)
    if chart.from_zero:
        axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8)


def _tell(axis, unit: str, log: bool) -> None:
    """Ticks as 1 kB, 1 MB; on a logarithmic axis with steps in between where the range is short."""
    axis.set_major_formatter(EngFormatter(unit))
    if log:
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,)))
        axis.set_minor_formatter(NullFormatter())


def _draw_bars(chart: Chart, axes) -> None:
    told: set[str] = set()
    for place, bar in enumerate(chart.bars):
        left = 0.0
        for name, length in bar.parts:
            axes.barh(place, length, height=0.65, left=left, color=chart.colours.get(name, "#999999"), label=None if name in told else name)
            told.add(name)
            left += length
        axes.text(left, place, f" {bar.words}", va="center", fontsize=8)
    axes.set_yticks(range(len(chart.bars)), [textwrap.fill(bar.name, 52) for bar in chart.bars], fontsize=8)
    axes.set_ylim(len(chart.bars) - 0.5, -0.5)
    axes.set_xlabel(chart.x_label)
    axes.xaxis.set_major_formatter(EngFormatter(chart.unit))
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.margins(x=max(0.2, 0.02 * max(len(bar.words) for bar in chart.bars)))
    if told != {bar.name for bar in chart.bars}:
        axes.legend(frameon=False, fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.18))
