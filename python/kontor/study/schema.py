# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values by JSON schemas, as far as those of the mini-apps and of studies go."""

from typing import Any

TYPES: dict[str, Any] = {"boolean": bool, "integer": int, "number": (int, float), "string": str, "array": list,
                         "object": dict, "null": type(None)}
WORDS = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false",
         "array": "a list"}
BOUNDS = {"exclusiveMinimum": "above", "minimum": "from", "maximum": "to"}


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
