# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kinds of values that keys take: how each is read, and its JSON Schema.

`read` returns a plain value, or None after adding a problem; it never raises for the contents of the file.
"""

import re
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from .problems import Problems, misfit, nearest, shown
from .tree import Node

MOST_VALUES = 1000  # of a list or a range


class Kind:
    """Takes what its schema allows, if it has no `read` of its own. Text is as in the file: `1` is no number."""

    def __init__(self, schema: dict[str, Any] | None = None, allowed: str = "") -> None:
        self._schema, self._allowed = schema or {}, allowed

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        schema = self.schema()
        words, pattern = schema.get("enum"), schema.get("pattern", "")
        value = node.value if words or pattern else node.plain_value()
        wrong = misfit(schema, value)
        if not wrong and (not pattern or re.fullmatch(pattern[1:-1], value, re.DOTALL)):
            return value
        hint = nearest(value, words) if words and isinstance(value, str) else ""
        return self.refuse(problems, node, key, self._allowed or str(wrong), hint if "mean" in hint else "")

    def schema(self) -> dict[str, Any]:
        return self._schema

    @staticmethod
    def refuse(problems: Problems, node: Node, key: str, allowed: str, hint: str = "") -> None:
        problems.add(node.place, f"{key} takes {allowed}, found {node.shown()}{hint}")


FLAG, NUMBER = Kind({"type": "boolean"}), Kind({"type": "number"})


def text(pattern: str = ".+", allowed: str = "text") -> Kind:
    return Kind({"type": ["string", "number"], "pattern": f"^(?:{pattern})$"}, allowed)


def word(words: tuple[str, ...]) -> Kind:
    return Kind({"enum": list(words)})


def whole(low: int, high: int, auto: bool = False) -> Kind:
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return Kind({"anyOf": [schema, {"const": "auto"}]} if auto else schema)


@dataclass
class Key:
    kind: Kind
    help: str
    default: Any = None
    required: bool = False


@dataclass
class Section(Kind):
    keys: dict[str, Key]

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if not isinstance(node.value, dict):
            return self.refuse(problems, node, key or "a study", "keys and their values")
        prefix = f"{key}." if key else ""
        result = {}
        for name, item in node.value.items():
            if name in self.keys:
                result[name] = self.keys[name].kind.read(prefix + name, item, problems)
            else:
                problems.add(node.keys[name], f'"{shown(name)}" is not a key of {key or "a study"}'
                                              f"{nearest(name, self.keys)}")
        for name, one in self.keys.items():
            if one.required and name not in node.value:
                problems.add(node.place, f"{prefix}{name} is missing: {one.help}")
            elif result.get(name) is None:
                result[name] = deepcopy(one.default)
        return {name: result[name] for name in self.keys if name in result}

    def defaults(self) -> dict[str, Any]:
        return {name: deepcopy(one.default) for name, one in self.keys.items()}

    def schema(self) -> dict[str, Any]:
        properties = {name: {"description": one.help, **one.kind.schema(),
                             **({} if one.default is None else {"default": one.default})}
                      for name, one in self.keys.items()}
        return {"type": "object", "properties": properties, "additionalProperties": False,
                "required": [name for name, one in self.keys.items() if one.required]}


class Range(Section):
    """{from: 1, to: 64, factor: 2} or {from: 0, to: 1, step: 0.25}, read as a list."""

    def __init__(self) -> None:
        ends = {"from": "a range is {from, to, factor}", "to": "a range is {from, to, step}"}
        super().__init__({**{name: Key(NUMBER, words, required=True) for name, words in ends.items()},
                          "factor": Key(NUMBER, "above 1"), "step": Key(NUMBER, "above 0")})

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        before = len(problems.lines)
        given = super().read(key, node, problems)
        if len(problems.lines) > before:
            return None
        start, end, factor, step = given.values()
        if (factor is None) == (step is None):
            return self.refuse(problems, node, f"{key}: a range", "{from, to, factor} or {from, to, step}")
        if start > end or (step <= 0 if factor is None else factor <= 1 or start <= 0):
            return self.refuse(problems, node, f"{key}: a range",
                               "a number above 0 and a factor above 1, or a step above 0, to a number not below")
        values: list[float] = []
        while len(values) <= MOST_VALUES:
            at = start + step * len(values) if factor is None else start * factor ** len(values)
            if at > end * (1 + 1e-12):
                return values
            values.append(at)
        return problems.add(node.place, f"{key}: a range of more than {MOST_VALUES} values")


@dataclass
class ListOf(Kind):
    """Values, if `unique` none of them twice: a list of `least` or more, or a range. If `single`, one value is a list
    of one; if `auto`, that word is the empty list."""

    item: Kind
    least: int = 1
    single: bool = False
    ranges: bool = True
    auto: bool = False
    unique: bool = True

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if self.auto and node.value == "auto":
            return []
        if self.ranges and isinstance(node.value, dict) and (self.single or set(node.value) & {"from", "to"}):
            return self._of_range(key, node, problems)
        if self.single and not isinstance(node.value, list):
            node = Node(node.place, [node])
        if not isinstance(node.value, list):
            return self.refuse(problems, node, key, "a list of values, or a range {from, to, factor}")
        if len(node.value) < self.least:
            return problems.add(node.place, f"{key} is an empty list; give at least one value")
        if len(node.value) > MOST_VALUES:
            return problems.add(node.place, f"{key} has more than {MOST_VALUES} values")
        values = [self.item.read(key, one, problems) for one in node.value]
        for index, one in enumerate(node.value if self.unique else ()):
            if values[index] is not None and any(same(values[index], other) for other in values[:index]):
                problems.add(one.place, f"{key} has {one.shown()} twice")
        return None if self.single and None in values else values

    def _of_range(self, key: str, node: Node, problems: Problems) -> Any:
        values, schema = Range().read(key, node, problems), self.item.schema()
        if values and schema.get("type") == "integer":
            values = [int(value) if value == int(value) else value for value in values]
        wrong = next(filter(None, (misfit(schema, value) for value in values or ())), None)
        return self.refuse(problems, node, key, f"values that are each {wrong}") if wrong else values

    def schema(self) -> dict[str, Any]:
        one = self.item.schema()
        several = {"type": "array", "items": one, "minItems": self.least,
                   **({"uniqueItems": True} if self.single and self.ranges else {})}
        return {"anyOf": [*([one] if self.single else []), several, *([Range().schema()] if self.ranges else []),
                          *([{"const": "auto"}] if self.auto else [])]}


def same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other
