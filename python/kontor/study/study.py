# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study and its decks as the program kontor-deck reads them; and whether the decks' apps take what the study sets."""

import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kontor.report.text import printable

from ..build.setup import Build
from ..messages import Failure, reason_of, signal_name, with_id
from ..place import Place, nearest

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")


def flow(value: object) -> str:
    """A value in one line, as `--set` takes it."""
    if isinstance(value, list):
        return f"[{','.join(map(flow, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    is_word = isinstance(value, str) and WORD.fullmatch(value) and value not in ("true", "false")
    return str(value) if is_word else json.dumps(value)


def refuse(messages: list[str]) -> None:
    """Ends the command if there are any. Each begins with a place, as those of compilers."""
    if messages:
        print("\n".join(dict.fromkeys(messages)), file=sys.stderr)
        raise SystemExit(2)


def reader_says(place: Place, *words: str | Path) -> Any:
    """What kontor-deck prints, as JSON. What it refuses ends the command."""
    reader = place.program("kontor-deck")
    if not reader.exists():
        raise Failure(place.lacks("kontor-deck"), error_id="E-BUILD-FAILED")
    done = subprocess.run([reader, *words], capture_output=True, text=True, check=False)
    if done.returncode < 0:
        code = 128 - done.returncode
        raise Failure(f"{reader} was ended by signal {signal_name(code)}{reason_of(code)}", 3, "E-LAUNCH-DIED")
    refuse(done.stderr.splitlines() if done.returncode else [])
    return json.loads(done.stdout)


