# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times over message sizes, and the ratios of one series to another: grouped, and as text."""

import numpy as np

from .text import percent, quantity, seconds, section, table

SPLIT = ("pack", "post", "wait", "unpack")


def by(key, rows):
    """The rows grouped by the value of `key`, in the order in which the values first appear."""
    groups = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def is_split(rows):
    """Whether these times are known by part."""
    return any(row.get(part) for row in rows for part in SPLIT)


def bandwidth(row):
    return row["bytes"] / row["mean"] if row.get("mean") else float("nan")


def curve_sections(record):
    sections = [section("Ratios, over all sizes", _ratio_summary(record.ratios))] if record.ratios else []
    ratios = by("curve", record.ratios)
    for name, rows in by("curve", record.curves).items():
        if is_split(rows):
            sections.append(section(f"{name}: median time and its parts", _parts(rows)))
        else:
            sections.append(section(f"{name}: mean time and its standard error", _times(rows, ratios.get(name, []))))
    return sections


def _ratio_summary(ratios):
    lines = []
    for name, rows in by("curve", ratios).items():
        for pair, points in _pairs(rows).items():
            values = [row["ratio"] for row in points]
            worst = max(points, key=lambda row: row["ratio"])
            beyond = sum(not row["low"] <= 1 <= row["high"] for row in points)
            lines.append([name, pair, f"{np.median(values):.3f}", f"{min(values):.3f}", f"{max(values):.3f}",
                          str(worst["size"]), f"{beyond} of {len(points)}"])
    return table(lines, ["curve", "ratio", "median", "min", "max", "at size", "1 outside the interval"], left=2)


def _pairs(ratios):
    return by("pair", [{**row, "pair": f"{row['series']} / {row['baseline']}"} for row in ratios])


def _times(rows, ratios):
    """A line a size, a column a series, and behind them the ratios with their confidence intervals."""
    series, pairs = by("series", rows), _pairs(ratios)
    lines = []
    for size, points in by("size", rows).items():
        times = {row["series"]: _time(row) for row in points}
        found = {pair: _interval(row) for pair, of_pair in pairs.items() for row in of_pair if row["size"] == size}
        lines.append([str(size), quantity(points[0]["bytes"], "B"), *(times.get(name, "-") for name in series),
                      *(found.get(pair, "-") for pair in pairs)])
    return table(lines, ["size", "bytes", *series, *pairs], left=0)


def _time(row):
    mean, error = row["mean"], row.get("standard_error")
    return f"{seconds(mean)} ± {percent(error / mean)}" if mean and error is not None else seconds(mean)


def _interval(row):
    return f"{row['ratio']:.3f} ({row['low']:.3f} to {row['high']:.3f})"


def _parts(rows):
    lines = [[str(row["size"]), row["series"], seconds(row["median"]), *(seconds(row.get(part)) for part in SPLIT),
              str(row["messages"]), quantity(row["bytes"], "B")] for row in rows]
    return table(lines, ["size", "series", "time", *SPLIT, "messages", "bytes"], left=2)
