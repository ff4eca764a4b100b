# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the time of repeats goes: bars of regions, which have one order and one colour in all pictures of a report. And
the communication matrix: who sends how much to whom in a step, by rank, or by node where there are many ranks."""

from collections.abc import Mapping, Sequence

import numpy as np

from .parts import Bar, Chart, Image, Part, Section, region_colours, tabulated
from .record import Record, regions_of
from .statistics import median
from .text import in_bytes, percent

LEAST = 0.002  # a smaller part of the time is not drawn
Named = tuple[str, Sequence[Record], float, str | None]  # name of a bar, its runs, their time, words
MOST_IN_MATRIX = 16  # rows of the table
MOST_NAMES = 2000  # in the picture


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
    image = Image(np.where(values > 0, values, np.nan), (-0.5, len(names) - 0.5, len(names) - 0.5, -0.5), "B", names)
    chart = Chart(f"Bytes of one exchange, by {unit}", f"to {unit}", f"from {unit}", image=image)
    parts: list[Part] = [*words, *([chart] if len(names) > 1 else [])]
    cells = [{"from \\ to": name, **dict(zip(names, [in_bytes(value) if value else "-" for value in sent])),
              "all": in_bytes(sent.sum())} for name, sent in zip(names, values)]
    return tabulated(title, cells, *parts, note=note) if len(names) <= MOST_IN_MATRIX else [Section(title, parts, note)]
