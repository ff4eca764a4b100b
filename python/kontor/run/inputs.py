# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The words of `kontor run`: its own, and those of the app, which go through as they are. And what is to be run: a
deck, the run that wrote a result, or the continuation of a checkpoint."""

import glob
import os
import re
import shutil
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ..messages import Failure, exit_code, reason_of, shown, signal_name
from ..place import Place
from ..report.record import read_record
from .run_folder import temporary_folder

# Of the apps' options: miniapps/run/start/command_line.cpp.
MOST_OF_A_STREAM = 16 << 20  # bytes
WITH_VALUE = ("--set", "-o", "--output", "--results", "--restart")


@dataclass
class Arguments:
    inputs: list[str] = field(default_factory=list)
    ranks: str = ""
    help: bool = False
    restart: bool = False
    dry_run: bool = False
    names_output: bool = False
    of_app: list[str] = field(default_factory=list)


def read_arguments(words: list[str]) -> Arguments:
    found, left = Arguments(), list(words)

    def value_of(name: str) -> str:
        if not left:
            raise Failure(f"run: {name} needs a value")
        return left.pop(0)

    while left:
        word = left.pop(0)
        name, has_value, value = word.partition("=")
        if word in ("-h", "--help"):
            found.help = True
            break
        if word == "--dry-run":
            found.dry_run = True
        elif name == "--restart":
            found.restart = True
            found.inputs += [value] if has_value else []
        elif name == "--ranks" or word in ("-n", "-np"):
            found.ranks = value if has_value else value_of(word)
        elif word.startswith("-n"):
            found.ranks = word[2:]
        elif word == "--":
            found.inputs += left
            break
        elif word.startswith("-") and word != "-":
            option, is_whole = _split(word)
            found.of_app.append(word)
            if option in WITH_VALUE and not is_whole:
                found.of_app.append(value_of(word))
            found.names_output |= option in ("-o", "--output")
        else:
            found.inputs.append(word)
    return found


def _split(word: str) -> tuple[str, bool]:
    """The option of --NAME, --NAME=VALUE, -N, -NVALUE, and whether a value is with it; of flags in one word, -qN, it is
    the last."""
    if word.startswith("--"):
        option, equals, _ = word.partition("=")
        return option, bool(equals)
    letters = word[1:]
    while len(letters) > 1 and f"-{letters[0]}" not in WITH_VALUE:
        letters = letters[1:]
    return f"-{letters[0]}", len(letters) > 1


def choose(arguments: Arguments, place: Place) -> tuple[str, str]:
    """The deck or result, and the checkpoint; each may be empty."""
    inputs, restart = [place.find(name) for name in arguments.inputs], arguments.restart
    decks = [name for name in inputs if not restart or name.endswith((".yaml", ".yml"))]
    checkpoints = [name for name in inputs if name not in decks]
    what, advice = "inputs", "give one deck or one HDF5 file"
    if restart:
        what, advice = "decks", "give one, or none: it is in the checkpoint"
    for several, names, hint in (what, decks, advice), ("checkpoints", checkpoints, "give one"):
        if len(names) > 1:
            raise Failure(f"run: two {several}, '{names[0]}' and '{names[1]}'; {hint}")
    if restart and not checkpoints:
        raise Failure("run: --restart needs a checkpoint: kontor run CHECKPOINT.h5 --restart")
    deck, checkpoint = "".join(decks), "".join(checkpoints)
    if deck or not restart:
        _check(deck, place)
    return deck, checkpoint


def _check(name: str, place: Place) -> None:
    decks = " ".join(str(deck.relative_to(place.root)) for deck in place.decks)
    if not name:
        raise Failure(f"run: no deck given; there are {decks}")
    if not os.path.exists(name):
        if glob.glob(f"{glob.escape(name.removesuffix('.h5'))}-?????????.h5"):
            raise Failure(f"{name}: there are checkpoints of that name; add --restart to resume from the newest")
        raise Failure(f"{name}: cannot read the deck: No such file or directory; there are {decks}",
                      error_id="E-FILE-READ")
    if os.path.isdir(name) or not os.access(name, os.R_OK):
        raise Failure(f"{name}: cannot read the deck: not a file, or not readable", error_id="E-FILE-READ")


def kept(stream: str, folders: ExitStack, keep: bool) -> str:
    """Writes a deck that can be read once, such as /dev/stdin or <(COMMAND), to a temporary file. Returns its path."""
    with open(stream, "rb") as file:
        text = file.read(MOST_OF_A_STREAM)
    if len(text) == MOST_OF_A_STREAM:
        raise Failure(f"{stream}: more than {MOST_OF_A_STREAM >> 20} MiB, which is no deck", error_id="E-FILE-READ")
    folder = temporary_folder("kontor")
    if not keep:
        folders.callback(shutil.rmtree, folder)
    deck = Path(folder, "deck.yaml")
    deck.write_bytes(text)
    return str(deck)


def is_result(name: str) -> bool:
    return bool(re.search(r"\.h5(\..{8}\.tmp)?$", name))


def _said(*words: str | Path) -> str:
    """What a command of our own prints; ends with its exit code where it fails, as it has said why."""
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    code, program = exit_code(done.returncode), words[0]
    if code > 128:
        raise Failure(f"{shown(program)} was ended by signal {signal_name(code)}{reason_of(code)}", 3, "E-LAUNCH-DIED")
    if code:
        raise SystemExit(code)
    return done.stdout.strip()


def extract(result: str, folders: ExitStack, keep: bool) -> tuple[str, str]:
    """Writes the deck that the result records to a temporary file. Returns it and the ranks."""
    record = read_record(result)
    if missing := [key for key in ("deck", "ranks") if not record.run.get(key)]:
        raise Failure(f"{result}: the run cannot be repeated: /run has no member {' and no '.join(missing)}",
                      error_id="E-REPORT-FILE")
    folder = temporary_folder("kontor")
    if not keep:
        folders.callback(shutil.rmtree, folder)
    deck = Path(folder, f"{Path(result).name.removesuffix('.h5')}.yaml")
    deck.write_text(record.run["deck"], encoding="utf-8", errors="surrogateescape")
    return str(deck), str(record.run["ranks"])


def first_target(deck: str, place: Place) -> str:
    """What the first run builds. An app builds what reads decks, too, and one build is faster than two, so it is the
    app that the deck seems to name, or what reads decks if that cannot be seen."""
    named = re.search(rb"(?m)^app:\s*[\"']?([a-z]*)", Path(deck).read_bytes())
    app = named[1].decode() if named else ""
    return app if app in place.apps else "kontor_deck"


def app_of(deck: str, place: Place) -> str:
    """The app that a deck names, by the parser that all apps have."""
    tool = place.program("kontor-deck")
    if not os.access(tool, os.X_OK):
        raise Failure(f"{deck}: {place.lacks('kontor-deck')}", error_id="E-BUILD-FAILED")
    return known_app(_said(tool, deck), deck, place)


def known_app(app: str, file: str, place: Place) -> str:
    if app not in place.apps:
        raise Failure(f"{file}: app '{app[:80]}' is unknown; allowed are: {' '.join(place.apps)}",
                      error_id="E-DECK-APP")
    return app
