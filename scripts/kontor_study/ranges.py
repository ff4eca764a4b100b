# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranges: lists by their ends and how to go from one to the next."""

from typing import Any

from .problems import Problems, nearest
from .tree import Node

MOST_VALUES = 1000  # of a list or a range
RANGE_KEYS = ("from", "to", "factor", "step")


def read_range(key: str, node: Node, problems: Problems) -> list[Any] | None:
    """{from: 1, to: 64, factor: 2} or {from: 0, to: 1, step: 0.25} as a list."""
    given: dict[str, float] = {}
    before = len(problems.lines)
    for name, item in node.value.items():
        value = item.plain_value()
        if name not in RANGE_KEYS:
            problems.add(node.keys[name], f"{name} is not a key of a range{nearest(name, RANGE_KEYS)}")
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            problems.add(item.place, f"{key}: {name} takes a number, found {item.shown()}")
        else:
            given[name] = value
    if len(problems.lines) > before:
        return None
    by = given.keys() & {"factor", "step"}
    if "from" not in given or "to" not in given or len(by) != 1:
        return problems.add(node.place, f"{key}: a range is {{from, to, factor}} or {{from, to, step}}, found {node.shown()}")
    start, end = given["from"], given["to"]
    if start > end or ("factor" in by and (given["factor"] <= 1 or start <= 0)) or ("step" in by and given["step"] <= 0):
        return problems.add(node.place, f"{key}: a range goes up, from a number above 0 by a factor above 1, or by a step above 0, "
                                        f"found {node.shown()}")
    values: list[float] = []
    while len(values) <= MOST_VALUES:
        at = start * given["factor"] ** len(values) if "factor" in by else start + given["step"] * len(values)
        if at > end * (1 + 1e-12):
            return values
        values.append(at)
    return problems.add(node.place, f"{key}: a range of more than {MOST_VALUES} values")


RANGE_SCHEMA = {"type": "object", "properties": {name: {"type": "number"} for name in RANGE_KEYS},
                "required": ["from", "to"], "additionalProperties": False}
