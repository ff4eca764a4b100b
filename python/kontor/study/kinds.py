# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kinds of values that a study's keys take: how each is read, and its JSON Schema.

`read` returns a plain value, or None after telling the problems; it never raises for what the file says.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .problems import Problems, nearest, shown
from .schema import misfit
from .tree import Node

MOST_VALUES = 1000  # of a list or a range
RANGE_KEYS = ("from", "to", "factor", "step")
RANGE_SCHEMA = {"type": "object", "properties": {name: {"type": "number"} for name in RANGE_KEYS},
                "required": ["from", "to"], "additionalProperties": False}


class Kind:
    """Takes what its schema allows, if it has no `read` of its own."""

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        value = node.plain_value()
        wrong = misfit(self.schema(), value)
        return self.refuse(problems, node, key, wrong) if wrong else value

    def schema(self) -> dict[str, Any]:
        raise NotImplementedError

    @staticmethod
    def refuse(problems: Problems, node: Node, key: str, allowed: str, hint: str = "") -> None:
        problems.add(node.place, f"{key} takes {allowed}, found {node.shown()}{hint}")


@dataclass
class Text(Kind):
    pattern: str = r".+"
    allowed: str = "text"

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if isinstance(node.value, str) and re.fullmatch(self.pattern, node.value, re.DOTALL):
            return node.value
        return self.refuse(problems, node, key, self.allowed)

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "number"], "pattern": f"^{self.pattern}$"}


@dataclass
class Word(Kind):
    words: tuple[str, ...]

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if node.value in self.words:
            return node.value
        hint = nearest(node.value, self.words) if isinstance(node.value, str) else ""
        return self.refuse(problems, node, key, f"one of {', '.join(self.words)}", hint if "mean" in hint else "")

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


class Flag(Kind):
    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass
class Whole(Kind):
    low: int
    high: int
    auto: bool = False

    def schema(self) -> dict[str, Any]:
        whole = {"type": "integer", "minimum": self.low, "maximum": self.high}
        return {"anyOf": [whole, {"const": "auto"}]} if self.auto else whole


@dataclass
class ListOf(Kind):
    """A list of at least one value, unless it may be empty, or a range."""

    item: Kind
    least: int = 1

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if isinstance(node.value, dict) and set(node.value) & {"from", "to"}:
            return read_range(key, node, problems)
        if not isinstance(node.value, list):
            return self.refuse(problems, node, key, "a list of values, or a range {from, to, factor}")
        return read_items(key, node, self.item, problems, self.least)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "array", "items": self.item.schema(), "minItems": self.least}, RANGE_SCHEMA]}


def read_range(key: str, node: Node, problems: Problems) -> Any:
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


def read_items(key: str, node: Node, item: Kind, problems: Problems, least: int = 1) -> Any:
    """Of a list, which must have at least so many, none of them twice."""
    if len(node.value) < least:
        return problems.add(node.place, f"{key} is an empty list; give at least one value")
    if len(node.value) > MOST_VALUES:
        return problems.add(node.place, f"{key} has more than {MOST_VALUES} values")
    values = [item.read(key, one, problems) for one in node.value]
    for index, one in enumerate(node.value):
        if values[index] is not None and any(same(values[index], other) for other in values[:index]):
            problems.add(one.place, f"{key} has {one.shown()} twice")
    return values


def same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


@dataclass
class Key:
    kind: Kind
    help: str
    default: Any | Callable[[], Any] = None
    required: bool = False

    def plain_default(self) -> Any:
        return self.default() if callable(self.default) else self.default


@dataclass
class Section(Kind):
    keys: dict[str, Key] = field(default_factory=dict)

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if not isinstance(node.value, dict):
            return self.refuse(problems, node, key or "a study", "keys and their values")
        prefix = f"{key}." if key else ""
        result = {}
        for name, item in node.value.items():
            if name in self.keys:
                result[name] = self.keys[name].kind.read(prefix + name, item, problems)
            else:
                problems.add(node.keys[name], f'"{shown(name)}" is not a key of {key or "a study"}{nearest(name, self.keys)}')
        for name, one in self.keys.items():
            if one.required and name not in node.value:
                problems.add(node.place, f"{prefix}{name} is missing: {one.help}")
            elif result.get(name) is None:
                result[name] = one.plain_default()
        return {name: result[name] for name in self.keys if name in result}

    def defaults(self) -> dict[str, Any]:
        return {name: one.plain_default() for name, one in self.keys.items()}

    def schema(self) -> dict[str, Any]:
        properties = {}
        for name, one in self.keys.items():
            default = one.plain_default()
            properties[name] = {"description": one.help, **one.kind.schema(), **({} if default is None else {"default": default})}
        return {"type": "object", "properties": properties, "additionalProperties": False,
                "required": [name for name, one in self.keys.items() if one.required]}
