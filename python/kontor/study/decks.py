# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decks of a study: where they are, for which mini-app, which keys they may have and what they say."""

import hashlib
import json
import os
import re
import stat
import subprocess
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..place import Place
from .problems import StudyError, shown
from .tree import by_key, parse


@dataclass
class Deck:
    path: str  # from the project's folder if it lies there, else absolute: the same wherever a study is resumed
    file: Path
    app: str
    sha256: str
    given: dict[str, Any]  # what it says, by key
    reduced: list[str]  # what its line `# test:` sets
    program: Path
    small: dict[str, Any] = field(default_factory=dict)  # what `reduced` sets

    @cached_property
    def schema(self) -> dict[str, Any] | None:
        """The app's, by key; None where the app is not built yet."""
        if not self.program.exists():
            return None
        done = subprocess.run([self.program, "--schema"], capture_output=True, text=True, check=False,
                              env=environment())
        try:
            return _keys(json.loads(done.stdout)) if done.returncode == 0 else None
        except (ValueError, KeyError, AttributeError):
            return None

    def value(self, key: str, settings: dict[str, Any]) -> Any:
        """What the key is with these settings, or by default; None where that is not known."""
        default = (self.schema or {}).get(key, {}).get("default")
        return settings.get(key, self.given.get(key, default))


def environment(**more: str) -> dict[str, str]:
    """For the programs: what was built before the first run is not built again."""
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "KONTOR_BUILT": "1",
            **more}


def find_deck(name: str, study_file: Path, place: Place) -> Deck:
    """Raises StudyError if there is none, or it names no mini-app."""
    file = _file(name, study_file, place)
    try:
        data = file.read_bytes()
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise StudyError(f"{name} cannot be read: {why}", "E-FILE-READ") from error
    reader = place.program("kontor-deck")
    if not reader.exists():
        raise StudyError(place.lacks(reader.name), "E-BUILD-FAILED")
    done = subprocess.run([reader, file], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StudyError(done.stderr.strip() or f"{name}: is not a deck")
    app = done.stdout.strip()
    if app not in place.apps:
        raise StudyError(f"{name}: app '{shown(app)}' is unknown")
    return Deck(place.lasting(file), file, app, hashlib.sha256(data).hexdigest(),
                by_key(parse(text, name).plain_value()), reduced_settings(text), place.program(app))


def reduced_settings(text: str) -> list[str]:
    """The settings of the line `# test: --set KEY=VALUE ...` in the comment at the beginning of a deck or a study."""
    found = re.match(r"(?:#.*\n)*?# test:(.*)", text)
    return [word.strip() for word in found[1].split(" --set ")[1:]] if found else []


def _is_file(path: Path) -> bool:
    """Unlike Path.is_file(), which from Python 3.14 tells no name that no file can have from one that none has."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False


def _file(name: str, study_file: Path, place: Place) -> Path:
    """In the working folder, next to the study, or in the project's."""
    places = [Path(name), study_file.parent / name, place.root / name]
    try:
        found = next((file for file in places if _is_file(file)), None)
    except (OSError, ValueError) as error:  # too long, or with a NUL character
        why = getattr(error, "strerror", None) or error
        raise StudyError(f'deck "{shown(name)}": no file can be called so: {why}', "E-FILE-READ") from error
    if found:
        return found.resolve()
    looked = ", ".join(str(file.parent) for file in dict.fromkeys(places))
    raise StudyError(f'deck "{shown(name)}": no such file; looked in {looked}', "E-FILE-READ")


def _keys(schema: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The schemas of single keys."""
    found: dict[str, Any] = {}
    for key, one in schema.get("properties", {}).items():
        is_section = one.get("type") == "object" and "properties" in one
        found |= _keys(one, f"{prefix}{key}.") if is_section else {f"{prefix}{key}": one}
    return found
