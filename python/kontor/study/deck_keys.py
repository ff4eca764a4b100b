# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kinds of values that only studies have: settings of a deck's keys, and formulas."""

import re
from dataclasses import dataclass
from typing import Any

from .expression import ExpressionError, compiled
from .kinds import Kind, ListOf
from .problems import Problems, shown
from .tree import Node

DECK_KEY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")


@dataclass
class Formula(Kind):
    """A number or a formula; if `several`, or a list of them, for a key of several values."""

    several: bool = False

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if self.several and isinstance(node.value, list):
            if not node.value:
                return problems.add(node.place, f"{key} is an empty list; give at least one value")
            return [Formula().read(key, item, problems) for item in node.value]
        value = node.plain_value()
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            return self.refuse(problems, node, key, "a number or a formula")
        try:
            compiled(value if isinstance(value, str) else "0")
        except ExpressionError as error:
            return problems.add(node.place, f'{key}: "{shown(value)}" {error}')
        return value

    def schema(self) -> dict[str, Any]:
        one = {"type": ["string", "number"]}
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]} if self.several else one


class Setting(Kind):
    """Any value that a deck's key may take; the mini-app checks it."""

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if node.plain and node.value in ("", "~"):
            return problems.add(node.place, f"{key} has no value")
        for part in node.parts:
            self.read(key, part, problems)
        return node.plain_value()


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
                problems.add(node.keys[name], f'{key}: "{shown(name)}" is not a key that a study may set; allowed are '
                                              "those of decks, such as comm.backend or problem.cells")
            elif (value := self.item.read(f"{key}.{name}", item, problems)) is not None:
                result[name] = value
        return result

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.item.schema()}


class Zipped(Kind):
    """A mapping of lists that go together, or a list of such mappings."""

    LISTS = ByDeckKey(ListOf(Setting()))

    def __init__(self) -> None:
        one = self.LISTS.schema()
        super().__init__({"anyOf": [one, {"type": "array", "items": one}]})

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        found = []
        for group in node.value if isinstance(node.value, list) else [node]:
            lists = self.LISTS.read(key, group, problems)
            lengths = {name: len(values) for name, values in (lists or {}).items()}
            if len(set(lengths.values())) > 1:
                told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
                problems.add(group.place, f"{key}: the lists go together, so they have as many values each: {told}")
            found.append(lists)
        return found
