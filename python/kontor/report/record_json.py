# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a run, as --results writes it."""

import json
import math
from pathlib import Path
from typing import Any

from .errors import RecordError


def json_tree(path: str) -> dict[str, Any]:
    tree = json.loads(Path(path).read_text(encoding="utf-8", errors="replace"))
    if not isinstance(tree, dict) or "app" not in tree:
        raise RecordError(f"{path}: not a record of Kontor's: it has no app")
    plain: dict[str, Any] = _some(tree)
    return plain


def _some(value: Any) -> Any:
    """As the HDF5 file has it: null stands for not-a-number, which objects leave out and arrays keep."""
    if isinstance(value, dict):
        return {key: _some(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [float("nan") if item is None else _some(item) for item in value]
    return int(value) if isinstance(value, bool) else value


def finite(value: Any) -> Any:
    """The contrary: null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: finite(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(finite, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value
