# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Medians of few measurements, and how far they may be off: percentile bootstrap with a fixed seed.

B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, Chapman & Hall 1993, chapter 13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
LEVEL = 0.95
SEED = 4711


@dataclass(frozen=True)
class Estimate:
    """A value and the ends of its confidence interval, which are None where there are too few measurements."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def known(self) -> bool:
        return self.low is not None and self.high is not None

    def excludes(self, value: float) -> bool:
        """Whether the interval lies beside the value. False where there is none."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high

    def overlaps(self, other: Estimate) -> bool:
        return not (self.known and other.known) or (self.low <= other.high and other.low <= self.high)


def median(sample: Sequence[float]) -> float:
    return float(np.median(sample))


def estimate(statistic: Callable[..., np.ndarray], *samples: Sequence[float], seed: int = SEED) -> Estimate:
    """`statistic` of the samples' medians, with an interval by resampling each sample on its own.

    It is called with one array of medians for each sample, and must work element by element. There is no interval if no
    sample has two measurements.
    """
    value = float(statistic(*(np.array([median(sample)]) for sample in samples))[0])
    if all(len(sample) < 2 for sample in samples):
        return Estimate(value)
    found = statistic(*resampled_medians(samples, seed))
    found = found[np.isfinite(found)]
    if not found.size:
        return Estimate(value)
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, float(min(low, value)), float(max(high, value)))


def resampled_medians(samples: Sequence[Sequence[float]], seed: int = SEED) -> list[np.ndarray]:
    """For each sample RESAMPLES medians of as many draws with replacement."""
    random = np.random.default_rng(seed)
    medians = []
    for sample in samples:
        values = np.asarray(sample, dtype=float)
        medians.append(np.median(values[random.integers(0, values.size, (RESAMPLES, values.size))], axis=1))
    return medians


def median_of(sample: Sequence[float]) -> Estimate:
    return estimate(lambda a: a, sample)


def ratio(above: Sequence[float], below: Sequence[float], factor: float = 1.0) -> Estimate:
    """factor * median(above) / median(below)."""
    return estimate(lambda a, b: factor * a / b, above, below)
