# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decks of a study: where they are, for which mini-app, which keys they may have and what they say."""

import hashlib
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .here import Here
from .problems import StudyError, shown
from .tree import Node, parse


@dataclass
class Deck:
    path: str  # from the project's folder if it lies there, else absolute: the same wherever a study is resumed
    file: Path
    app: str
    sha256: str
    given: dict[str, Any]  # what it says, by key
    reduced: list[str]  # what its line `# test:` sets
    schema: dict[str, Any] | None = None  # the app's, by key; None where the app is not built yet
    defaults: dict[str, Any] = field(default_factory=dict)
    small: dict[str, Any] = field(default_factory=dict)  # what `reduced` sets

    def value(self, key: str, settings: dict[str, Any]) -> Any:
        """What the key is with these settings; None if nobody says."""
        return settings.get(key, self.given.get(key, self.defaults.get(key)))


def find_deck(name: str, study_file: Path, here: Here) -> Deck:
    """Raises StudyError if there is none, or it names no mini-app."""
    file = _file(name, study_file, here)
    try:
        data = file.read_bytes()
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{name} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}", "E-FILE-READ") from error
    reader = here.build / "bin/kontor-deck"
    if not reader.exists():
        raise StudyError("what reads decks is not built yet; run 'kontor build' first", "E-BUILD-FAILED")
    done = subprocess.run([reader, file], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StudyError(done.stderr.strip() or f"{name}: is not a deck")
    app = done.stdout.strip()
    if app not in here.apps:
        raise StudyError(f"{name}: app '{shown(app)}' is unknown")
    return Deck(here.lasting(file), file, app, hashlib.sha256(data).hexdigest(), dict(_leaves("", parse(text, name))), reduced_settings(text))


def reduced_settings(text: str) -> list[str]:
    """The settings of the line `# test: --set KEY=VALUE ...` in the comment at the beginning of a deck or a study."""
    found = re.match(r"(?:#.*\n)*?# test:(.*)", text)
    return [word.strip() for word in found[1].split(" --set ")[1:]] if found else []


def read_schema(deck: Deck, here: Here) -> None:
    """The app's own words about its keys, if it is built."""
    program = here.build / "bin" / deck.app
    if not program.exists():
        return
    done = subprocess.run([program, "--schema"], capture_output=True, text=True, check=False, env=here.environment())
    try:
        deck.schema = dict(_schema_leaves("", json.loads(done.stdout))) if done.returncode == 0 else None
    except (ValueError, KeyError, AttributeError):
        deck.schema = None
    deck.defaults = {key: one["default"] for key, one in (deck.schema or {}).items() if "default" in one}


def _file(name: str, study_file: Path, here: Here) -> Path:
    """In the working folder, beside the study, or in the project's."""
    places = [Path(name), study_file.parent / name, here.root / name]
    try:
        found = next((place for place in places if place.is_file()), None)
    except (OSError, ValueError) as error:  # too long, or with a NUL character
        raise StudyError(f'deck "{shown(name)}": no file can be called so: {getattr(error, "strerror", None) or error}', "E-FILE-READ") from error
    if found:
        return found.resolve()
    looked = ", ".join(str(place.parent) for place in dict.fromkeys(places))
    raise StudyError(f'deck "{shown(name)}": no such file; looked in {looked}', "E-FILE-READ")


def _leaves(prefix: str, node: Node) -> Iterator[tuple[str, Any]]:
    for key, item in node.value.items():
        if isinstance(item.value, dict):
            yield f"{prefix}{key}", item.plain_value()
            yield from _leaves(f"{prefix}{key}.", item)
        else:
            yield f"{prefix}{key}", item.plain_value()


def _schema_leaves(prefix: str, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, one in schema.get("properties", {}).items():
        if one.get("type") == "object" and "properties" in one:
            yield from _schema_leaves(f"{prefix}{key}.", one)
        else:
            yield f"{prefix}{key}", one
