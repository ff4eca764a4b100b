# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Laws of scaling fitted to a series, given only with how well they fit."""

from dataclasses import dataclass

import numpy as np

from .series import Series
from .statistics import Estimate, estimate, median

LEAST_POINTS = 4
WORST = 0.1  # relative root mean square of what the fit leaves
RESAMPLES = 500  # that are fitted


@dataclass
class Fit:
    law: str
    serial: Estimate | None  # the fraction; None if the fit is not given
    error: float | None  # relative, root mean square over the points
    refused: str = ""  # why it is not given


def fit(series: Series, weak: bool) -> Fit:
    """Amdahl's law of a problem that stays, Gustafson's of one that grows, T = T0 (f + (1 - f) / p) and T = T0 / (1 - f + f / p),
    where p is the number of workers beside the baseline's and T0, f are fitted."""
    law = "Gustafson" if weak else "Amdahl"
    if len(series.points) < LEAST_POINTS:
        return Fit(law, None, None, f"{len(series.points)} points, at least {LEAST_POINTS} are needed")
    growth = np.array([point.workers / series.base.workers for point in series.points])
    solve = gustafson if weak else amdahl
    times = np.array([median(point.sample) for point in series.points])
    fraction, error = solve(growth, times)
    if error > WORST:
        return Fit(law, None, error, f"it is off by {100 * error:.0f} % (root mean square), more than {100 * WORST:.0f} %")
    if not 0 <= fraction <= 1:
        return Fit(law, None, error, f"the serial fraction would be {fraction:.2g}, which is none")
    fractions = estimate(lambda *medians: np.array([solve(growth, row)[0] for row in np.stack(medians, axis=1)[:RESAMPLES]]),
                         *(point.sample for point in series.points))
    return Fit(law, fractions, error)


def amdahl(growth: np.ndarray, times: np.ndarray) -> tuple[float, float]:
    """The serial fraction and the relative error of T = a + b / p, by least squares of relative differences."""
    return _linear(np.ones_like(growth), 1 / growth, times, times)


def gustafson(growth: np.ndarray, times: np.ndarray) -> tuple[float, float]:
    """The same of 1 / T = a / p + b, the rate of a worker: f = a / (a + b)."""
    return _linear(1 / growth, np.ones_like(growth), 1 / times, 1 / times)


def _linear(serial: np.ndarray, parallel: np.ndarray, values: np.ndarray, scale: np.ndarray) -> tuple[float, float]:
    columns = np.stack([serial / scale, parallel / scale], axis=1)
    (a, b), *_ = np.linalg.lstsq(columns, values / scale, rcond=None)
    left = columns @ (a, b) - values / scale
    total = a + b
    return float(a / total) if total else float("nan"), float(np.sqrt(np.mean(left**2)))
