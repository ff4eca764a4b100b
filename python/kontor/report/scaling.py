# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed-up and efficiency of a series relative to its baseline, and what follows from them.

docs/reference/metrics.md has the definitions and their sources.
"""

from dataclasses import dataclass

from .series import Series, count_of
from .statistics import Estimate, estimate, median_of, ratio
from .study import Point

SUPERLINEAR = 1.02  # an efficiency whose whole interval lies above needs an explanation


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
    karp_flatt: Estimate | None  # serial fraction; None at the baseline

    @property
    def superlinear(self) -> bool:
        low = self.efficiency.value if self.efficiency.low is None else self.efficiency.low
        return self.growth > 1 and low > SUPERLINEAR


def work_of(point: Point) -> float | None:
    """What a repeat does, in the unit of the figure of merit: rate times seconds. None if that is no rate."""
    for record in point.records:
        if record.figure and record.seconds:
            return float(record.figure["value"] * record.seconds) if record.figure.get("unit", "").endswith("/s") else None
    return None


def scale(series: Series, weak: bool) -> list[Scaled]:
    base = series.base
    base_work = work_of(base)
    scaled = []
    for point in series.points:
        growth = point.workers / base.workers
        own_work = work_of(point)
        work = own_work / base_work if own_work and base_work else (growth if weak else 1.0)
        speedup = same(base, point, growth if weak else 1.0)
        scaled.append(Scaled(point, median_of(point.sample), growth, work, speedup,
                             same(base, point, 1.0 if weak else 1 / growth), same(base, point, work / growth),
                             karp_flatt(base, point, growth, weak) if growth > 1 else None))
    return scaled


def same(base: Point, point: Point, factor: float) -> Estimate:
    """factor * T0 / T; exactly the factor at the baseline itself."""
    return Estimate(factor, factor, factor) if point is base else ratio(base.sample, point.sample, factor)


def karp_flatt(base: Point, point: Point, growth: float, weak: bool) -> Estimate:
    """The experimentally determined serial fraction; weak: that of the scaled speed-up by Gustafson's law."""
    if weak:  # S = p - f (p - 1)
        return estimate(lambda t0, t: (growth - growth * t0 / t) / (growth - 1), base.sample, point.sample)
    return estimate(lambda t0, t: (t / t0 - 1 / growth) / (1 - 1 / growth), base.sample, point.sample)


def warnings(series: Series, scaled: list[Scaled], weak: bool) -> list[str]:
    found = []
    for row in scaled:
        where = f"{series.name}, {count_of(row.point)}"
        if row.superlinear:
            found.append(f"{where}: superlinear, efficiency {row.efficiency.value:.2f} of {series.base_name}: look for what else "
                         "changes with the number of workers, such as a part of the problem that begins to fit in a cache, or a slow baseline")
        if weak and abs(row.work / row.growth - 1) > 0.01:
            found.append(f"{where}: the work of a worker is {row.work / row.growth:.2f} of the baseline's, so this is no weak scaling in "
                         "the strict sense; the efficiency by work takes that into account")
        if not weak and abs(row.work - 1) > 0.01:
            found.append(f"{where}: the work is {row.work:.2f} of the baseline's, so the speed-up compares different problems")
        if not row.seconds.known:
            found.append(f"{where}: measured once, so there is no confidence interval")
    return found
