# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What has which colour, in every picture and page, and lines that have theirs."""

from .report_parts import Line
from .statistics import Estimate

# Okabe and Ito's colours: told apart by colour-blind readers too. And some of Paul Tol's for the parts of a solver.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
OTHER = "#999999"
PARTS = {"compute": "#0072B2", "gemm": "#0072B2", "spmv": "#0072B2", "spmv_boundary": "#56B4E9", "vectors": "#332288", "preconditioner": "#882255",
         "pack": "#E69F00", "post": "#F0E442", "wait": "#D55E00", "unpack": "#CC79A7", "reduce": "#009E73",
         "sums_post": "#99D8C0", "sums_wait": "#009E73", "broadcast": "#D55E00", "other": OTHER}
BACKENDS = {"raw": "#0072B2", "view": "#D55E00", "shm": "#009E73", "nccl": "#CC79A7", "ipc": "#E69F00", "null": OTHER}


def colours(names):
    """Name by name: the backend's where a word of the name is one, else one that no backend here has."""
    return _with_others(names, {name: BACKENDS[backend] for name in names if (backend := backend_in(name))})


def backend_in(name):
    """The first word of the name, up to a comma, if it is a backend; or None."""
    first = name.split()[0].rstrip(",") if name.split() else ""
    return first if first in BACKENDS else None


def part_colours(parts):
    """Those of PARTS; other parts get what these do not use."""
    return _with_others(parts, {part: PARTS[part] for part in parts if part in PARTS})


def _with_others(names, own):
    free = [colour for colour in PALETTE if colour not in own.values()] or list(PALETTE)
    others = [name for name in dict.fromkeys(names) if name not in own]
    return {**own, **{name: free[place % len(free)] for place, name in enumerate(others)}}


def dashes(chosen):
    """Of each of these colours how many of the same are before it: lines that share a colour differ by their dash."""
    return [chosen[:place].count(colour) for place, colour in enumerate(chosen)]


def lines_of(series: list[tuple[str, list[tuple[float, Estimate]]]]) -> list[Line]:
    """A line for each name that has points, x and the estimate. A backend has its colour, and lines that share one differ by their dash."""
    colour = colours([name for name, _ in series])
    dash = dashes([colour[name] for name, _ in series])
    return [Line(name, colour[name], *zip(*((x, value.value, value.low, value.high) for x, value in points)), dash=of_line)
            for (name, points), of_line in zip(series, dash) if points]


def level(name: str, value: float, lines: list[Line]) -> Line:
    """A line to compare with: the value wherever one of the lines has a point."""
    across = sorted({x for line in lines for x in line.x})
    return Line(name, OTHER, across, [value] * len(across), dash=1, ideal=True)
