# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Laws of scaling fitted to a series, given only with how well they fit."""

from dataclasses import dataclass

import numpy as np

from .series import Series
from .statistics import Array, Estimate, estimate, median

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
    """Amdahl's law of a problem that stays, T = T0 (f + (1 - f) / p), or Gustafson's of one that grows,
    T = T0 / (1 - f + f / p): p is the workers relative to the baseline's; T0 and f are fitted."""
    law = "Gustafson" if weak else "Amdahl"
    if len(series.points) < LEAST_POINTS:
        return Fit(law, None, None, f"{len(series.points)} points, at least {LEAST_POINTS} are needed")
    growth = np.array([point.workers / series.base.workers for point in series.points])
    fraction, error = serial_fraction(growth, np.array([median(point.sample) for point in series.points]), weak)
    if error > WORST:
        return Fit(law, None, error, f"it is off by {100 * error:.0f} % (root mean square), more than {100 * WORST:.0f} %")
    if not 0 <= fraction <= 1:
        return Fit(law, None, error, f"the serial fraction would be {fraction:.2g}, which is none")
    fractions = estimate(lambda *medians: np.array([serial_fraction(growth, row, weak)[0] for row in np.stack(medians, axis=1)[:RESAMPLES]]),
                         *(point.sample for point in series.points))
    return Fit(law, fractions, error)


def serial_fraction(growth: Array, times: Array, weak: bool) -> tuple[float, float]:
    """By least squares of relative differences, with their root mean square. f is a / (a + b) of T = a + b / p, and
    of a worker's rate 1 / T = b + a / p."""
    values = 1 / times if weak else times
    slope, constant = np.polyfit(1 / growth, values, 1, w=1 / values)
    serial, total = (slope if weak else constant), slope + constant
    error = np.sqrt(np.mean(((constant + slope / growth) / values - 1) ** 2))
    return float(serial / total) if total else float("nan"), float(error)
