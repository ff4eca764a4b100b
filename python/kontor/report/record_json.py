# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a run, as --results writes it."""

import json
import math
from pathlib import Path

from .errors import RecordError, read_as_damaged
from .record import GROUPS, TABLES, Record, figures_of


def read_json(path):
    with read_as_damaged(path):
        tree = json.loads(Path(path).read_text(encoding="utf-8", errors="replace"))
        if not isinstance(tree, dict) or "app" not in tree:
            raise RecordError(f"{path}: not a record of Kontor's: it has no app")
        tree = _some(tree)
        groups = {key: tree.pop(key) if isinstance(tree.get(key), dict) else {} for key in (*GROUPS, "per_rank")}  # memory of pingpong is a word
        tables = {key: tree.pop(key, []) for key in TABLES}
        timers = {row.pop("region"): row for row in tree.pop("timers", [])}
        history = tree.pop("history", {})
        name = next((name for name in ("residual", "norm") if name in history), None)
        return Record(
            path=path, timers=timers, repeats=tree.pop("repeats", []),
            figures=figures_of(tree.pop("figure_of_merit", {}), list(tree.pop("figures_of_merit", {}).values())),
            history={"name": name, "iterations": history["iteration"], "values": history[name]} if name else {},
            **groups, **tables, run={key: value for key, value in tree.items() if not isinstance(value, (dict, list)) or key == "hosts"})


def _some(value):
    """As the HDF5 file has it: without members that are null, which stands for what is no number; in an array that is one again."""
    if isinstance(value, dict):
        return {key: _some(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [float("nan") if item is None else _some(item) for item in value]
    return int(value) if isinstance(value, bool) else value


def finite(value):
    """The contrary: null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: finite(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(finite, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value
