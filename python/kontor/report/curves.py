# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times over message sizes, and the ratios of one series to another: as tables and as charts."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .colours import level, lines_of
from .record import Record, Row
from .report_parts import Bar, Chart, Line, Section, Table
from .statistics import Estimate
from .text import grouped, percent, quantity, seconds
from .time_section import bar_parts, time_bars

SPLIT = ("pack", "post", "wait", "unpack")  # columns of the table: parts of a time
Rows = list[Row]


def by(key: str, rows: Rows) -> dict[Any, Rows]:
    """The rows grouped by the value of `key`."""
    return grouped(rows, lambda row: row[key])


def is_split(rows: Rows) -> bool:
    """Whether these times are known by part."""
    return any(row.get(part) for row in rows for part in SPLIT)


def curve_sections(record: Record) -> list[Section]:
    """Of each curve times, bandwidths and ratios to the baseline. Of many series at few sizes the parts of the times:
    there it matters where the time of each goes, not how it grows."""
    sections = [Section("Ratios, over all sizes", [_ratio_summary(record.ratios)])] if record.ratios else []
    ratios, series = by("curve", record.ratios), list(by("series", record.curves))
    in_bars = is_split(record.curves) and len(series) > len(by("size", record.curves))
    for name, rows in by("curve", record.curves).items():
        charts = [_part_bars(name, size, part) for size, part in by("size", rows).items()] if in_bars else _charts(name, rows, ratios.get(name, []), series)
        if is_split(rows):
            sections.append(Section(f"{name}: median time and its parts", [_parts(rows), *charts]))
        else:
            sections.append(Section(f"{name}: mean time and its standard error", [_times(rows, ratios.get(name, [])), *charts]))
    return sections


def _ratio_summary(ratios: Rows) -> Table:
    lines = []
    for name, rows in by("curve", ratios).items():
        for pair, points in _pairs(rows).items():
            values = [row["ratio"] for row in points]
            worst = max(points, key=lambda row: float(row["ratio"]))
            beyond = sum(not row["low"] <= 1 <= row["high"] for row in points)
            lines.append([name, pair, f"{np.median(values):.3f}", f"{min(values):.3f}", f"{max(values):.3f}",
                          str(worst["size"]), f"{beyond} of {len(points)}"])
    return Table(["curve", "ratio", "median", "min", "max", "at size", "1 outside the interval"], lines, left=2)


def _pairs(ratios: Rows) -> dict[str, Rows]:
    return grouped(ratios, lambda row: f"{row['series']} / {row['baseline']}")


def _times(rows: Rows, ratios: Rows) -> Table:
    """A line a size, a column a series, and behind them the ratios with their confidence intervals."""
    series, pairs = by("series", rows), _pairs(ratios)
    lines = []
    for size, points in by("size", rows).items():
        times = {row["series"]: _mean(row) for row in points}
        found = {pair: f"{row['ratio']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
                 for pair, of_pair in pairs.items() for row in of_pair if row["size"] == size}
        lines.append([str(size), quantity(points[0]["bytes"], "B"), *(times.get(name, "-") for name in series),
                      *(found.get(pair, "-") for pair in pairs)])
    return Table(["size", "bytes", *series, *pairs], lines, left=0)


def _mean(row: Row) -> str:
    mean, error = row["mean"], row.get("standard_error")
    return f"{seconds(mean)} ± {percent(error / mean)}" if mean and error is not None else seconds(mean)


def _parts(rows: Rows) -> Table:
    lines = [[str(row["size"]), row["series"], seconds(row["median"]), *(seconds(row.get(part)) for part in SPLIT),
              str(row["messages"]), quantity(row["bytes"], "B")] for row in rows]
    return Table(["size", "series", "time", *SPLIT, "messages", "bytes"], lines, left=2)


def _part_bars(name: str, size: int, rows: Rows) -> Chart:
    bars = [Bar(row["series"], bar_parts([(part, row.get(part, 0.0)) for part in SPLIT], row["median"]), seconds(row["median"])) for row in rows]
    return time_bars(f"{name}, size {size}", bars, dict.fromkeys(SPLIT, "communication"))


def _charts(name: str, rows: Rows, ratios: Rows, series: list[str]) -> list[Chart]:
    which = "median" if is_split(rows) else "mean"
    rows = [row for row in rows if row.get(which, 0) > 0 and row["bytes"] > 0]
    times = _lines(rows, series, lambda row: _time(row, which))
    rates = _lines([row for row in rows if row.get("mean")], series, lambda row: Estimate(row["bytes"] / row["mean"]))
    lines = _lines(ratios, series, lambda row: Estimate(row["ratio"], row["low"], row["high"]))
    over = " and ".join(f"time / {baseline}" for baseline in by("baseline", ratios))
    charts = [Chart(name, "bytes", f"{which} time", times, log_x=True, log_y=True, unit="s", x_unit="B"),
              Chart(f"{name}: bandwidth", "bytes", "bytes / mean time", rates, log_x=True, log_y=True, unit="B/s", x_unit="B"),
              Chart(f"{name}: ratio", "bytes", over, lines + [level("equal", 1.0, lines)] * bool(lines), log_x=True, x_unit="B")]
    return list(filter(None, charts))


def _lines(rows: Rows, series: list[str], value: Callable[[Row], Estimate]) -> list[Line]:
    """A line for each of the series that has rows."""
    found = by("series", rows)
    return lines_of([(name, [(row["bytes"], value(row)) for row in found.get(name, [])]) for name in series])


def _time(row: Row, which: str) -> Estimate:
    """With the standard error of a mean."""
    time, error = row[which], row.get("standard_error") if which == "mean" else None
    return Estimate(time) if error is None else Estimate(time, max(time - error, time / 10), time + error)
