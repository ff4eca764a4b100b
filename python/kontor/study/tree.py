# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""YAML text as a tree of nodes with their places, read as strictly as decks are.

Values are those of YAML 1.2, as in decks: `1e-9` is a number, `on` and `00:10:00` are text.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from .problems import Problems, StudyError, shown

MOST_BYTES = 1 << 20
MOST_NODES = 100_000  # after aliases
WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


@dataclass
class Node:
    place: str
    value: Any  # str, list of nodes, or dict of nodes by key
    plain: bool = True  # a scalar without quotes
    keys: dict[str, str] = field(default_factory=dict)  # the places of a mapping's keys

    @property
    def parts(self) -> list["Node"]:
        """The values of a list or of a mapping."""
        parts = self.value.values() if isinstance(self.value, dict) else self.value
        return [] if isinstance(parts, str) else list(parts)

    def plain_value(self) -> Any:
        """As Python values: bool, int, float, str, None, list, dict."""
        if isinstance(self.value, list):
            return [node.plain_value() for node in self.value]
        if isinstance(self.value, dict):
            return {key: node.plain_value() for key, node in self.value.items()}
        return scalar(self.value) if self.plain else self.value

    def shown(self) -> str:
        value = self.plain_value()
        return shown(f'"{self.value}"' if isinstance(value, str) or self.value == "" else flow(value))


def scalar(text: str) -> object:
    """What a scalar without quotes means."""
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text.lower() == "true"
    if text in ("", "~"):
        return None
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) and math.isfinite(float(text)) else text


def flow(value: object) -> str:
    """A value in one line, as `--set` takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(flow, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if value is None:
        return "~"
    text = str(value)
    is_word = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_./-]*", text) and isinstance(scalar(text), str)
    if isinstance(value, str) and not is_word:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return text


def by_key(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Sections, and what is in them: section.key."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= {f"{prefix}{key}": value, **(by_key(value, f"{prefix}{key}.") if isinstance(value, dict) else {})}
    return found


def parse(text: str, name: str, what: str = "study") -> Node:
    """The tree of a document, of a study or of `what`; raises StudyError that lists what is malformed."""
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise StudyError(f"{name}: larger than {MOST_BYTES} bytes: not a {what}")
    problems = Problems()
    try:
        document = yaml.compose(text, yaml.SafeLoader)
        if document is None:
            example = "study: heat-strong" if what == "study" else "name: cluster"
            raise StudyError(f"{name}: empty; a {what} begins with a line such as {example}")
        tree = Builder(name, problems).build(document)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        raise StudyError(f"{where}: malformed YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise StudyError(f"{name}: malformed YAML: {shown(' '.join(str(error).split()), 200)}") from error
    except RecursionError as error:
        raise StudyError(f"{name}: nested too deeply") from error
    problems.raise_any()
    if not isinstance(tree.value, dict):
        raise StudyError(f"{tree.place}: a {what} is a mapping of keys, found {tree.shown()}")
    return tree


class Builder:
    def __init__(self, name: str, problems: Problems) -> None:
        self.name, self.problems, self.count = name, problems, 0

    def build(self, node: yaml.Node) -> Node:
        self.count += 1
        place = f"{self.name}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
        if self.count > MOST_NODES:
            raise StudyError(f"{place}: more than {MOST_NODES} values")
        if not node.tag.startswith("tag:yaml.org,2002:") or node.tag.endswith((":binary", ":set", ":omap", ":pairs")):
            self.problems.add(place, f"tags such as {shown(node.tag)} are not used here")
        if isinstance(node, yaml.SequenceNode):
            return Node(place, [self.build(item) for item in node.value])
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, place)
        return Node(place, node.value, plain=getattr(node, "style", None) is None)

    def mapping(self, node: yaml.MappingNode, place: str) -> Node:
        result = Node(place, {})
        for key_node, value_node in node.value:
            key, value = self.build(key_node), self.build(value_node)
            if not isinstance(key.value, str):
                self.problems.add(key.place, "a key is text")
            elif key.value == "<<" and key.plain:
                self.problems.add(key.place, "merge keys (<<) are not used here")
            elif key.value in result.value:
                self.problems.add(key.place, f"{shown(key.value)} is given twice, first at {result.keys[key.value]}")
            else:
                result.value[key.value], result.keys[key.value] = value, key.place
        return result