def by_key(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Sections, and what is in them: section.key."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= {f"{prefix}{key}": value, **(by_key(value, f"{prefix}{key}.") if isinstance(value, dict) else {})}
    return found


@dataclass
class Deck:
    path: str  # from the project's folder if it lies there, else absolute: the same wherever a study is resumed
    file: Path
    app: str
    sha256: str
    given: dict[str, Any]  # what it says, by key
    small: dict[str, Any]  # what its line `# test:` sets, if the study is reduced
    program: Path

    @cached_property
    def schema(self) -> dict[str, Any] | None:
        """The app's, by key; None where the app is not built yet."""
        if not self.program.exists():
            return None
        done = subprocess.run([self.program, "--schema"], capture_output=True, text=True, check=False)
        try:
            return _keys(json.loads(done.stdout)) if done.returncode == 0 else None
        except (ValueError, KeyError, AttributeError):
            return None

    def value(self, key: str, settings: dict[str, Any]) -> Any:
        """What the key is with these settings, or by default; None where that is not known."""
        default = (self.schema or {}).get(key, {}).get("default")
        return settings.get(key, self.given.get(key, default))


def _keys(schema: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The schemas of single keys."""
    found: dict[str, Any] = {}
    for key, one in schema.get("properties", {}).items():
        is_section = one.get("type") == "object" and "properties" in one
        found |= _keys(one, f"{prefix}{key}.") if is_section else {f"{prefix}{key}": one}
    return found


@dataclass
class Study:
    file: str
    overrides: list[str]
    values: dict[str, Any]
    places: dict[str, str]  # of the keys of decks: vary.comm.backend
    decks: list[Deck]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @property
    def decks_by_path(self) -> dict[str, Deck]:
        return {deck.path: deck for deck in self.decks}

    @property
    def apps(self) -> list[str]:
        return sorted({deck.app for deck in self.decks})

    @property
    def factors(self) -> list[str]:
        """What points differ in."""
        several = [key for key in ("threads", "deck") if len(self[key]) > 1]
        return ["ranks", *several, *self["vary"], *self["zip"]]

    def text(self, place: Place) -> str:
        """The study as YAML, every default written out, which reads the same in another folder."""
        lasting = {"deck": [deck.path for deck in self.decks], "seed": self["seed"]}
        known = [f"{key}={flow(value)}" for key, value in lasting.items()]
        return str(reader_says(place, "--study", self.file, *self.overrides, *known)["text"])


def read_study(path: str, overrides: list[str], place: Place, build: bool = False) -> Study:
    """With `build` the mini-apps are built first, if they are not. Ends the command with all that is wrong."""
    if not os.path.exists(path):
        known = place.root.glob("inputs/studies/*.yaml")
        raise Failure(f"{printable(path)}: cannot read the study: no such file{nearest(path, known)}",
                      error_id="E-FILE-READ")
    if build:
        Build(place, os.environ).ensure("kontor_deck")
    said = reader_says(place, "--study", path, *overrides)
    values, places = said["values"], said["places"]
    decks = [find_deck(name, Path(path), places["deck"], values["reduced"], place) for name in values["deck"]]
    values["deck"] = [deck.path for deck in decks]
    study = Study(os.path.abspath(path), overrides, values, places, decks)
    for app in study.apps if build else []:
        Build(place, os.environ).ensure(app)
    refuse([message for deck in decks for message in mistakes(study, deck)])
    return study


def settings_of_test(file: Path) -> list[str]:
    """Those of the line `# test: --set KEY=VALUE ...` in the comment at the beginning of a deck or a study."""
    found = re.match(r"(?:#.*\n)*?# test:(.*)", file.read_text(encoding="utf-8", errors="replace"))
    return [word.strip() for word in found[1].split(" --set ")[1:]] if found else []


def find_deck(name: str, study_file: Path, where: str, reduced: bool, place: Place) -> Deck:
    """In the working folder, next to the study, or in the project's."""
    places = [Path(name), study_file.parent / name, place.root / name]
    found = next(filter(os.path.isfile, places), None)
    if not found:
        near = nearest(name, [*place.decks, *study_file.parent.glob("*.yaml")])
        refuse([with_id(f"{where}: deck {printable(name)[:80]}: no such file{near}", "E-FILE-READ")])
    file = Path(found or name).resolve()
    settings = settings_of_test(file) if reduced else []
    given = by_key(reader_says(place, "--json", file, *settings))
    small = {key: given[key] for key in (each.partition("=")[0] for each in settings)}
    app = str(given.get("app"))
    if app not in place.apps:
        refuse([with_id(f"{where}: {name}: app '{printable(app)[:80]}' is unknown; allowed are: "
                        f"{' '.join(place.apps)}", "E-DECK-APP")])
    return Deck(place.lasting(file), file, app, hashlib.sha256(file.read_bytes()).hexdigest(), given, small,
                place.program(app))


def mistakes(study: Study, deck: Deck) -> Iterator[str]:
    """What the app says of the keys and values that the study sets, in place of `--set`; and sizes that do not grow."""
    lists = {**{key: [value] for key, value in study["set"].items()}, **study["vary"], **study["zip"]}
    homes = {key: section for section in ("set", "vary", "zip") for key in study[section]}
    for row in range(max(map(len, lists.values()), default=0) if deck.program.exists() else 0):
        words = {key: f"{key}={flow(values[min(row, len(values) - 1)])}" for key, values in lists.items()}
        done = subprocess.run([deck.program, deck.file, "--print-deck", *(f"--set={word}" for word in words.values())],
                              capture_output=True, text=True, check=False)
        for key, line in itertools.product(words, done.stderr.splitlines()):
            if line.startswith(f"--set {key}=") and "[E-DECK-CONFLICT]" not in line:  # that may be of one point alone
                where = f"{study.places[f'{homes[key]}.{key}']}: {homes[key]}"
                yield f"{where}: {line.removeprefix(f'--set {words[key]}: ')}"
    sizes = [deck.value(key, study["set"]) for key in ("problem.local", "problem.memory_share")]
    if study["kind"] == "weak" and sizes[0] in (None, False) and sizes[1] in (None, "auto"):
        yield with_id(f"{study.places['kind']}: kind is weak, but {deck.path} has one problem for any number of ranks;"
                      " set problem.local: true, with the sizes of one rank", "E-DECK-CONFLICT")
