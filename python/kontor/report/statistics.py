# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Medians of few measurements and their intervals: percentile bootstrap with a fixed seed. And whether two samples
differ.

B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, Chapman & Hall 1993, chapter 13.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RESAMPLES = 2000
LEVEL = 0.95
SEED = 4711
FEWEST_TO_COMPARE = 4  # measurements of each of two samples that may differ significantly


def number(value: float) -> str:
    """Two decimals, or two digits of a smaller value."""
    return f"{value:.2f}" if abs(value) >= 0.095 or not value else f"{value:.2g}"


class Estimate(NamedTuple):
    """A value and the ends of its confidence interval, which are None where there are too few measurements."""

    value: float
    low: float | None = None
    high: float | None = None

    def excludes(self, value: float) -> bool:
        """Whether the value is outside the interval. False where there is none."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high

    def shown(self, form: Callable[[float], str | None] = number) -> str:
        """1.23 [1.20, 1.25]"""
        if self.low is None or self.high is None or self.low == self.high:
            return str(form(self.value))
        return f"{form(self.value)} [{form(self.low)}, {form(self.high)}]"

    def __str__(self) -> str:
        return self.shown()


def median(sample: Sequence[float]) -> float:
    return float(np.median(sample))


def estimate(statistic: Callable[..., Any], *samples: Sequence[float]) -> Estimate:
    """`statistic` of the samples' medians, with an interval by resampling each sample on its own.

    It is called with one array of medians for each sample, and must work element by element. There is no interval if no
    sample has two measurements.
    """
    value = float(statistic(*(np.array([median(sample)]) for sample in samples))[0])
    if all(len(sample) < 2 for sample in samples):
        return Estimate(value)
    random = np.random.default_rng(SEED)
    draws = [random.choice(np.asarray(sample, dtype=float), (RESAMPLES, len(sample))) for sample in samples]
    found = statistic(*(np.median(drawn, axis=1) for drawn in draws))
    found = found[np.isfinite(found)]
    if not found.size:
        return Estimate(value)
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, float(min(low, value)), float(max(high, value)))


def median_of(sample: Sequence[float]) -> Estimate:
    return estimate(lambda a: a, sample)


def ratio(above: Sequence[float], below: Sequence[float], factor: float = 1.0) -> Estimate:
    """factor * median(above) / median(below)."""
    return estimate(lambda a, b: factor * a / b, above, below)


class Difference(NamedTuple):
    """Of the times of one sample relative to another's."""

    ratio: Estimate  # of the medians: below 1 the first is faster
    chance: float  # probability of ranks as different as these if nothing differed

    @property
    def significant(self) -> bool:
        """By the interval and by the ranks: the interval alone is too narrow where there are few runs."""
        return self.ratio.excludes(1) and self.chance < 1 - LEVEL

    @property
    def verdict(self) -> str:
        """Of the first sample; empty if the difference is not significant."""
        return ("faster" if self.ratio.value < 1 else "slower") if self.significant else ""


def difference(times: Sequence[float], others: Sequence[float]) -> Difference:
    return Difference(ratio(times, others), rank_sum_probability(times, others))


def rank_sum_probability(first: Sequence[float], second: Sequence[float]) -> float:
    """How likely ranks as different as these are where nothing differs: the two-sided exact test of Wilcoxon, Mann and
    Whitney (H. B. Mann, D. R. Whitney, Ann. Math. Stat. 18, 1947), equal values half each; beyond 400 pairs by its
    normal approximation. 3 and 3 measurements never get below 0.1, 4 and 4 may get to 0.03."""
    m, n = len(first), len(second)
    wins = sum((a > b) + (a == b) / 2 for a in first for b in second)
    least = min(wins, m * n - wins)
    if m * n > 400:
        deviation = math.sqrt(m * n * (m + n + 1) / 12)
        return min(1.0, math.erfc((m * n / 2 - least) / deviation / math.sqrt(2)))
    ways = sum(_ways(m, n, won) for won in range(math.floor(least) + 1))
    return min(1.0, 2 * ways / math.comb(m + n, m))


@functools.cache
def _ways(m: int, n: int, wins: int) -> int:
    """Orders of m and n values that win so many pairs: the greatest is of the m, and wins n pairs, or of the n."""
    if wins < 0 or not m or not n:
        return int(wins == 0)
    return _ways(m - 1, n, wins - n) + _ways(m, n - 1, wins)
