# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Charts of a run that measured times over message sizes."""

from collections.abc import Callable

from .chart_lines import estimated, level
from .colours import colours, dashes
from .curves import SPLIT, bandwidth, by, is_split
from .record import Record
from .report_parts import Bar, Chart, Line
from .statistics import Estimate
from .text import quantity, seconds
from .time_section import bar_parts, time_bars


def curve_charts(record: Record) -> list[Chart]:
    """Of each curve times, bandwidths and ratios to the baseline. Of many series at few sizes the parts of the times:
    there it matters where the time of each goes, not how it grows."""
    curves, ratios = by("curve", record.curves), by("curve", record.ratios)
    series = list(by("series", record.curves))
    if is_split(record.curves) and len(series) > len(by("size", record.curves)):
        return [_parts(name, size, rows) for name, curve in curves.items() for size, rows in by("size", curve).items()]
    charts = [chart for name, rows in curves.items() for chart in _curve(name, rows, ratios.get(name, []), series)]
    return [chart for chart in charts if chart.lines]


def _parts(name: str, size: int, rows: list[dict]) -> Chart:
    bars = []
    for row in rows:
        parts = [(part, row.get(part, 0.0)) for part in SPLIT]
        bars.append(Bar(row["series"], bar_parts(parts, row["median"]), seconds(row["median"])))
    return time_bars(f"{name}, size {size}", bars)


def _curve(name: str, rows: list[dict], ratios: list[dict], series: list[str]) -> list[Chart]:
    which = "median" if is_split(rows) else "mean"
    rows = [row for row in rows if row.get(which, 0) > 0 and row["bytes"] > 0]
    times = _lines(rows, series, lambda row: _time(row, which), "s")
    rates = _lines([row for row in rows if row.get("mean")], series, lambda row: Estimate(bandwidth(row)), "B/s")
    lines = _lines(ratios, series, lambda row: Estimate(row["ratio"], row["low"], row["high"]), "")
    over = " and ".join(f"time / {baseline}" for baseline in by("baseline", ratios))
    bytes_across = {"x_label": "bytes", "x_unit": "B", "log_x": True}
    return [Chart(name, y_label=f"{which} time", lines=times, log_y=True, unit="s", **bytes_across),
            Chart(f"{name}: bandwidth", y_label="bytes / mean time", lines=rates, log_y=True, unit="B/s", **bytes_across),
            Chart(f"{name}: ratio", y_label=over, lines=lines + [level("equal", 1.0, lines)] * bool(lines), **bytes_across)]


def _lines(rows: list[dict], series: list[str], value: Callable[[dict], Estimate], unit: str) -> list[Line]:
    """A line for each of the series that has rows."""
    chosen = [colours(series)[name] for name in series]
    found = by("series", rows)
    lines = []
    for name, colour, dash in zip(series, chosen, dashes(chosen)):
        if name in found:
            points = [(row["bytes"], value(row)) for row in found[name]]
            shown = [quantity(one.value, unit) if unit else f"{one.value:.3f}" for _, one in points]
            lines.append(estimated(name, colour, [(size, one, f"{name}, {quantity(size, 'B')}: {words}")
                                                  for (size, one), words in zip(points, shown)], dash))
    return lines


def _time(row: dict, which: str) -> Estimate:
    """With the standard error of a mean."""
    time, error = row[which], row.get("standard_error") if which == "mean" else None
    return Estimate(time) if error is None else Estimate(time, max(time - error, time / 10), time + error)
