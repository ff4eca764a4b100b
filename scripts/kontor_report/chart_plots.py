# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The charts of a report in one picture, by matplotlib."""

from matplotlib.ticker import EngFormatter, FixedFormatter, FixedLocator, NullLocator

from .drawing import STYLE, plt, save
from .report_parts import Chart, Section

COLUMNS = 2
MARKERS = ("o", "s", "^", "D", "v")


def plot_charts(title: str, sections: list[Section], path: str) -> None:
    """ValueError if there is none."""
    charts = [part for section in sections for part in section.parts if isinstance(part, Chart) and (part.bars or part.lines)]
    if not charts:
        raise ValueError("there is nothing to plot yet")
    rows = -(-len(charts) // COLUMNS)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(rows, COLUMNS, figsize=(6.4 * COLUMNS, 3.9 * rows), squeeze=False)
        for chart, place in zip(charts, axes.flat):
            (_draw_bars if chart.bars else _draw_lines)(chart, place)
            place.set_title(chart.title, fontsize=10)
        for place in axes.flat[len(charts):]:
            place.set_axis_off()
        figure.suptitle(title)
        save(figure, path)


def _draw_lines(chart: Chart, axes) -> None:
    for place, line in enumerate(chart.lines):
        style = {"color": line.colour, "linestyle": "--" if line.dashed else "-", "label": line.name, "linewidth": 1.2}
        if line.ideal:
            axes.plot(line.x, line.y, **style)
            continue
        known = [low is not None and high is not None for low, high in zip(line.low, line.high)]
        errors = [[y - low if low is not None else 0 for y, low in zip(line.y, line.low)],
                  [high - y if high is not None else 0 for y, high in zip(line.y, line.high)]] if any(known) else None
        axes.errorbar(line.x, line.y, errors, capsize=3, marker=MARKERS[place % len(MARKERS)], markersize=5, **style)
    across = sorted({x for line in chart.lines for x in line.x})
    axes.set(xlabel=chart.x_label, ylabel=chart.y_label)
    if chart.log_x:
        axes.set_xscale("log")
    if len(across) <= 12:
        axes.xaxis.set_major_locator(FixedLocator(across))
        axes.xaxis.set_major_formatter(FixedFormatter([f"{x:g}" for x in across]))
        axes.xaxis.set_minor_locator(NullLocator())
    if chart.log_y:
        axes.set_yscale("log")
    if chart.unit:
        axes.yaxis.set_major_formatter(EngFormatter(chart.unit))
    if chart.from_zero:
        axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8)


def _draw_bars(chart: Chart, axes) -> None:
    told: set[str] = set()
    for place, bar in enumerate(chart.bars):
        left = 0.0
        for name, length in bar.parts:
            axes.barh(place, length, height=0.65, left=left, color=chart.colours.get(name, "#999999"), label=None if name in told else name)
            told.add(name)
            left += length
        axes.text(left, place, f" {bar.words}", va="center", fontsize=8)
    axes.set_yticks(range(len(chart.bars)), [bar.name for bar in chart.bars], fontsize=8)
    axes.set_ylim(len(chart.bars) - 0.5, -0.5)
    axes.set_xlabel(chart.x_label)
    axes.xaxis.set_major_formatter(EngFormatter(chart.unit))
    axes.margins(x=0.2)
    if told != {bar.name for bar in chart.bars}:
        axes.legend(frameon=False, fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.18))
