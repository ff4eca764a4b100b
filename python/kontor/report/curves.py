# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times over message sizes, and the ratios of one series to another: as tables and as charts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .colours import level, lines_of
from .record import Record, Row
from .report_parts import Bar, Chart, Line, Section, Table, tabulated
from .statistics import Estimate
from .text import grouped, percent, quantity, seconds
from .time_section import bar_parts, time_bars

SPLIT = ("pack", "post", "wait", "unpack")  # columns of the table: parts of a time
Rows = list[Row]


def _by(key: str, rows: Rows) -> dict[Any, Rows]:
    """The rows grouped by the value of `key`."""
    return grouped(rows, lambda row: row[key])


def _pairs(ratios: Rows) -> dict[str, Rows]:
    return grouped(ratios, lambda row: f"{row['series']} / {row['baseline']}")


def _is_split(rows: Rows) -> bool:
    """Whether these times are known by part."""
    return any(row.get(part) for row in rows for part in SPLIT)


def curve_sections(record: Record) -> list[Section]:
    """Of each curve times, bandwidths and ratios to the baseline. Of many series at few sizes the parts of the times:
    there it matters where the time of each goes, not how it grows."""
    sections = _summary(record.ratios)
    ratios, series = _by("curve", record.ratios), list(_by("series", record.curves))
    in_bars = _is_split(record.curves) and len(series) > len(_by("size", record.curves))
    for name, rows in _by("curve", record.curves).items():
        of_curve = ratios.get(name, [])
        charts = ([_part_bars(name, size, part) for size, part in _by("size", rows).items()] if in_bars
                  else _charts(name, rows, of_curve, series))
        if _is_split(rows):
            header = ["size", "series", "time", *SPLIT, "messages", "bytes"]
            lines = [[row["size"], row["series"], *(seconds(row.get(key)) for key in ("median", *SPLIT)),
                      row["messages"], quantity(row["bytes"], "B")] for row in rows]
            sections += tabulated(f"{name}: median time and its parts", header, lines, *charts, left=2)
        else:
            sections.append(Section(f"{name}: mean time and its standard error", [_times(rows, of_curve), *charts]))
    return sections


def _summary(ratios: Rows) -> list[Section]:
    lines = []
    for name, rows in _by("curve", ratios).items():
        for pair, points in _pairs(rows).items():
            values = [row["ratio"] for row in points]
            beyond = sum(not row["low"] <= 1 <= row["high"] for row in points)
            lines.append([name, pair, *(f"{value:.3f}" for value in (np.median(values), min(values), max(values))),
                          points[values.index(max(values))]["size"], f"{beyond} of {len(points)}"])
    header = ["curve", "ratio", "median", "min", "max", "at size", "1 outside the interval"]
    return tabulated("Ratios, over all sizes", header, lines, left=2)


def _times(rows: Rows, ratios: Rows) -> Table:
    """A line a size, a column a series, and behind them the ratios with their confidence intervals."""
    series, pairs = _by("series", rows), _pairs(ratios)
    lines = []
    for size, points in _by("size", rows).items():
        times = {row["series"]: seconds(row["mean"]) + (f" ± {percent(row['standard_error'] / row['mean'])}"
                 if row["mean"] and "standard_error" in row else "") for row in points}
        found = {pair: f"{row['ratio']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
                 for pair, of_pair in pairs.items() for row in of_pair if row["size"] == size}
        lines.append([size, quantity(points[0]["bytes"], "B"), *map(times.get, series), *map(found.get, pairs)])
    return Table(["size", "bytes", *series, *pairs], lines, left=0)


def _part_bars(name: str, size: int, rows: Rows) -> Chart:
    bars = [Bar(row["series"], bar_parts([(part, row.get(part, 0.0)) for part in SPLIT], row["median"]),
                seconds(row["median"])) for row in rows]
    return time_bars(f"{name}, size {size}", bars, dict.fromkeys(SPLIT, "communication"))


def _charts(name: str, rows: Rows, ratios: Rows, series: list[str]) -> list[Chart]:
    which = "median" if _is_split(rows) else "mean"
    rows = [row for row in rows if row.get(which, 0) > 0 and row["bytes"] > 0]

    def lines(rows: Rows, value: Callable[[Row], Estimate]) -> list[Line]:
        found = _by("series", rows)
        return lines_of([(name, [(row["bytes"], value(row)) for row in found.get(name, [])]) for name in series])

    def time(row: Row) -> Estimate:
        """With the standard error of a mean."""
        value, error = row[which], row.get("standard_error") if which == "mean" else None
        return Estimate(value) if error is None else Estimate(value, max(value - error, value / 10), value + error)

    rates = lines([row for row in rows if row.get("mean")], lambda row: Estimate(row["bytes"] / row["mean"]))
    parts = lines(ratios, lambda row: Estimate(row["ratio"], row["low"], row["high"]))
    over = " and ".join(f"time / {baseline}" for baseline in _by("baseline", ratios))
    charts = [Chart(name, "bytes", f"{which} time", lines(rows, time), log_y=True, unit="s"),
              Chart(f"{name}: bandwidth", "bytes", "bytes / mean time", rates, log_y=True, unit="B/s"),
              Chart(f"{name}: ratio", "bytes", over, [*parts, level("equal", 1.0, parts)])]
    return [replace(chart, log_x=True, x_unit="B") for chart in charts if chart]
