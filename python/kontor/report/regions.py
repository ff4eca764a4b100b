# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the time of repeats goes: bars of regions, which have one order and one colour in all pictures of a report."""

from collections.abc import Mapping, Sequence

import numpy as np

from .parts import Bar, Chart, region_colours
from .record import Record, regions_of
from .statistics import median

LEAST = 0.002  # a smaller part of the time is not drawn
Named = tuple[str, Sequence[Record], float, str | None]  # name of a bar, its runs, their time, words


def time_bars(title: str, named: Sequence[Named], kinds: Mapping[str, str | None]) -> list[Chart]:
    """The parts of a typical repeat, medians over runs. `kinds` is of all runs of the report, by regions_of()."""
    bars = []
    for name, records, total, words in named:
        own = regions_of(records)
        parts = [(region, total * median([_part(record, region) for record in records if region in record.timers]))
                 for region in kinds if region in own]
        if own and total and (shown := bar_parts(parts, total)):
            bars.append(Bar(name, shown, words or ""))
    return [Chart(title, "time", bars=bars, colours=region_colours(kinds), unit="s")] if bars else []


def bar_parts(parts: Sequence[tuple[str, float]], total: float) -> list[tuple[str, float]]:
    """Without what is too small to be seen, and with what is left."""
    shown = [(name, value) for name, value in parts if value > LEAST * total]
    left = total - sum(value for _, value in shown)
    return [*shown, ("other", left)] if left > LEAST * total else shown


def _part(record: Record, region: str) -> float:
    """A region's part of a repeat: the mean over ranks in the repeat with the median time, or, without times of ranks,
    the median over ranks of the mean repeat."""
    table = record.per_rank
    if table.get("wall") and region in table["regions"]:
        walls = np.array(table["wall"], dtype=float).max(axis=1, initial=0.0)
        typical = int(np.argsort(walls, kind="stable")[(len(walls) - 1) // 2])
        mean = np.mean([row[table["regions"].index(region)] for row in table["seconds"][typical]])
        return float(mean / walls[typical]) if walls[typical] > 0 else 0.0
    return record.share(region) or 0.0
