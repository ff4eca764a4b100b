# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication matrix: who sends how much to whom in a step, by rank, or by node where there are many ranks."""

import numpy as np

from .parts import Chart, Image, Part, Section, tabulated
from .record import Record
from .text import in_bytes, percent

MOST_IN_MATRIX = 16  # rows of the table
MOST_NAMES = 2000  # in the picture


def totals(record: Record) -> tuple[int, int, int | None]:
    """Messages, bytes, and bytes between nodes: None if the record does not place the ranks."""
    hosts, traffic = _hosts(record), record.traffic
    crossing = [row["bytes"] for row in traffic if hosts and hosts[row["rank"]] != hosts[row["neighbour"]]]
    messages, size = (sum(row[key] for row in traffic) for key in ("messages", "bytes"))
    return messages, size, None if hosts is None else sum(crossing)


def _ranks(record: Record) -> list[int]:
    return sorted({row[key] for row in record.traffic for key in ("rank", "neighbour")})


def _hosts(record: Record) -> dict[int, str] | None:
    """The node of each rank that has traffic; None if the record does not say it."""
    if len(record.hosts) == 1:
        return dict.fromkeys(_ranks(record), record.hosts[0])
    placed = {row.get("rank", place): row.get("host", "") for place, row in enumerate(record.placement)}
    return {rank: placed[rank] for rank in _ranks(record)} if all(map(placed.get, _ranks(record))) else None


def traffic_sections(record: Record) -> list[Section]:
    if not record.traffic:
        return []
    messages, size, between = totals(record)
    words = [f"all ranks: {messages} messages, {in_bytes(size)}"]
    if between is not None:
        part = f" ({percent(between / size)})" if size else ""
        words.append(f"inside nodes {in_bytes(size - between)}, between nodes {in_bytes(between)}{part}")
    ranks, hosts, unit = _ranks(record), _hosts(record), "rank"
    label = {rank: str(rank) for rank in ranks}
    if hosts and len(set(hosts.values())) > 1 and len(ranks) > MOST_IN_MATRIX:
        label, unit = hosts, "node"
    names = list(dict.fromkeys(label[rank] for rank in ranks))
    title, note = "Traffic of one exchange", f"exact, by {unit}"
    if len(names) > MOST_NAMES:
        return [Section(title, words, note)]
    place = {name: number for number, name in enumerate(names)}
    values = np.zeros((len(place), len(place)))
    for row in record.traffic:
        values[place[label[row["rank"]]], place[label[row["neighbour"]]]] += row["bytes"]
    image = Image(np.where(values > 0, values, np.nan), (-0.5, len(names) - 0.5, len(names) - 0.5, -0.5), "B", 0.0,
                  colours="viridis", names=names)
    chart = Chart(f"Bytes of one exchange, by {unit}", f"to {unit}", f"from {unit}", image=image)
    parts: list[Part] = [*words, *([chart] if len(names) > 1 else [])]
    cells = [{"from \\ to": name, **dict(zip(names, [in_bytes(value) if value else "-" for value in sent])),
              "all": in_bytes(sent.sum())} for name, sent in zip(names, values)]
    return tabulated(title, cells, *parts, note=note) if len(names) <= MOST_IN_MATRIX else [Section(title, parts, note)]
