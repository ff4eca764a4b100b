# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times over message sizes, and the ratios of one series to another: as tables and as charts."""

from collections.abc import Callable
from typing import Any

from .parts import Bar, Chart, Line, Section, level, lines_of, region_colours, tabulated
from .record import Record, Row
from .views import bar_parts
from .statistics import Estimate
from .text import grouped, in_bytes, percent, seconds

SPLIT = ("pack", "post", "wait", "unpack")  # columns of the table: parts of a time
Rows = list[Row]


def _by(key: str, rows: Rows) -> dict[Any, Rows]:
    return grouped(rows, lambda row: row[key])


def curve_sections(record: Record) -> list[Section]:
    """Of each curve, where times are known by part these, else how they grow, and ratios to the baseline."""
    found = list[Section]()
    ratios = _by("curve", record.ratios)
    for name, rows in _by("curve", record.curves).items():
        if any(row.get(part) for row in rows for part in SPLIT):
            found += _parts(name, rows)
        else:
            found += _times(name, rows, ratios.get(name, []))
    return found


def _parts(name: str, rows: Rows) -> list[Section]:
    """By time at each size, those that move nothing behind the others: `null` is a limit, and not a way."""
    cells, charts = [], []
    for size, of_size in _by("size", rows).items():
        ordered = sorted(of_size, key=lambda row: (row["series"].startswith("null"), float(row["median"])))
        fastest = ordered[0]["median"]
        cells += [{"size": size, "series": row["series"], "time": seconds(row["median"]),
                   "of fastest": f"{row['median'] / fastest:.2f}" if fastest else None,
                   **{part: seconds(row.get(part)) for part in SPLIT}, "messages": row["messages"],
                   "bytes": in_bytes(row["bytes"])} for row in ordered]
        bars = [Bar(row["series"], bar_parts([(part, row.get(part, 0.0)) for part in SPLIT], row["median"]),
                    f"{seconds(row['median'])}") for row in ordered]
        charts.append(Chart(f"{name}, size {size}", "time", bars=bars, unit="s",
                            colours=region_colours(dict.fromkeys(SPLIT, "communication"))))
    return tabulated(f"{name}: median time and its parts", cells, *charts)


def _times(name: str, rows: Rows, ratios: Rows) -> list[Section]:
    """A line a size, a column a series, and behind them the ratios with their confidence intervals."""
    cells = [{"size": size, "bytes": in_bytes(points[0]["bytes"]),
              **{row["series"]: f"{seconds(row['mean'])} +- {percent(row['standard_error'] / row['mean'])}"
                 for row in points},
              **{f"{row['series']} / {row['baseline']}": f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
                 for row in ratios if row["size"] == size}} for size, points in _by("size", rows).items()]
    series = dict.fromkeys(row["series"] for row in rows)
    rows = [row for row in rows if row["bytes"] > 0]

    def lines(rows: Rows, value: Callable[[Row], Estimate]) -> list[Line]:
        return lines_of([(name, [(row["bytes"], value(row)) for row in rows if row["series"] == name])
                         for name in series])

    def with_error(row: Row) -> Estimate:
        value, error = row["mean"], row["standard_error"]
        return Estimate(value, max(value - error, value / 10), value + error)

    rates = lines(rows, lambda row: Estimate(row["bytes"] / row["mean"]))
    parts = lines(ratios, lambda row: Estimate(row["ratio"], row["low"], row["high"]))
    over = " and ".join(f"time / time of {baseline}" for baseline in dict.fromkeys(row["baseline"] for row in ratios))
    charts = [Chart(name, "bytes", "mean time", lines(rows, with_error), log_x=True, log_y=True, x_unit="B", unit="s"),
              Chart(f"{name}: bandwidth", "bytes", "bytes / mean time", rates, log_x=True, log_y=True, x_unit="B",
                    unit="B/s"),
              Chart(f"{name}: ratio, below 1 is faster", "bytes", over, [*parts, level("equal", 1.0, parts)],
                    log_x=True, x_unit="B")]
    return tabulated(f"{name}: mean time and its standard error", cells, *filter(None, charts))
