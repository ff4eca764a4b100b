# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a study scales: tables and plots of times, speed-up and efficiency."""

from collections.abc import Callable

from .colours import OTHER, level, lines_of
from .report_parts import Chart, Line, Part, Section, Table
from .scaling import Scaled, same, scale, warnings
from .series import Series, baseline_of, count_of
from .statistics import Estimate
from .study import Point, Study
from .text import seconds

ENOUGH = 6  # measurements for an interval of a median of 95 %
HEADER = ["series", "workers", "time", "speed-up", "efficiency", "efficiency by work", "Karp-Flatt", "runs"]


def scaling_sections(study: Study, series: list[Series]) -> list[Section]:
    grown = [one for one in series if len(one.points) > 1]
    if not grown:
        return []
    weak = study.kind == "weak"
    scaled = [(one, scale(one, weak)) for one in grown]
    least = min(len(row.point.sample) for _, rows in scaled for row in rows)
    baseline = baseline_of(study, series)
    parts: list[Part] = [_meaning(weak, least), _table(scaled, weak, baseline)]
    parts += [f"Warning: {text}." for one, rows in scaled for text in warnings(one, rows, weak)]
    parts += [_times(scaled, weak), _efficiency(scaled, weak)]
    return [Section("Weak scaling" if weak else "Scaling", parts)]


def _meaning(weak: bool, least: int) -> str:
    growth = ("the problem grows with the number of workers: efficiency is the baseline's time over this time, speed-up the scaled one"
              if weak else "the same problem on more workers: speed-up is the baseline's time over this time, efficiency speed-up over workers")
    return (f"The baseline of each series is marked *: the point that the study names, else the one with the "
            f"fewest workers; {growth}, both relative to the baseline. In brackets: "
            f"95 % confidence intervals by bootstrap over the runs of a point{_few(least)}.")


def _few(runs: int) -> str:
    """No interval of a median is surer than that from the least to the greatest of n measurements: 1 - 2^(1 - n)."""
    if runs >= ENOUGH:
        return ""
    return f"; with only {runs} measurements of a point no interval of a median is surer than {100 * (1 - 2.0 ** (1 - runs)):.0f} %"


def _table(scaled: list[tuple[Series, list[Scaled]]], weak: bool, baseline: Point | None) -> Table:
    uneven = weak and any(abs(row.work / row.growth - 1) > 0.01 for _, rows in scaled for row in rows)
    rows = []
    for one, of_one in scaled:
        for row in of_one:
            mark = " *" if row.point is one.base else ""
            rows.append([one.name, count_of(row.point) + mark, interval(row.seconds, seconds), interval(row.speedup), interval(row.efficiency),
                         *([interval(row.by_work)] if uneven else []), interval(row.karp_flatt),
                         *([interval(same(baseline, row.point, 1.0))] if baseline else []), str(len(row.point.records))])
    header = [word for word in HEADER if uneven or word != "efficiency by work"]
    return Table([*header[:-1], *([f"time of {baseline.id} / time"] if baseline else []), header[-1]], rows, left=2)


def interval(value: Estimate | None, shown: Callable[[float], str] = "{:.2f}".format) -> str:
    """1.23 [1.20, 1.25]"""
    if value is None:
        return "-"
    if value.low is None or value.high is None or value.low == value.high:
        return shown(value.value)
    return f"{shown(value.value)} [{shown(value.low)}, {shown(value.high)}]"


def _times(scaled: list[tuple[Series, list[Scaled]]], weak: bool) -> Chart:
    chart = Chart("Time of a repeat", "workers", "time", log_x=True, log_y=True, unit="s")
    chart.lines = _lines(scaled, lambda row: row.seconds)
    one, rows = scaled[0]
    first = next(row.seconds.value for row in rows if row.point is one.base)
    chart.lines.append(Line(f"ideal, from {one.base_name}", OTHER, [row.point.workers for row in rows],
                            [first if weak else first / row.growth for row in rows], dash=1, ideal=True))
    return chart


def _efficiency(scaled: list[tuple[Series, list[Scaled]]], weak: bool) -> Chart:
    chart = Chart("Weak efficiency" if weak else "Efficiency", "workers", "efficiency", log_x=True, from_zero=True)
    chart.lines = _lines(scaled, lambda row: row.efficiency)
    chart.lines.append(level("ideal", 1.0, chart.lines))
    return chart


def _lines(scaled: list[tuple[Series, list[Scaled]]], what: Callable[[Scaled], Estimate]) -> list[Line]:
    return lines_of([(one.name, [(row.point.workers, what(row)) for row in rows]) for one, rows in scaled])
