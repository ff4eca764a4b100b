# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong with a study: collected, so that all of it is told at once; and values by JSON schemas, as far as those
of the mini-apps and of studies go."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from kontor.messages import with_id
from kontor.report.text import printable

MOST = 20  # problems that are listed
TYPES: dict[str, Any] = {"boolean": bool, "integer": int, "number": (int, float), "string": str, "array": list,
                         "object": dict, "null": type(None)}
WORDS = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false",
         "array": "a list"}
BOUNDS = {"exclusiveMinimum": "above", "minimum": "from", "maximum": "to"}


class StudyError(Exception):
    """What ends `kontor study`, with its exit code: 2 for what the user can mend, 3 for what failed at run time."""

    def __init__(self, message: str, error_id: str = "E-STUDY-FILE", code: int = 2, places: bool = False) -> None:
        super().__init__(with_id(message, error_id))
        self.code, self.places = code, places

    def text(self) -> str:
        """Lines that begin with a place, as compilers have them; others say who speaks, and details stand below."""
        return str(self) if self.places else "kontor: " + str(self).replace("\n", "\n  ")


class Problems:
    """Each is a place, such as study.yaml:3:7, and a message."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, place: str, message: str) -> Any:
        """Returns None, for readers that have no value then."""
        line = with_id(f"{place}: {message}", "E-STUDY-FILE")
        if line not in self.lines:
            self.lines.append(line)

    def raise_any(self) -> None:
        if self.lines:
            more = [f"and {len(self.lines) - MOST} more"] if len(self.lines) > MOST else []
            raise StudyError("\n".join(self.lines[:MOST] + more), places=True)


def nearest(name: str, known: Iterable[str]) -> str:
    """'; did you mean "ranks"?', or the known names where none is near."""
    known = list(known)
    found = get_close_matches(name, known, n=1)
    if found:
        return f'; did you mean "{found[0]}"?'
    return f"; allowed are: {', '.join(known)}" if len(known) <= 30 else ""


def shown(value: object, most: int = 60) -> str:
    """A value as messages show it: printable, and not too long."""
    text = printable(str(value))
    return text if len(text) <= most else f"{text[:most]}..."


def misfit(schema: dict[str, Any], value: Any) -> str | None:
    """What the schema allows instead of the value, in words; None if it allows the value."""
    if "anyOf" in schema:
        wrong = [misfit(form, value) for form in schema["anyOf"]]
        return None if None in wrong else " or ".join(dict.fromkeys(text for text in wrong if text))
    if "enum" in schema:
        words = value if isinstance(value, str | bool) else str(value)  # a deck has 7 and "7" alike
        return None if words in schema["enum"] else f"one of {', '.join(map(str, schema['enum']))}"
    if "const" in schema:
        return None if value == schema["const"] else str(schema["const"])
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    allowed = " ".join([" or ".join(WORDS.get(name, name) for name in types),
                        *(f"{word} {schema[name]}" for name, word in BOUNDS.items() if name in schema)])
    if types and not any(_is(value, name) for name in types):
        return allowed
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return f"a list of {schema.get('minItems', 0)} to {schema.get('maxItems', 'any number of')} values"
        return next(filter(None, (misfit(schema.get("items", {}), item) for item in value)), None)
    fits = not _is(value, "number") or (schema.get("minimum", value) <= value <= schema.get("maximum", value)
                                        and value > schema.get("exclusiveMinimum", value - 1))
    return None if fits else allowed


def _is(value: Any, name: str) -> bool:
    return isinstance(value, TYPES.get(name, object)) and (name == "boolean" or not isinstance(value, bool))
