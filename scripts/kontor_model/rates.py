# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a unit of work takes, by the size of a rank's part: measured at some sizes, and lines between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Those that the mini-apps charge on simulated ranks (miniapps/machine/simulation.hpp), and their units.
KERNELS = {
    "heat/sweep": "a cell's update, by cells of a rank",
    "cg/product": "a row of the product A x, by rows of a rank",
    "cg/vectors": "a row of one loop over vectors, by rows of a rank",
    "matmul/gemm": "a flop of a local product, by flops of the product",
}


@dataclass(frozen=True)
class Rate:
    """Seconds of a unit, linear over the logarithm of the size, constant outside of what is given."""

    points: tuple[tuple[float, float], ...]

    def __init__(self, points: object) -> None:
        object.__setattr__(self, "points", tuple(sorted((float(size), float(seconds)) for size, seconds in points)))

    def __call__(self, size: float) -> float:
        first, last = self.points[0], self.points[-1]
        if size <= first[0]:
            return first[1]
        for below, above in zip(self.points, self.points[1:]):
            if size <= above[0]:
                part = math.log(size / below[0]) / math.log(above[0] / below[0])
                return below[1] + part * (above[1] - below[1])
        return last[1]

    def covers(self, size: float) -> bool:
        """Whether it was measured there, or the size lies between two that were."""
        return self.points[0][0] <= size <= self.points[-1][0]


def charges_text(rates: dict[str, Rate]) -> str:
    """As simulated runs read it: KONTOR_CHARGES."""
    return "".join(f"{kernel} {size:.17g} {seconds:.17g}\n" for kernel, rate in rates.items() for size, seconds in rate.points)
