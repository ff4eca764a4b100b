# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When each rank was in which region during the traced steps, as Chrome trace events for Perfetto. And the
communication matrix: who sends how much to whom in a step, by rank, or by node where there are many ranks."""

import json
from pathlib import Path

import numpy as np

from .errors import RecordError, writing
from .record import Record
from .report_parts import Chart, Image, Part, Section, Table
from .statistics import Array
from .text import percent, quantity

MOST_IN_MATRIX = 16  # ranks that the matrix shows one by one
MOST_NODES = 32  # in the table; the picture has all
FEW_PAIRS = 8  # a list says more than a matrix with as many entries
MOST_SQUARES = 256  # rows of the picture: of more ranks on one node neighbouring ones are taken together


def write_trace(record: Record, path: str) -> None:
    """Raises RecordError if there is no trace, or it cannot be written."""
    if not path.endswith(".json"):
        raise RecordError(f"--trace: {path}: the name ends in .json (Chrome trace events)")
    if not record.trace:
        raise RecordError(f"{record.path}: no trace in it; --set measure.trace=100 records the first 100 steps")
    events = {"traceEvents": _chrome_events(record), "displayTimeUnit": "ns"}
    with writing(f"--trace: {path}"):
        Path(path).write_text(json.dumps(events), encoding="utf-8")


def _chrome_events(record: Record) -> list[dict[str, object]]:
    """A process for each rank, complete events in microseconds."""
    hosts = {row.get("rank", place): row.get("host", "") for place, row in enumerate(record.placement)}
    names = {rank: f"rank {rank}" + (f" of {hosts[rank]}" if hosts.get(rank) else "")
             for rank in sorted({row["rank"] for row in record.trace})}
    return [*({"ph": "M", "name": "process_name", "pid": rank, "args": {"name": name}} for rank, name in names.items()),
            *({"ph": "X", "name": row["region"], "cat": record.kind(row["region"]) or "region", "pid": row["rank"],
               "tid": 0, "ts": 1e6 * row["begin"], "dur": 1e6 * (row["end"] - row["begin"])} for row in record.trace)]


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


def matrix_sections(record: Record) -> list[Section]:
    if not record.traffic:
        return []
    names, values, unit = _matrix(record)
    messages, size, between = totals(record)
    words = [f"all ranks: {messages} messages, {quantity(size, 'B')}"]
    if between is not None:
        part = f" ({percent(between / size)})" if size else ""
        words.append(f"inside nodes {quantity(size - between, 'B')}, between nodes {quantity(between, 'B')}{part}")
    image = Image(np.where(values > 0, values, np.nan), (-0.5, len(names) - 0.5, len(names) - 0.5, -0.5), "B", 0.0,
                  colours="viridis", names=names)
    chart = Chart(f"Bytes of one exchange, by {unit}", f"to {unit}", f"from {unit}", image=image)
    pairs = [[row["rank"], row["neighbour"], row["messages"], quantity(row["bytes"], "B")] for row in record.traffic]
    pairs.append(["all", "all", messages, quantity(size, "B")])
    table = (Table(["rank", "neighbour", "messages", "bytes"], pairs, left=2) if len(pairs) <= FEW_PAIRS + 1
             else _matrix_table(names, values))
    parts: list[Part] = [table, *words, *([chart] if len(names) > 1 else [])]
    return [Section("Traffic of one exchange", parts, f"exact, by {unit}")]


def _matrix(record: Record) -> tuple[list[str], Array, str]:
    """Names, bytes by sender and receiver, and what the names are."""
    ranks, hosts = _ranks(record), _hosts(record)
    by_node = hosts is not None and len(set(hosts.values())) > 1 and len(ranks) > MOST_IN_MATRIX
    together = -(-len(ranks) // MOST_SQUARES)
    label = hosts if by_node and hosts else {rank: str(ranks[place - place % together]) + "..." * (together > 1)
                                             for place, rank in enumerate(ranks)}
    place = {name: number for number, name in enumerate(dict.fromkeys(label[rank] for rank in ranks))}
    values = np.zeros((len(place), len(place)))
    for row in record.traffic:
        values[place[label[row["rank"]]], place[label[row["neighbour"]]]] += row["bytes"]
    return list(place), values, "node" if by_node else "rank"


def _matrix_table(names: list[str], values: Array) -> Table:
    """Of the senders that send most, where there are many."""
    shown = sorted(np.argsort(-values.sum(axis=1), kind="stable")[:MOST_NODES])
    many, rows = len(names) > MOST_IN_MATRIX, []
    for place in shown:
        sent, own = values[place], values[place, place]
        if many:
            to_others, to_one = quantity(sent.sum() - own, "B"), quantity(sent.max(), "B")
            rows.append([names[place], to_others, quantity(own, "B"), (sent > 0).sum(), to_one])
        else:
            cells = [quantity(value, "B") if value else None for value in sent]
            rows.append([names[place], *cells, quantity(sent.sum(), "B")])
    of_many = ["from", "to others", "to itself", "receivers", "to one at most"]
    return Table(of_many if many else ["from \\ to", *names, "all"], rows)
