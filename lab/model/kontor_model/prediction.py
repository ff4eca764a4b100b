# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model says of one point: seconds of a step and what they are made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .machine import Machine

Value = Callable[[str], Any]  # what the deck says, by key


@dataclass
class Prediction:
    """`compute + exchange + reduction` is the whole repeat; `compute` that of the rank that has most."""

    steps: int | None  # of a repeat; None: the deck ends by a tolerance, and these are the seconds of one
    compute: float
    exchange: float  # what it adds to the computation, overlap taken off
    reduction: float
    grid: tuple[int, ...]
    part: str  # what a rank has, in words
    messages: float = 0.0  # a step and rank
    bytes: float = 0.0  # a step and rank
    remarks: list[str] = field(default_factory=list)
    hidden: float = 0.0  # seconds of reductions that go on meanwhile, so that they are not in `reduction`

    @property
    def seconds(self) -> float:
        return self.compute + self.exchange + self.reduction

    @property
    def bound(self) -> str:
        """What most of it is."""
        parts = {"compute": self.compute, "exchange": self.exchange, "reduction": self.reduction}
        return max(parts, key=lambda name: parts[name])


def outside(machine: Machine, **sizes: float) -> list[str]:
    """Remarks about kernels, written with _ for /, whose size was not measured and lies between none that were."""
    found = []
    for name, size in sizes.items():
        kernel = name.replace("_", "/")
        rate = machine.rate(kernel)
        if not rate.covers(size):
            found.append(f"{kernel}: {size:.6g} lies outside of what the machine tells, from {rate.points[0][0]:.6g} to {rate.points[-1][0]:.6g}: "
                         "a unit is taken to take as long as at the nearest size")
    return found
