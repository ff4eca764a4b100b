# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a run, as --results writes it."""

import json
from pathlib import Path

from .record import Record, RecordError, figures_of, shown_as_damaged

GROUPS = ("verification", "calibration", "matrix", "solver", "volume", "memory", "checkpoint", "per_rank")
TABLES = ("traffic", "curves", "ratios", "timeline")


def read_json(path):
    with shown_as_damaged(path):
        try:
            tree = json.loads(Path(path).read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            raise RecordError(f"{path}: cannot be opened: {error.strerror}") from error
        if not isinstance(tree, dict) or "app" not in tree:
            raise RecordError(f"{path}: not a record of Kontor's: it has no app")
        groups = {key: _some(tree.pop(key) if isinstance(tree.get(key), dict) else None) for key in GROUPS}  # memory of pingpong is a word
        tables = {key: [_some(row) for row in tree.pop(key, None) or []] for key in TABLES}
        timers = {row.pop("region"): row for row in [_some(row) for row in tree.pop("timers", None) or []]}
        history = tree.pop("history", None) or {}
        name = next((name for name in ("residual", "norm") if name in history), None)
        return Record(
            path=path, timers=timers, repeats=tree.pop("repeats", None) or [],
            figures=figures_of(_some(tree.pop("figure_of_merit", None)), list(map(_some, (tree.pop("figures_of_merit", None) or {}).values()))),
            history={"name": name, "iterations": history["iteration"], "values": history[name]} if name else {},
            **groups, **tables, run={key: value for key, value in _some(tree).items() if not isinstance(value, (dict, list)) or key == "hosts"})


def _some(values):
    """Without what is null; truths as the HDF5 file has them."""
    return {key: int(value) if isinstance(value, bool) else value for key, value in (values or {}).items() if value is not None}
