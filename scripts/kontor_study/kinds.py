# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kinds of values that a study's keys take: how each is read, and its JSON Schema.

`read` returns a plain value, or None after telling the problems; it never raises for what the file says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .expression import ExpressionError, check
from .problems import Problems, nearest, shown
from .tree import Node

MOST_VALUES = 1000  # of a list or a range
DECK_KEY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")


class Kind:
    def read(self, key: str, node: Node, problems: Problems) -> Any:
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        raise NotImplementedError

    @staticmethod
    def refuse(problems: Problems, node: Node, key: str, allowed: str) -> None:
        problems.add(node.place, f"{key} takes {allowed}, found {node.shown()}")


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
        problems.add(node.place, f"{key} takes one of {', '.join(self.words)}, found {node.shown()}{hint if 'mean' in hint else ''}")
        return None

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


class Flag(Kind):
    def read(self, key: str, node: Node, problems: Problems) -> Any:
        value = node.plain_value()
        return value if isinstance(value, bool) else self.refuse(problems, node, key, "true or false")

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass
class Whole(Kind):
    low: int
    high: int
    auto: bool = False

    def allowed(self) -> str:
        return f"a whole number from {self.low} to {self.high}{' or auto' if self.auto else ''}"

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        value = node.plain_value()
        if self.auto and value == "auto":
            return value
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            return value
        return self.refuse(problems, node, key, self.allowed())

    def schema(self) -> dict[str, Any]:
        whole = {"type": "integer", "minimum": self.low, "maximum": self.high}
        return {"anyOf": [whole, {"const": "auto"}]} if self.auto else whole


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
        return problems.add(node.place, f"{key}: a range goes up, from a number above 0 by a factor above 1 or by a step above 0, found {node.shown()}")
    values: list[float] = []
    while len(values) <= MOST_VALUES:
        at = start * given["factor"] ** len(values) if "factor" in by else start + given["step"] * len(values)
        if at > end * (1 + 1e-12):
            return values
        values.append(at)
    return problems.add(node.place, f"{key}: a range of more than {MOST_VALUES} values")


RANGE_SCHEMA = {"type": "object", "properties": {name: {"type": "number"} for name in RANGE_KEYS},
                "required": ["from", "to"], "additionalProperties": False}


@dataclass
class Wholes(Kind):
    """A whole number, a list of them, or a range; or auto, which is an empty list."""

    low: int
    high: int
    auto: bool = False

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        one = Whole(self.low, self.high)
        if self.auto and node.value == "auto":
            return []
        if isinstance(node.value, dict):
            values = read_range(key, node, problems)
            if values is None:
                return None
            if any(value != int(value) or not self.low <= value <= self.high for value in values):
                return self.refuse(problems, node, key, f"whole numbers from {self.low} to {self.high}")
            return [int(value) for value in values]
        if not isinstance(node.value, list):
            value = one.read(key, node, problems)
            return None if value is None else [value]
        if not node.value:
            return problems.add(node.place, f"{key} is an empty list; give at least one value")
        if len(node.value) > MOST_VALUES:
            return problems.add(node.place, f"{key} has more than {MOST_VALUES} values")
        values = [one.read(key, item, problems) for item in node.value]
        for index, item in enumerate(node.value):
            if values[index] is not None and values[index] in values[:index]:
                problems.add(item.place, f"{key} has {values[index]} twice")
        return values if None not in values else None

    def schema(self) -> dict[str, Any]:
        one = Whole(self.low, self.high).schema()
        forms = [one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}, RANGE_SCHEMA]
        return {"anyOf": forms + ([{"const": "auto"}] if self.auto else [])}


class Paths(Kind):
    """A file, or a list of them."""

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if isinstance(node.value, list) and not node.value:
            return problems.add(node.place, f"{key} is an empty list; give at least one deck")
        items = node.value if isinstance(node.value, list) else [node]
        found = [Text(allowed="the path of a deck").read(key, item, problems) for item in items]
        if len(set(found)) < len(found) and None not in found:
            return problems.add(node.place, f"{key} has a deck twice")
        return found if None not in found else None

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}


class Formula(Kind):
    def read(self, key: str, node: Node, problems: Problems) -> Any:
        value = node.plain_value() if node.plain else node.value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        if not isinstance(value, str):
            return self.refuse(problems, node, key, "a number or a formula")
        try:
            check(value)
        except ExpressionError as error:
            return problems.add(node.place, f'{key}: "{shown(value)}" {error}')
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "number"]}


class Setting(Kind):
    """Any value that a deck's key may take; the mini-app says what it thinks of it."""

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        return node.plain_value() if node.value != "" or not node.plain else problems.add(node.place, f"{key} has no value")

    def schema(self) -> dict[str, Any]:
        return {}


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
        if len(node.value) < self.least:
            return problems.add(node.place, f"{key} is an empty list; give at least one value")
        if len(node.value) > MOST_VALUES:
            return problems.add(node.place, f"{key} has more than {MOST_VALUES} values")
        values = [self.item.read(key, item, problems) for item in node.value]
        for index, item in enumerate(node.value):
            if values[index] is not None and any(same(values[index], other) for other in values[:index]):
                problems.add(item.place, f"{key} has {item.shown()} twice")
        return values

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "array", "items": self.item.schema(), "minItems": self.least}, RANGE_SCHEMA]}


def same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


class OneOrMore(Kind):
    """A formula, or a list of them: a key of one value or of several."""

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if not isinstance(node.value, list):
            return Formula().read(key, node, problems)
        if not node.value:
            return problems.add(node.place, f"{key} is an empty list; give at least one value")
        return [Formula().read(key, item, problems) for item in node.value]

    def schema(self) -> dict[str, Any]:
        one = Formula().schema()
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


@dataclass
class ByDeckKey(Kind):
    """A mapping from keys of the deck, such as comm.backend."""

    item: Kind
    extra: tuple[str, ...] = ()

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if not isinstance(node.value, dict):
            return self.refuse(problems, node, key, "keys of the deck and their values")
        result = {}
        for name, item in node.value.items():
            if name in ("app", "output.file") or name not in self.extra and not DECK_KEY.fullmatch(name):
                problems.add(node.keys[name], f'{key}: "{shown(name)}" is not a key that a study may set; allowed are those of decks, '
                                              "such as comm.backend or problem.cells")
                continue
            value = self.item.read(f"{key}.{name}", item, problems)
            if value is not None:
                result[name] = value
        return result

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.item.schema()}


@dataclass
class Zipped(Kind):
    """A mapping of lists that go together, or a list of such mappings."""

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        groups = node.value if isinstance(node.value, list) else [node]
        return [self.group(key, group, problems) for group in groups]

    @staticmethod
    def group(key: str, node: Node, problems: Problems) -> Any:
        lists = ByDeckKey(ListOf(Setting())).read(key, node, problems)
        lengths = {name: len(values) for name, values in (lists or {}).items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            problems.add(node.place, f"{key}: the lists go together, so they have as many values each: {told}")
        return lists

    def schema(self) -> dict[str, Any]:
        one = ByDeckKey(ListOf(Setting())).schema()
        return {"anyOf": [one, {"type": "array", "items": one}]}


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


@dataclass
class Key:
    kind: Kind
    help: str
    default: Any | Callable[[], Any] = None
    required: bool = False

    def plain_default(self) -> Any:
        return self.default() if callable(self.default) else self.default
