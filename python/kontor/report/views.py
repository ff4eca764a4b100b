# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the time of repeats goes: bars of regions, which have one order and one colour in all pictures of a report. And
the traffic of an exchange."""

from collections.abc import Mapping, Sequence

from .parts import Bar, Chart, Section, paired, region_colours
from .record import Record, regions_of
from .statistics import median
from .text import in_bytes, percent

LEAST = 0.002  # a smaller part of the time is not drawn
Named = tuple[str, Sequence[Record], float, str | None]  # name of a bar, its runs, their time, words


def time_bars(title: str, named: Sequence[Named], kinds: Mapping[str, str]) -> list[Chart]:
    """The shares of the regions in a repeat, medians over runs. `kinds`: of all runs of the report, by regions_of()."""
    bars = []
    for name, records, total, words in named:
        own = regions_of(records)
        shares = {region: [record.share(region) or 0.0 for record in records if region in record.timers]
                  for region in kinds if region in own}
        parts = [(region, total * median(of_region)) for region, of_region in shares.items()]
        if own and total and (shown := bar_parts(parts, total)):
            bars.append(Bar(name, shown, words or ""))
    return [Chart(title, "time", bars=bars, colours=region_colours(kinds), unit="s")] if bars else []


def bar_parts(parts: Sequence[tuple[str, float]], total: float) -> list[tuple[str, float]]:
    """Without what is too small to be seen, and with what is left."""
    shown = [(name, value) for name, value in parts if value > LEAST * total]
    left = total - sum(value for _, value in shown)
    return [*shown, ("other", left)] if left > LEAST * total else shown


def traffic_section(record: Record) -> list[Section]:
    """What all ranks send; between nodes where the record says on which each rank is."""
    hosts = {row["rank"]: row["host"] for row in record.placement}
    messages, size = (sum(row[key] for row in record.traffic) for key in ("messages", "bytes"))
    between = sum(row["bytes"] for row in record.traffic if hosts and hosts[row["rank"]] != hosts[row["neighbour"]])
    crossing = f"{in_bytes(between)} ({percent(between / size)})" if hosts and size else None
    rows = [("messages", messages), ("bytes", in_bytes(size)), ("between nodes", crossing)]
    return paired("Traffic of one exchange, of all ranks", rows if record.traffic else [])
