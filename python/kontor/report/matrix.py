# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication matrix: who sends how much to whom in a step, by rank, or by node where there are many ranks."""

from dataclasses import dataclass

import numpy as np

from .record import Record
from .report_parts import Chart, Image, Section, Table
from .statistics import Array
from .text import percent, quantity

MOST_RANKS = 16  # that the matrix shows one by one
MOST_NODES = 32  # in the table; the picture has all
FEW_PAIRS = 8  # a list says more than a matrix with as many entries
MOST_SQUARES = 256  # rows of the picture: of more ranks on one node neighbouring ones are taken together


@dataclass
class Totals:
    messages: int
    bytes: int
    between: int | None  # bytes between nodes; None if the record does not place the ranks


def totals(record: Record) -> Totals:
    hosts = hosts_of(record)
    messages, size = (sum(row[key] for row in record.traffic) for key in ("messages", "bytes"))
    if hosts is None:
        return Totals(messages, size, None)
    return Totals(messages, size, sum(row["bytes"] for row in record.traffic if hosts[row["rank"]] != hosts[row["neighbour"]]))


def hosts_of(record: Record) -> dict[int, str] | None:
    """The node of each rank that has traffic; None if the record does not say it."""
    ranks = {row[key] for row in record.traffic for key in ("rank", "neighbour")}
    if len(record.hosts) == 1:
        return dict.fromkeys(ranks, record.hosts[0])
    placed = {row.get("rank", place): row.get("host", "") for place, row in enumerate(record.placement)}
    return {rank: placed[rank] for rank in ranks} if all(placed.get(rank) for rank in ranks) else None


def matrix_sections(record: Record) -> list[Section]:
    if not record.traffic:
        return []
    names, values, unit = _matrix(record)
    table = _list(record) if len(record.traffic) <= FEW_PAIRS else _table(names, values)
    chart = Chart(f"Bytes of one exchange, by {unit}", f"to {unit}", f"from {unit}",
                  image=Image(np.where(values > 0, values, np.nan), (-0.5, len(names) - 0.5, len(names) - 0.5, -0.5), "B", 0.0,
                              colours="viridis", names=names))
    return [Section("Traffic of one exchange", [table, *_sums(record), *([chart] if len(names) > 1 else [])], f"exact, by {unit}")]


def _matrix(record: Record) -> tuple[list[str], Array, str]:
    """Names, bytes by sender and receiver, and what the names are."""
    ranks = sorted({row[key] for row in record.traffic for key in ("rank", "neighbour")})
    hosts = hosts_of(record)
    by_node = hosts is not None and len(set(hosts.values())) > 1 and len(ranks) > MOST_RANKS
    together = -(-len(ranks) // MOST_SQUARES)
    label = hosts if by_node and hosts else {rank: str(ranks[place - place % together]) + "..." * (together > 1) for place, rank in enumerate(ranks)}
    names = list(dict.fromkeys(label[rank] for rank in ranks))
    place = {name: number for number, name in enumerate(names)}
    values = np.zeros((len(names), len(names)))
    for row in record.traffic:
        values[place[label[row["rank"]]], place[label[row["neighbour"]]]] += row["bytes"]
    return names, values, "node" if by_node else "rank"


def _list(record: Record) -> Table:
    rows = [[str(row["rank"]), str(row["neighbour"]), str(row["messages"]), quantity(row["bytes"], "B")] for row in record.traffic]
    sums = totals(record)
    return Table(["rank", "neighbour", "messages", "bytes"], [*rows, ["all", "all", str(sums.messages), quantity(sums.bytes, "B")]], left=2)


def _table(names: list[str], values: Array) -> Table:
    """Of the senders that send most, where there are many."""
    shown = sorted(np.argsort(-values.sum(axis=1), kind="stable")[:MOST_NODES])
    if len(names) > MOST_RANKS:
        rows = [[names[place], quantity(values[place].sum() - values[place, place], "B"), quantity(values[place, place], "B"),
                 str(int((values[place] > 0).sum())), quantity(values[place].max(), "B")] for place in shown]
        return Table(["from", "to others", "to itself", "receivers", "to one at most"], rows)
    rows = [[names[place], *(quantity(value, "B") if value else "-" for value in values[place]), quantity(values[place].sum(), "B")]
            for place in shown]
    return Table(["from \\ to", *names, "all"], rows)


def _sums(record: Record) -> list[str]:
    sums = totals(record)
    words = [f"all ranks: {sums.messages} messages, {quantity(sums.bytes, 'B')}"]
    if sums.between is not None:
        inside = sums.bytes - sums.between
        words.append(f"inside nodes {quantity(inside, 'B')}, between nodes {quantity(sums.between, 'B')}"
                     + (f" ({percent(sums.between / sums.bytes)})" if sums.bytes else ""))
    return words
