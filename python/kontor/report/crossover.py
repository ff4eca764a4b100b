# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which of two series is faster at which number of workers, and where that changes."""

import itertools
import math
from dataclasses import dataclass

from .record import Row
from .series import Series
from .statistics import LEVEL, Estimate, rank_sum_probability, ratio


@dataclass
class Compared:
    workers: int
    ratio: Estimate  # time of the second over time of the first: above 1 the first is faster
    chance: float  # probability of ranks as different as these if nothing differed

    @property
    def significant(self) -> bool:
        """Both ways of looking at it must say so: the interval alone says it too soon where there are few runs."""
        return self.ratio.excludes(1) and self.chance < 1 - LEVEL


@dataclass
class Crossing:
    low: int  # workers between which it lies
    high: int
    at: float  # where the ratio would be 1, by interpolation of logarithms
    significant: bool  # both sides are
    first_wins_below: bool


def pairs(series: list[Series], key: str = "comm.backend") -> list[tuple[Series, Series]]:
    """Those that differ in `key` only."""
    return [(one, other) for one, other in itertools.combinations([one for one in series if key in one.factors], 2)
            if _without(one, key) == _without(other, key)]


def _without(series: Series, key: str) -> Row:
    return {name: value for name, value in series.factors.items() if name != key}


def compare(one: Series, other: Series) -> list[Compared]:
    """At the numbers of workers that both have."""
    shared = [(point, other.at(point.workers)) for point in one.points]
    return [Compared(mine.workers, ratio(its.sample, mine.sample), rank_sum_probability(its.sample, mine.sample)) for mine, its in shared if its]


def crossings(compared: list[Compared]) -> list[Crossing]:
    """Where the intervals of both sides say so: equal times cross anywhere."""
    found = []
    for before, after in itertools.pairwise(compared):
        a, b = math.log(before.ratio.value), math.log(after.ratio.value)
        if a * b < 0 and before.ratio.excludes(1) and after.ratio.excludes(1):
            part = a / (a - b)
            at = math.exp((1 - part) * math.log(before.workers) + part * math.log(after.workers))
            found.append(Crossing(before.workers, after.workers, at, before.significant and after.significant, a > 0))
    return found
