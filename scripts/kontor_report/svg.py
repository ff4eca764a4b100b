# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Charts as SVG elements: readable as they are, and prepared for page/page.js to hide series and show values."""

from collections.abc import Iterable
from dataclasses import replace
from html import escape

from .axis import Axis, linear_axis, log_axis
from .report_parts import Bar, Chart, Line
from .text import quantity

WIDTH, HEIGHT = 680, 340
LEFT, RIGHT, TOP, BOTTOM = 78, 20, 12, 46
BAR, GAP = 22, 12
LABELS = 190  # room for the names of bars
DASHES = (None, "7 4", "7 3 2 3", "2 3")
MOST_POINTS = 400  # of a line that has many
LETTER = 6.8  # of what is written behind them, at most


def svg(chart: Chart) -> str:
    return _bars(chart) if chart.bars else _lines(chart)


def element(name: str, *inside: str, **attributes: object) -> str:
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"' for key, value in attributes.items() if value is not None)
    return f"<{name}{given}>{''.join(inside)}</{name}>" if inside else f"<{name}{given}/>"


def _plain(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def _frame(chart: Chart, height: float, parts: Iterable[str]) -> str:
    return element("svg", *parts, class_="chart", viewBox=f"0 0 {WIDTH} {_plain(float(height))}", role="group", aria_label=chart.title)


def _lines(chart: Chart) -> str:
    xs = [x for line in chart.lines for x in line.x]
    ys = [y for line in chart.lines for y in (*line.y, *line.low, *line.high) if y is not None]
    x_axis = (log_axis if chart.log_x and min(xs) > 0 else linear_axis)(xs, LEFT, WIDTH - RIGHT, only=sorted(set(xs)))
    y_axis = (log_axis if chart.log_y and min(ys) > 0 else linear_axis)([*ys, 0.0] if chart.from_zero else ys, HEIGHT - BOTTOM, TOP)
    parts = [*_grid(chart, x_axis, y_axis)]
    parts += [_series(line, place, x_axis, y_axis) for place, line in enumerate(chart.lines)]
    return _frame(chart, HEIGHT, parts)


def _grid(chart: Chart, x_axis: Axis, y_axis: Axis) -> Iterable[str]:
    for value in y_axis.ticks:
        at = y_axis.at(value)
        yield element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at, class_="grid")
        yield element("text", escape(quantity(value, chart.unit) if chart.unit else f"{value:g}"), x=LEFT - 8, y=at + 4, class_="tick end")
    for value in x_axis.ticks:
        label = quantity(value, chart.x_unit) if chart.x_unit else f"{value:g}"
        yield element("text", escape(label), x=x_axis.at(value), y=HEIGHT - BOTTOM + 18, class_="tick middle")
    yield element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM, class_="axis")
    yield element("text", escape(chart.x_label), x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 8, class_="label middle")
    yield element("text", escape(chart.y_label), x=16, y=(HEIGHT - BOTTOM) / 2, class_="label middle",
                  transform=f"rotate(-90 16 {(HEIGHT - BOTTOM) / 2})")


def _series(line: Line, place: int, x_axis: Axis, y_axis: Axis) -> str:
    if line.small:
        step = max(1, len(line.x) // MOST_POINTS)
        line = replace(line, x=line.x[::step], y=line.y[::step], words=line.words[::step])
    points = [(x_axis.at(x), y_axis.at(y)) for x, y in zip(line.x, line.y)]
    dash = DASHES[line.dash % len(DASHES)]
    path = element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), fill="none", stroke=line.colour,
                   stroke_width=1.3 if line.ideal else 2, stroke_dasharray=dash)
    if line.ideal:
        return element("g", path, class_="series", data_series=line.name)
    bars = [_interval(x, y_axis.at(low), y_axis.at(high), line.colour)
            for (x, _), low, high in zip(points, line.low, line.high) if low is not None and high is not None]
    words = line.words or [f"{line.name}: {y:.4g}" for y in line.y]
    markers = [_dot(x, y, line.colour, text) if line.small else _marker(place, x, y, line.colour, text) for (x, y), text in zip(points, words)]
    return element("g", path, *bars, *markers, class_="series", data_series=line.name)


def _interval(x: float, low: float, high: float, colour: str) -> str:
    return element("path", d=f"M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8", stroke=colour, fill="none")


def _marker(place: int, x: float, y: float, colour: str, words: str) -> str:
    """Each series has its shape: colours are not all that tells them apart."""
    shapes = (f"M{x - 5:.1f} {y:.1f}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", f"M{x - 4.5:.1f} {y - 4.5:.1f}h9v9h-9z",
              f"M{x:.1f} {y - 6:.1f}l5.5 10h-11z", f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z", f"M{x:.1f} {y + 6:.1f}l5.5 -10h-11z")
    return element("path", element("title", escape(words)), d=shapes[place % len(shapes)], fill=colour, class_="point", tabindex=0, role="img",
                   aria_label=words)


def _dot(x: float, y: float, colour: str, words: str) -> str:
    return element("circle", element("title", escape(words)), cx=x, cy=y, r=2.5, fill=colour, class_="point", aria_label=words)


def _bars(chart: Chart) -> str:
    longest = max(sum(length for _, length in bar.parts) for bar in chart.bars)
    room = max(60.0, LETTER * max(len(bar.words) for bar in chart.bars))
    axis = linear_axis([0.0, longest], LABELS, WIDTH - room, steps=3)
    end = TOP + len(chart.bars) * (BAR + GAP)
    parts = []
    for value in axis.ticks:
        at = axis.at(value)
        parts.append(element("line", x1=at, x2=at, y1=TOP, y2=end, class_="grid"))
        parts.append(element("text", escape(quantity(value, chart.unit)), x=at, y=end + 16, class_="tick middle"))
    parts += [_bar(bar, TOP + place * (BAR + GAP) + GAP / 2, chart, axis) for place, bar in enumerate(chart.bars)]
    parts.append(element("text", escape(chart.x_label), x=(LABELS + WIDTH - room) / 2, y=end + 34, class_="label middle"))
    return _frame(chart, end + 42, parts)


def _bar(bar: Bar, y: float, chart: Chart, axis: Axis) -> str:
    parts = [element("text", escape(bar.name if len(bar.name) < 30 else bar.name[:28] + "…"), x=LABELS - 8, y=y + BAR / 2 + 4, class_="tick end")]
    left = 0.0
    whole = sum(length for _, length in bar.parts)
    for name, length in bar.parts:
        share = f", {100 * length / whole:.1f} %" if len(bar.parts) > 1 and whole else ""
        words = f"{bar.name}, {name}: {quantity(length, chart.unit)}{share}" if name != bar.name else f"{bar.name}: {bar.words}"
        begin, end = axis.at(left), axis.at(left + length)
        parts.append(element("rect", element("title", escape(words)), x=begin, y=y, width=max(0.5, end - begin), height=BAR,
                             fill=chart.colours.get(name, "#999999"), class_="point series", data_series=name, tabindex=0, role="img",
                             aria_label=words))
        left += length
    parts.append(element("text", escape(bar.words), x=axis.at(left) + 6, y=y + BAR / 2 + 4, class_="tick"))
    return "".join(parts)
