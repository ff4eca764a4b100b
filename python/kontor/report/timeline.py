# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When each rank computed and communicated: as a table."""

from .report_parts import Table
from .text import percent, seconds

COMPUTES = ("gemm",)  # the activities that are no communication
HEADER = ["activity", "times", "longest", "all", "not hidden", "hidden"]


def activities(record):
    """In the order in which they first begin; what computes comes first."""
    names = dict.fromkeys(row["activity"] for row in sorted(record.timeline, key=lambda row: row["begin"]))
    return sorted(names, key=lambda name: name not in COMPUTES)


def timeline_table(record):
    """Of each activity, the rank that it takes longest."""
    return Table(HEADER, [_row(record, name) for name in activities(record)])


def exposed_time(row, computing):
    """Of a transfer, what no computing of its rank covers; a rank computes one thing at a time."""
    covered = sum(max(0.0, min(row["end"], other["end"]) - max(row["begin"], other["begin"])) for other in computing)
    return max(0.0, row["end"] - row["begin"] - covered)


def _row(record, name):
    rows = [row for row in record.timeline if row["activity"] == name]
    ranks = {row["rank"] for row in rows}
    totals = {rank: sum((row["end"] - row["begin"] for row in rows if row["rank"] == rank), 0.0) for rank in ranks}
    slowest = max(totals, key=totals.get)
    mine = [row for row in rows if row["rank"] == slowest]
    cells = [name, str(len(mine)), seconds(max(row["end"] - row["begin"] for row in mine)), seconds(totals[slowest])]
    if name in COMPUTES:
        return [*cells, "-", "-"]
    computing = [row for row in record.timeline if row["activity"] in COMPUTES and row["rank"] == slowest]
    exposed = sum((exposed_time(row, computing) for row in mine), 0.0)
    return [*cells, seconds(exposed), percent(1 - exposed / totals[slowest]) if totals[slowest] > 0 else "-"]
