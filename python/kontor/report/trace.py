# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When each rank was in which region during the traced steps: as a table and as a picture."""

import numpy as np

from .colours import part_colours
from .record import Record, Row
from .report_parts import Chart, Lane, Section, Table
from .text import grouped, percent, seconds
from .time_section import kinds_of

MOST_RANKS, MOST_INTERVALS = 16, 200  # in the picture; the latter of a region of a rank
HEADER = ["region", "times", "longest", "all", "not hidden", "hidden"]


def trace_sections(record: Record) -> list[Section]:
    """Of each region, the rank that it takes longest."""
    if not record.trace:
        return []
    names = regions(record)
    table = Table(HEADER, [_row(record, name) for name in names])
    return [Section("Timeline of the traced steps", [table, _chart(record, names)], "of the rank that each takes longest")]


def regions(record: Record) -> list[str]:
    """In the order in which they first begin; what computes comes first."""
    names = dict.fromkeys(row["region"] for row in sorted(record.trace, key=lambda row: float(row["begin"])))
    return sorted(names, key=lambda name: bool(record.kind(name) != "compute"))


def length(row: Row) -> float:
    return float(row["end"] - row["begin"])


def exposed(rows: list[Row], computing: list[Row]) -> float:
    """Seconds of intervals that no computing of their rank covers; a rank computes one thing at a time."""
    edges = np.array(sorted(row[end] for row in computing for end in ("begin", "end")))
    total = sum(map(length, rows))
    if not edges.size:
        return total
    inside = np.arange(edges.size - 1) % 2 == 0
    computed = np.concatenate([[0.0], np.cumsum(np.diff(edges) * inside)])  # until each edge
    begin, end = (np.interp([row[key] for row in rows], edges, computed) for key in ("begin", "end"))
    return max(0.0, total - float((end - begin).sum()))


def _row(record: Record, name: str) -> list[str]:
    of_rank = grouped((row for row in record.trace if row["region"] == name), lambda row: int(row["rank"]))
    rank, mine = max(of_rank.items(), key=lambda item: sum(map(length, item[1])))
    total = sum(map(length, mine))
    cells = [name, str(len(mine)), seconds(max(map(length, mine))), seconds(total)]
    if record.kind(name) == "compute":
        return [*cells, "-", "-"]
    computing = [row for row in record.trace if row["rank"] == rank and record.kind(row["region"]) == "compute"]
    left = exposed(mine, computing)
    return [*cells, seconds(left), percent(1 - left / total) if total > 0 else "-"]


def _chart(record: Record, names: list[str]) -> Chart:
    """A lane for each region of a rank, as far as there is room for intervals."""
    ranks = sorted({row["rank"] for row in record.trace})
    found = grouped(sorted(record.trace, key=lambda row: float(row["begin"])), lambda row: (int(row["rank"]), str(row["region"])))
    until = min((rows[MOST_INTERVALS]["begin"] for rows in found.values() if len(rows) > MOST_INTERVALS), default=float("inf"))
    lanes = [Lane(f"rank {rank}", name, [(row["begin"], length(row)) for row in found[rank, name] if row["begin"] < until])
             for rank in ranks[:MOST_RANKS] for name in names if (rank, name) in found]
    more = f", the first {MOST_RANKS} of {len(ranks)} ranks" if len(ranks) > MOST_RANKS else ""
    more += f", the first {seconds(until)}" if until < float("inf") else ""
    return Chart(f"Timeline of the traced steps{more}", "time since the steps began", lanes=lanes, x_unit="s",
                 colours=part_colours({**kinds_of([record]), **{name: record.kind(name) for name in names}}))
