# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Axes: where a value lies, and which values are told."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MOST_TICKS = 12


@dataclass
class Axis:
    ticks: list[float]
    at: Callable[[float], float]


def linear_axis(values: Sequence[float], begin: float, end: float, only: Sequence[float] = (), steps: int = 5) -> Axis:
    """From `begin` to `end` on the page; ticks at the values `only`, if these are few, else some `steps`."""
    low, high = min(values), max(values)
    if low == high:
        low, high = (low - 1, high + 1) if low else (0.0, 1.0)
    step = nice((high - low) / steps)
    if low < 0 or low > step / 2:
        low = math.floor(low / step) * step
    high = math.ceil(high / step - 1e-9) * step
    low = 0.0 if 0 <= low < step else low
    ticks = list(only) if 0 < len(only) <= MOST_TICKS else [round(low / step + place) * step for place in range(round((high - low) / step) + 1)]
    return Axis(ticks, lambda value: begin + (value - low) / (high - low) * (end - begin))


def log_axis(values: Sequence[float], begin: float, end: float, only: Sequence[float] = ()) -> Axis:
    low, high = math.log10(min(values)), math.log10(max(values))
    room = max(0.04 * (high - low), 0.03)
    low, high = low - room, high + room
    ticks = list(only) if 0 < len(only) <= MOST_TICKS else _decades(low, high)
    return Axis(ticks, lambda value: begin + (math.log10(max(value, 1e-300)) - low) / (high - low) * (end - begin))


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten; if these are few, 2 and 5 times them too."""
    digits = (1,) if high - low > 3 else (1, 2, 5) if high - low > 0.6 else (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
    found = [digit * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for digit in digits]
    return [value for value in found if low <= math.log10(value) <= high]


def nice(step: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step)) if step > 0 else 1.0
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= step * (1 - 1e-9))
