#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of docs/reference/decks.md, from the programs' own schemas."""

import json
import re
import subprocess
import sys

from reference_page import generate

HEAD = "| key | takes | default | what it is |\n|---|---|---|---|\n"
BOUNDS = {"exclusiveMinimum": "above", "minimum": "from", "maximum": "to"}
WORDS = {"boolean": "`true`, `false`", "integer": "integer", "number": "number", "string": "text"}


def shown(value):
    """A default as one would write it in a deck."""
    if value in ("", []):
        return "empty"
    return f"`{value}`" if isinstance(value, str) else "`{}`".format(json.dumps(value).replace('"', ""))


def number(value):
    if isinstance(value, int) and value > 9999:
        return f"2^{value.bit_length() - 1}" if value & (value - 1) == 0 else str(value)
    return f"{value:g}"


def bounds(schema):
    return "".join(f" {word} {number(schema[name])}" for name, word in BOUNDS.items() if name in schema)


def kind(schema):
    """What a key takes, in words."""
    if "anyOf" in schema:
        return ", ".join(kind(form) for form in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{word}`" for word in schema.get("enum", [schema.get("const")]) if word is not None)
    of_type = schema["type"]
    if of_type == ["string", "number"]:
        return "formula"
    if of_type == "object":
        return ", ".join(f"`{{{key}: formula}}`" for key in schema["properties"])
    if of_type == "array":
        items, least, most = schema["items"], schema.get("minItems", 0), schema.get("maxItems")
        if "enum" in items:
            return f"list of {'one or more of ' if least else ''}{kind(items)}"
        count = "" if not most else f"{most} " if least == most else f"{least} to {most} "
        return f"list of {count}{items['type']}s{bounds(items)}"
    return WORDS[of_type] + bounds(schema)


def is_section(schema):
    return schema.get("type") == "object" and "default" not in schema


def rows(keys, prefix):
    for key, value in keys.items():
        if is_section(value):
            yield from rows(value["properties"], f"{prefix}{key}.")
        else:
            yield f"| `{prefix}{key}` | {kind(value)} | {shown(value['default'])} | {value['description']} |\n"


def table(title, keys, prefix=""):
    return f"\n### {title}\n{HEAD}{''.join(rows(keys, prefix))}"


def sections(schema, names):
    """The tables of these sections."""
    keys = schema["properties"]
    return "".join(table(f"{name}\n{keys[name]['description']}.\n", keys[name]["properties"], f"{name}.")
                   for name in keys if name in names)


def reference(schemas):
    """The sections of each app, then those that are the same in all, then the keys that are in no section."""
    keys = [schema["properties"] for schema in schemas]
    names = [{name for name, key in of_app.items() if is_section(key)} for of_app in keys]
    shared = {name for name in names[0] if all(of_app.get(name) == keys[0][name] for of_app in keys)}
    text = "".join(f"\n## {of_app['app']['const']}\n{sections(schema, mine - shared)}"
                   for schema, of_app, mine in zip(schemas, keys, names))
    lone = {name: key for name, key in keys[0].items() if name != "app" and not is_section(key)}
    text += f"\n## Every mini-app\n{sections(schemas[0], shared)}"
    return text + (table("Keys in no section\n", lone) if lone else "")


def schema_of(program):
    return json.loads(subprocess.run([program, "--schema"], capture_output=True, text=True, check=True).stdout)


def text_of(arguments, old):
    schemas = [schema_of(program) for program in arguments.programs]
    apps = {schema["properties"]["app"]["const"] for schema in schemas}
    if lost := set(re.findall("(?m)^## (.+)$", old)) - apps - {"Every mini-app"}:
        sys.exit(f"{arguments.page}: has sections of {', '.join(sorted(lost))}, whose programs are not given: "
                 "give all programs, or delete the section of one that is no more")
    return reference(schemas)


if __name__ == "__main__":
    generate(__doc__, "docs/reference/decks.md", text_of)
