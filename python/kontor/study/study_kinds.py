# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kinds of values that only studies have: numbers of ranks, decks, formulas, settings of a deck's keys."""

import re
from dataclasses import dataclass
from typing import Any

from .expression import ExpressionError, check
from .kinds import RANGE_SCHEMA, Kind, ListOf, Text, Whole, read_items, read_range
from .problems import Problems, shown
from .tree import Node

DECK_KEY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")


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
        values = read_items(key, node, one, problems)
        return values if values and None not in values else None

    def schema(self) -> dict[str, Any]:
        one = Whole(self.low, self.high).schema()
        forms = [one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}, RANGE_SCHEMA]
        return {"anyOf": forms + ([{"const": "auto"}] if self.auto else [])}


class Paths(Kind):
    """A file, or a list of them."""

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        items = node if isinstance(node.value, list) else Node(node.place, [node])
        found = read_items(key, items, Text(allowed="the path of a deck"), problems)
        return found if found and None not in found else None

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
        if node.plain and node.value in ("", "~"):
            return problems.add(node.place, f"{key} has no value")
        parts = node.value.values() if isinstance(node.value, dict) else node.value if isinstance(node.value, list) else ()
        for part in parts:
            self.read(key, part, problems)
        return node.plain_value()

    def schema(self) -> dict[str, Any]:
        return {}


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
