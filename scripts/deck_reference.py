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
    """Of the keys of a section: each with the rest of its row."""
    for key, value in keys.items():
        if is_section(value):
            yield from rows(value["properties"], f"{prefix}{key}.")
        else:
            yield f"`{prefix}{key}`", f"{kind(value)} | {shown(value['default'])} | {value['description']}"


def table(title, keys):
    """A section is a row with its description, then those of its keys; keys that differ in their names share one."""
    text = f"\n## {title}\n\n{HEAD}"
    for name, value in keys.items():
        if is_section(value):
            text += f"| **{name}** | | | {value['description']} |\n"
        alike = {}
        for key, rest in rows({name: value}, ""):
            alike.setdefault(rest, []).append(key)
        text += "".join(f"| {', '.join(names)} | {rest} |\n" for rest, names in alike.items())
    return text


def reference(schemas):
    """The keys of each app, then those that are the same in all: first those that are in no section."""
    keys = [schema["properties"] for schema in schemas]
    names = [{name for name, key in of_app.items() if is_section(key)} for of_app in keys]
    shared = {name for name in names[0] if all(of_app.get(name) == keys[0][name] for of_app in keys)}
    text = "".join(table(of_app["app"]["const"], {name: of_app[name] for name in of_app if name in mine - shared})
                   for of_app, mine in zip(keys, names))
    lone = {name: key for name, key in keys[0].items() if name != "app" and not is_section(key)}
    return text + table("Every mini-app", {**lone, **{name: keys[0][name] for name in keys[0] if name in shared}})


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
    generate(__doc__, text_of)
