# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times over message sizes, and the ratios of one series to another: as tables and as charts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .parts import Bar, Chart, Section, level, lines_of, member, region_colours, tabulated
from .record import Record, Row
from .regions import bar_parts
from .statistics import Estimate, median
from .text import grouped, in_bytes, percent, seconds

SPLIT = ("pack", "post", "wait", "unpack")  # columns of the table: parts of a time
Rows = list[Row]


def _by(key: str, rows: Rows) -> dict[Any, Rows]:
    """The rows grouped by the value of `key`."""
    return grouped(rows, lambda row: row[key])


def _pair(row: Row) -> str:
    return f"{row['series']} / {row['baseline']}"


def _is_split(rows: Rows) -> bool:
    """Whether these times are known by part."""
    return any(row.get(part) for row in rows for part in SPLIT)


def curve_sections(record: Record) -> list[Section]:
    """Of each curve times, bandwidths and ratios to the baseline. Of many series at few sizes the parts of the times:
    there it matters where the time of each goes, not how it grows."""
    found = _summary(record.ratios)
    ratios, series = _by("curve", record.ratios), list(_by("series", record.curves))
    in_bars = _is_split(record.curves) and len(series) > len(_by("size", record.curves))
    for name, rows in _by("curve", record.curves).items():
        of_curve = ratios.get(name, [])
        charts = ([_part_bars(name, size, part) for size, part in _by("size", rows).items()] if in_bars
                  else _charts(name, rows, of_curve, series))
        if _is_split(rows):
            found += tabulated(f"{name}: median time and its parts", rows, {
                "size": member("size"), "series": member("series"), "time": member("median", seconds),
                **{part: member(part, seconds) for part in SPLIT}, "messages": member("messages"),
                "bytes": member("bytes", in_bytes)}, *charts)
        else:
            found += _times(name, rows, of_curve, charts)
    return found


def _summary(ratios: Rows) -> list[Section]:
    def ratio(statistic: Callable[[list[float]], float]) -> Callable[[Rows], str]:
        return lambda rows: f"{statistic([row['ratio'] for row in rows]):.3f}"

    pairs = grouped(ratios, lambda row: (row["curve"], _pair(row))).values()
    return tabulated("Ratios of times, over all sizes", pairs, {
        "curve": lambda rows: rows[0]["curve"], "ratio": lambda rows: _pair(rows[0]),
        "median": ratio(median), "min": ratio(min), "max": ratio(max),
        "at size": lambda rows: max(rows, key=lambda row: float(row["ratio"]))["size"],
        "1 outside the interval": lambda rows: f"{sum(not row['low'] <= 1 <= row['high'] for row in rows)} of {len(rows)}"})


def _times(name: str, rows: Rows, ratios: Rows, charts: list[Chart]) -> list[Section]:
    """A line a size, a column a series, and behind them the ratios with their confidence intervals."""
    def time(row: Row) -> str:
        error = row["standard_error"] / row["mean"] if row["mean"] and "standard_error" in row else None
        return f"{seconds(row['mean'])}" + (f" +- {percent(error)}" if error is not None else "")

    sizes = [{"size": size, "bytes": points[0]["bytes"], **{row["series"]: time(row) for row in points},
              **{_pair(row): f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" for row in ratios
                 if row["size"] == size}} for size, points in _by("size", rows).items()]
    columns = {name: member(name) for name in [*_by("series", rows), *dict.fromkeys(map(_pair, ratios))]}
    return tabulated(f"{name}: mean time and its standard error", sizes,
                     {"size": member("size"), "bytes": member("bytes", in_bytes), **columns}, *charts)


def _part_bars(name: str, size: int, rows: Rows) -> Chart:
    bars = [Bar(row["series"], bar_parts([(part, row.get(part, 0.0)) for part in SPLIT], row["median"]),
                f"{seconds(row['median'])}") for row in rows]
    return Chart(f"{name}, size {size}", "time", bars=bars, unit="s",
                 colours=region_colours(dict.fromkeys(SPLIT, "communication")))


def _charts(name: str, rows: Rows, ratios: Rows, series: list[str]) -> list[Chart]:
    which = "median" if _is_split(rows) else "mean"
    rows = [row for row in rows if row.get(which, 0) > 0 and row["bytes"] > 0]

    def lines(rows: Rows, value: Callable[[Row], Estimate]) -> list[Any]:
        found = _by("series", rows)
        return lines_of([(name, [(row["bytes"], value(row)) for row in found.get(name, [])]) for name in series])

    def time(row: Row) -> Estimate:
        """With the standard error of a mean."""
        value, error = row[which], row.get("standard_error") if which == "mean" else None
        return Estimate(value) if error is None else Estimate(value, max(value - error, value / 10), value + error)

    rates = lines([row for row in rows if row.get("mean")], lambda row: Estimate(row["bytes"] / row["mean"]))
    parts = lines(ratios, lambda row: Estimate(row["ratio"], row["low"], row["high"]))
    over = " and ".join(f"time / time of {baseline}" for baseline in _by("baseline", ratios))
    charts = [Chart(name, "bytes", f"{which} time", lines(rows, time), log_y=True, unit="s"),
              Chart(f"{name}: bandwidth", "bytes", "bytes / mean time", rates, log_y=True, unit="B/s"),
              Chart(f"{name}: ratio, below 1 is faster", "bytes", over, [*parts, level("equal", 1.0, parts)])]
    return [replace(chart, log_x=True, x_unit="B") for chart in charts if chart]
