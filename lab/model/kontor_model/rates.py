# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels take, by the size of a rank's part: measured at some sizes, and lines between them."""

from __future__ import annotations

from dataclasses import dataclass

# Those that mini-apps take on simulated ranks (lab/model/kernel_times.cpp).
KERNELS = {
    "heat/sweep": "a sweep over so many cells",
    "cg/product": "a product A x of so many rows",
    "cg/vectors": "a loop over vectors of so many rows",
    "matmul/gemm": "a local product of so many flops",
}


@dataclass(frozen=True)
class Rate:
    """Seconds of a kernel by size: lines between what is given; outside, a unit takes what it takes at the nearest size."""

    points: tuple[tuple[float, float], ...]

    def __init__(self, points: object) -> None:
        object.__setattr__(self, "points", tuple(sorted((float(size), float(seconds)) for size, seconds in points)))

    def __call__(self, size: float) -> float:
        for below, above in zip(self.points, self.points[1:]):
            if below[0] <= size <= above[0]:
                part = (size - below[0]) / (above[0] - below[0])
                return below[1] + part * (above[1] - below[1])
        nearest = self.points[0] if size < self.points[0][0] else self.points[-1]
        return nearest[1] * size / nearest[0]

    def times(self, factor: float) -> Rate:
        """The same, where each call takes so many times longer."""
        return Rate((size, seconds * factor) for size, seconds in self.points)

    def covers(self, size: float) -> bool:
        """Whether it was measured there, or the size lies between two that were."""
        return self.points[0][0] <= size <= self.points[-1][0]


def kernel_times_text(rates: dict[str, Rate]) -> str:
    """As simulated runs read it: KONTOR_KERNEL_TIMES."""
    return "".join(f"{kernel} {size:.17g} {seconds:.17g}\n" for kernel, rate in rates.items() for size, seconds in rate.points)
