# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values by JSON schemas, as far as the mini-apps' and the studies' use them."""

from typing import Any


def misfit(schema: dict[str, Any], value: Any) -> str | None:
    """What the schema allows instead of the value, in words; None if it allows that."""
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
    if types and not any(_is(value, name) for name in types):
        return _allowed(schema, types)
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return f"a list of {schema.get('minItems', 0)} to {schema.get('maxItems', 'any number of')} values"
        return next(filter(None, (misfit(schema.get("items", {}), item) for item in value)), None)
    if _is(value, "number") and not (schema.get("minimum", value) <= value <= schema.get("maximum", value)
                                     and value > schema.get("exclusiveMinimum", value - 1)):
        return _allowed(schema, types)
    return None


def _is(value: Any, name: str) -> bool:
    kinds: dict[str, Any] = {"boolean": bool, "integer": int, "number": (int, float), "string": str, "array": list, "object": dict, "null": type(None)}
    return isinstance(value, kinds.get(name, object)) and (name == "boolean" or not isinstance(value, bool))


def _allowed(schema: dict[str, Any], types: list[str]) -> str:
    words = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false", "array": "a list"}
    bounds = [f"{word} {schema[name]}" for name, word in (("exclusiveMinimum", "above"), ("minimum", "from"), ("maximum", "to")) if name in schema]
    return " ".join([" or ".join(words.get(name, name) for name in types), *bounds])
