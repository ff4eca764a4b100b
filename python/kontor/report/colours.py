# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What has which colour, in every picture and page, and lines that have theirs."""

from collections.abc import Iterable, Mapping, Sequence

from .report_parts import Line
from .statistics import Estimate

# Okabe and Ito's colours: told apart by colour-blind readers too. And some of Paul Tol's for the parts of a solver.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
OTHER = "#999999"
KINDS = {"compute": ("#0072B2", "#56B4E9", "#332288", "#882255"), "packing": ("#E69F00", "#CC79A7"),
         "communication": ("#D55E00", "#F0E442", "#009E73", "#99D8C0", "#661100"), "io": ("#000000",)}
BACKENDS = {"raw": "#0072B2", "view": "#D55E00", "shm": "#009E73", "nccl": "#CC79A7", "ipc": "#E69F00", "null": OTHER}


def colours(names: Iterable[str]) -> dict[str, str]:
    """By name: the backend's where the first word is a backend, else a colour that no backend here has."""
    words = {name: (name.split() or [""])[0].rstrip(",") for name in names}
    own = {name: BACKENDS[word] for name, word in words.items() if word in BACKENDS}
    free = [colour for colour in PALETTE if colour not in own.values()] or list(PALETTE)
    others = [name for name in words if name not in own]
    return {**own, **{name: free[place % len(free)] for place, name in enumerate(others)}}


def part_colours(kinds: Mapping[str, str | None]) -> dict[str, str]:
    """Of regions by their kinds: each kind has its own group of colours. Grey for what has no kind."""
    chosen: dict[str, str] = {}
    for region, kind in kinds.items():
        group = KINDS.get(kind or "", (OTHER,) if region == "other" else PALETTE)
        chosen[region] = group[sum(kinds[other] == kind for other in chosen) % len(group)]
    return chosen


def dashes(chosen: list[str]) -> list[int]:
    """Of each of these colours how many of the same are before it: lines that share a colour differ by their dash."""
    return [chosen[:place].count(colour) for place, colour in enumerate(chosen)]


def lines_of(series: Sequence[tuple[str, Sequence[tuple[float, Estimate]]]]) -> list[Line]:
    """A line for each name with points (x, estimate). Lines that share a backend's colour differ by their dash."""
    colour = colours(name for name, _ in series)
    dash = dashes([colour[name] for name, _ in series])
    return [Line(name, colour[name], [x for x, _ in points], [y.value for _, y in points], [y.low for _, y in points],
                 [y.high for _, y in points], of_line) for (name, points), of_line in zip(series, dash) if points]


def level(name: str, value: float, lines: list[Line]) -> Line:
    """A line to compare with: the value wherever one of the lines has a point."""
    across = sorted({x for line in lines for x in line.x})
    return Line(name, OTHER, across, [value] * len(across), dash=1, ideal=True)
