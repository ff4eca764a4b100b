# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the values of a record must be, so that those who show it need not ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .record import Record

Kinds = dict[str, Any]  # a type or several by key
NUMBER: Any = (int, float)
TYPES: Kinds = {"text": str, "whole": int, "number": NUMBER, "names": (list, str)}


def _keys(**words: str) -> Kinds:
    """text="app deck", whole="ranks"."""
    return {key: TYPES[kind] for kind, keys in words.items() for key in keys.split()}


GROUPS = {
    "run": _keys(text="app deck process_grid execution_space backend pattern packing path ending ending_in_words end_signal", names="hosts",
                 whole="ranks iterations sweeps steps", number="residual true_residual error relative_error field_memory"),
    "verification": _keys(whole="passed", text="measure remark", number="error tolerance"),
    "calibration": _keys(number="read_bandwidth copy_bandwidth triad_bandwidth working_set_read_bandwidth working_set_copy_bandwidth "
                                "working_set_triad_bandwidth peer_bandwidth latency bandwidth large_message large_bandwidth "
                                "internode_latency internode_bandwidth"),
    "matrix": _keys(whole="rows nonzeros"),
    "checkpoint": _keys(whole="written bytes at_step at_repeat", number="seconds bandwidth overhead", text="newest restarted_from"),
    "noise": _keys(number="quantum p50 p99 max", whole="samples slowest_rank"),
    "energy": _keys(number="gpu package", text="gpu_remark package_remark"),
}
TABLES = {
    "figures": _keys(text="name unit remark", number="value attainable fraction bytes_read bytes_written"),
    "timers": _keys(whole="calls slowest_rank once", number="min median max", text="kind"),
    "traffic": _keys(whole="rank neighbour messages bytes"),
    "placement": _keys(whole="rank", text="host cores threads"),
    "trace": _keys(whole="rank", text="region", number="begin end"),
    "distributions": _keys(text="name", whole="count slowest_rank", number="p50 p95 p99 max"),
    "curves": _keys(text="curve series", whole="size messages", number="bytes mean median standard_error pack post wait unpack"),
    "ratios": _keys(text="curve series baseline", whole="size", number="bytes ratio low high"),
}
ALWAYS = {  # what all rows of a table have; a number that is not one is left out
    "figures": ("name", "value"), "timers": ("median",), "curves": ("curve", "series", "size", "bytes"), "distributions": ("name", "max"),
    **{name: tuple(TABLES[name]) for name in ("traffic", "trace", "ratios")},
}


def misfit(record: Record) -> str | None:
    """What is wrong with the first value that is; None if all are as they must be."""
    groups = [(name, getattr(record, name), kinds) for name, kinds in GROUPS.items()]
    groups += [(name, values, dict.fromkeys(values, NUMBER)) for name, values in (("volume", record.volume), ("memory", record.memory))]
    for name, kinds in TABLES.items():
        table = list(record.timers.values()) if name == "timers" else getattr(record, name)
        if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
            return f"/run/{name} is no table"
        groups += [(name, row, kinds) for row in table]
    for name, values, kinds in groups:
        where = "/run" if name == "run" else f"/run/{name}"
        for key in ALWAYS.get(name, ()):
            if key not in values:
                return f"{where} lacks {key}"
        for key, kind in kinds.items():
            if key in values and not isinstance(values[key], kind):
                return f"{where} has {key} {str(values[key])[:40]!r}"
    if not all(isinstance(host, str) for host in record.run.get("hosts", "")):
        return "/run has hosts that are not names"
    if not isinstance(record.repeats, list) or not all(isinstance(seconds, NUMBER) for seconds in record.repeats):
        return "/run/repeats has values that are no numbers"
    history = [record.history.get(key, [0]) for key in ("iterations", "values")]
    if not all(isinstance(values, list) and values and all(isinstance(x, NUMBER) for x in values) for values in history) or len({*map(len, history)}) > 1:
        return "/run/history is not a number for each iteration"
    if wrong := _of_ranks(record.per_rank):
        return f"/run/per_rank {wrong}"
    if not 0 <= record.run.get("ranks", 1) < 10**9:
        return f"/run has {record.run['ranks']} ranks"
    return None


def _of_ranks(table: dict[str, Any]) -> str | None:
    """What is wrong with the seconds of regions by repeat and rank; None if nothing is."""
    if not table:
        return None
    regions, seconds, wall = (table.get(key) for key in ("regions", "seconds", "wall"))
    regions = [] if isinstance(regions, str) and not regions else regions
    if not isinstance(regions, list) or not all(isinstance(name, str) for name in regions):
        return "has regions that are not names"
    if not isinstance(seconds, list) or not isinstance(wall, list) or len(seconds) != len(wall):
        return "has no seconds of each repeat"
    for of_ranks, walls in zip(seconds, wall):
        if not isinstance(of_ranks, list) or not isinstance(walls, list) or len(of_ranks) != len(walls):
            return "has repeats that are not of as many ranks"
        if not all(isinstance(number, NUMBER) for number in walls):
            return "has wall times that are no numbers"
        if not all(isinstance(row, list) and len(row) == len(regions) and all(isinstance(x, NUMBER) for x in row) for row in of_ranks):
            return f"has ranks without a number for each of {len(regions)} regions"
    return None
