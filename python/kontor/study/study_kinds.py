# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kinds of values that only studies have: numbers of ranks, decks, formulas, settings of a deck's keys."""

import re
from dataclasses import dataclass
from typing import Any

from .expression import ExpressionError, compiled
from .kinds import RANGE_SCHEMA, Kind, ListOf, Whole, read_items, read_range
from .problems import Problems, shown
from .tree import Node

DECK_KEY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")


@dataclass
class Several(Kind):
    """A value, or a list of them; it is read as a list."""

    item: Kind

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        items = node if isinstance(node.value, list) else Node(node.place, [node])
        found = read_items(key, items, self.item, problems)
        return found if found and None not in found else None

    def schema(self) -> dict[str, Any]:
        one = self.item.schema()
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


class Wholes(Several):
    """Whole numbers, or a range; or auto, which is an empty list."""

    def __init__(self, low: int, high: int, auto: bool = False) -> None:
        super().__init__(Whole(low, high))
        self.low, self.high, self.auto = low, high, auto

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if self.auto and node.value == "auto":
            return []
        if not isinstance(node.value, dict):
            return super().read(key, node, problems)
        values = read_range(key, node, problems)
        if values is None:
            return None
        if any(value != int(value) or not self.low <= value <= self.high for value in values):
            return self.refuse(problems, node, key, f"whole numbers from {self.low} to {self.high}")
        return [int(value) for value in values]

    def schema(self) -> dict[str, Any]:
        one, several = super().schema()["anyOf"]
        return {"anyOf": [one, {**several, "uniqueItems": True}, RANGE_SCHEMA, *([{"const": "auto"}] if self.auto else [])]}


class Formula(Kind):
    def read(self, key: str, node: Node, problems: Problems) -> Any:
        value = node.plain_value() if node.plain else node.value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        if not isinstance(value, str):
            return self.refuse(problems, node, key, "a number or a formula")
        try:
            compiled(value)
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


class OneOrMore(Several):
    """A formula, or a list of them: a key of one value or of several."""

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if not isinstance(node.value, list):
            return self.item.read(key, node, problems)
        if not node.value:
            return problems.add(node.place, f"{key} is an empty list; give at least one value")
        return [self.item.read(key, item, problems) for item in node.value]


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
