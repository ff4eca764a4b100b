# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed-up and efficiency of a series relative to its baseline, as tables and charts.

docs/reference/metrics.md has the definitions and their sources.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .colours import OTHER, level, lines_of
from .report_parts import Chart, Line, Part, Section, Table
from .series import Series, baseline_of, count_of
from .statistics import Estimate, interval, median, median_of, ratio
from .study import Point, Study
from .text import seconds

SUPERLINEAR = 1.02  # an efficiency whose whole interval lies above needs an explanation
UNEVEN = 0.01  # relative, of work that is not what it should be
ENOUGH = 6  # measurements for an interval of a median of 95 %
HEADER = ["series", "workers", "time", "speed-up", "efficiency", "efficiency by work", "runs"]


@dataclass
class Scaled:
    """One point beside the baseline."""

    point: Point
    seconds: Estimate
    growth: float  # workers beside the baseline's
    work: float  # done in a repeat, beside the baseline's; 1 where the records do not say
    speedup: Estimate  # strong: T0 / T; weak: scaled, growth * T0 / T
    efficiency: Estimate
    by_work: Estimate  # the same by work a worker: differs where the work does not grow as the workers do

    @property
    def superlinear(self) -> bool:
        low = self.efficiency.value if self.efficiency.low is None else self.efficiency.low
        return self.growth > 1 and low > SUPERLINEAR


def work_of(point: Point) -> float | None:
    """What a repeat does, in the unit of the figure of merit: rate times seconds. None if that is no rate."""
    for record in point.records:
        if record.figure and record.seconds:
            is_rate = record.figure.get("unit", "").endswith("/s")
            return float(record.figure["value"] * record.seconds) if is_rate else None
    return None


def scale(series: Series, weak: bool) -> list[Scaled]:
    base, base_work = series.base, work_of(series.base)
    scaled = []
    for point in series.points:
        growth, own_work = point.workers / base.workers, work_of(point)
        work = own_work / base_work if own_work and base_work else (growth if weak else 1.0)
        scaled.append(Scaled(point, median_of(point.sample), growth, work, _same(base, point, growth if weak else 1.0),
                             _same(base, point, 1.0 if weak else 1 / growth), _same(base, point, work / growth)))
    return scaled


def _same(base: Point, point: Point, factor: float) -> Estimate:
    """factor * T0 / T; exactly the factor at the baseline itself."""
    return Estimate(factor, factor, factor) if point is base else ratio(base.sample, point.sample, factor)


def warnings(series: Series, scaled: list[Scaled], weak: bool) -> list[str]:
    found = []
    for row in scaled:
        where, by_worker = f"{series.name}, {count_of(row.point)}", row.work / row.growth
        if row.superlinear:
            found.append(f"{where}: superlinear, efficiency {row.efficiency.value:.2f} of {series.base_name}: a cache "
                         "that the problem begins to fit in, or a slow baseline")
        if weak and abs(by_worker - 1) > UNEVEN:
            found.append(f"{where}: the work of a worker is {by_worker:.2f} of the baseline's: see efficiency by work")
        if not weak and abs(row.work - 1) > UNEVEN:
            found.append(f"{where}: the work is {row.work:.2f} of the baseline's, so the problems are different")
        if not row.seconds.known:
            found.append(f"{where}: measured once, so there is no confidence interval")
    return found


def scaling_sections(study: Study, series: list[Series]) -> list[Section]:
    weak, baseline = study.kind == "weak", baseline_of(study, series)
    scaled = [(one, scale(one, weak)) for one in series if len(one.points) > 1]
    if not scaled:
        return []
    uneven = weak and any(abs(row.work / row.growth - 1) > UNEVEN for _, rows in scaled for row in rows)
    cells = [[one.name, count_of(row.point) + " *" * (row.point is one.base), interval(row.seconds, seconds),
              row.speedup, row.efficiency, *([row.by_work] if uneven else []),
              *([_same(baseline, row.point, 1.0)] if baseline else []), len(row.point.records)]
             for one, rows in scaled for row in rows]
    header = [word for word in HEADER if uneven or word != "efficiency by work"]
    header[-1:-1] = [f"time of {baseline.id} / time"] if baseline else []
    parts: list[Part] = [_meaning(weak, min(len(row.point.sample) for _, rows in scaled for row in rows)),
                         Table(header, cells, left=2)]
    parts += [f"Warning: {text}." for one, rows in scaled for text in warnings(one, rows, weak)]

    def lines(what: Callable[[Scaled], Estimate]) -> list[Line]:
        return lines_of([(one.name, [(row.point.workers, what(row)) for row in rows]) for one, rows in scaled])

    one, rows = scaled[0]
    first = median(one.base.sample)
    ideal = Line(f"ideal, from {one.base_name}", OTHER, [row.point.workers for row in rows],
                 [first if weak else first / row.growth for row in rows], dash=1, ideal=True)
    times, shares = lines(lambda row: row.seconds), lines(lambda row: row.efficiency)
    parts += [Chart("Time of a repeat", "workers", "time", [*times, ideal], log_x=True, log_y=True, unit="s"),
              Chart("Weak efficiency" if weak else "Efficiency", "workers", "efficiency",
                    [*shares, level("ideal", 1.0, shares)], log_x=True, from_zero=True)]
    return [Section("Weak scaling" if weak else "Scaling", parts)]


def _meaning(weak: bool, runs: int) -> str:
    growth = "the problem grows with the number of workers" if weak else "the same problem on more workers"
    # No interval of a median is surer than that from the least to the greatest of n measurements: 1 - 2^(1 - n).
    few = (f"; with only {runs} measurements of a point no interval of a median is surer than "
           f"{100 * (1 - 2.0 ** (1 - runs)):.0f} %" if runs < ENOUGH else "")
    return (f"The baseline of each series is marked *; {growth}. In brackets: 95 % confidence intervals by bootstrap "
            f"over the runs of a point{few}.")
