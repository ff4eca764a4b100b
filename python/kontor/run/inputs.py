# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The words of `kontor run`: its own, and those of the app, which go through as they are. And what is to be run: a
deck, the run that wrote a result, or the continuation of a checkpoint."""

import argparse
import glob
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

from ..messages import Failure, exit_code, reason_of, shown, signal_name
from ..place import Place, nearest
from ..report.record import read_json
from .run_folder import temporary_folder

# Of the apps' options: miniapps/run/start/command_line.cpp.
WITH_VALUE = (("--set",), ("-o", "--output"), ("--results",))


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Failure(f"run: {message}")


class OfApp(argparse.Action):
    """An option that goes to the app."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: str | Sequence[str] | None,
                 option: str | None = None) -> None:
        namespace.of_app += [option, *([values] if self.nargs is None else [])]
        namespace.names_output |= self.dest == "output"


def read_arguments(words: list[str]) -> argparse.Namespace:
    """What is not known here goes to the app, too."""
    parser = Parser(add_help=False, allow_abbrev=False)
    parser.set_defaults(of_app=[], names_output=False)
    parser.add_argument("inputs", nargs="*")
    parser.add_argument("-n", "-np", "--ranks", default="")
    parser.add_argument("--restart", nargs="?", const="")
    for name in ("-h", "--help"), ("--dry-run",):
        parser.add_argument(*name, action="store_true")
    for name in WITH_VALUE:
        parser.add_argument(*name, action=OfApp)
    parser.add_argument("-q", "--quiet", action=OfApp, nargs=0)
    found, unknown = parser.parse_known_intermixed_args(words)
    found.of_app += unknown
    found.inputs += [found.restart] if found.restart else []
    return found


def choose(arguments: argparse.Namespace, place: Place) -> tuple[str, str]:
    """The deck or result, and the checkpoint; each may be empty."""
    inputs, restart = [place.find(name) for name in arguments.inputs], arguments.restart is not None
    decks = [name for name in inputs if not restart or name.endswith((".yaml", ".yml"))]
    checkpoints = [name for name in inputs if name not in decks]
    for several, names in ("decks" if restart else "inputs", decks), ("checkpoints", checkpoints):
        if len(names) > 1:
            raise Failure(f"run: two {several}, '{names[0]}' and '{names[1]}'; give one")
    if restart and not checkpoints:
        raise Failure("run: --restart needs a checkpoint: kontor run CHECKPOINT.h5 --restart")
    deck, checkpoint = "".join(decks), "".join(checkpoints)
    if deck or not restart:
        _check(deck, place)
    return deck, checkpoint


def _check(name: str, place: Place) -> None:
    if not name:
        raise Failure(f"run: no deck given; there are {' '.join(map(place.lasting, place.decks))}")
    if not os.path.exists(name):
        if glob.glob(f"{glob.escape(name.removesuffix('.h5'))}-?????????.h5"):
            raise Failure(f"{name}: there are checkpoints of that name; add --restart to resume from the newest")
        hint = nearest(name, place.decks) or "; 'kontor run' lists those of Kontor"
        raise Failure(f"{name}: cannot read the deck: No such file or directory{hint}", error_id="E-FILE-READ")


def is_result(name: str) -> bool:
    return bool(re.search(r"\.h5(\..{8}\.tmp)?$", name))


def of_checkpoint(name: str) -> tuple[str, int]:
    """The app and the ranks of a checkpoint; of the newest that can be read where the name stands for several
    (NAME-checkpoint.h5). The app finds out whether it is whole, and takes else the one before."""
    file, found, problems = Path(name), list[tuple[int, str, int]](), []
    stem = file.stem if file.suffix == ".h5" else file.name
    several = sorted(path for path in file.parent.glob("*.h5") if re.fullmatch(re.escape(stem) + r"-\d{9,}", path.stem))
    for path in [file] if file.is_file() else several:
        try:
            members = read_json(str(path), "/checkpoint")
            found.append((members["number"], members["app"], members["ranks"]))
        except Failure as error:
            problems.append(str(error))
    if not found:
        raise Failure("\n  ".join([f"{name}: there is no checkpoint of that name that can be read", *problems]),
                      error_id="E-FILE-READ")
    return max(found)[1:]


def extract(result: str, folders: ExitStack, keep: bool) -> tuple[str, str]:
    """Writes the deck that the result records to a temporary file. Returns it and the ranks."""
    run = read_json(result)
    if not (run.get("deck") and run.get("ranks")):
        raise Failure(f"{result}: the run cannot be repeated: /run lacks its deck or its ranks", error_id="E-FILE-FORMAT")
    folder = temporary_folder("kontor")
    if not keep:
        folders.callback(shutil.rmtree, folder)
    deck = folder / f"{Path(result).name.removesuffix('.h5')}.yaml"
    deck.write_text(run["deck"], encoding="utf-8", errors="surrogateescape")
    return str(deck), str(run["ranks"])


def app_of(deck: str, place: Place) -> str:
    """The app that a deck names, by the parser that all apps have."""
    tool = place.program("kontor-deck")
    if not os.access(tool, os.X_OK):
        raise Failure(f"{deck}: {place.lacks('kontor-deck')}", error_id="E-BUILD-FAILED")
    done = subprocess.run([tool, deck], stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    code = exit_code(done.returncode)
    if code > 128:
        raise Failure(f"{shown(tool)} was ended by signal {signal_name(code)}{reason_of(code)}", 3, "E-LAUNCH-DIED")
    if code:  # it has said why
        raise SystemExit(code)
    return known_app(done.stdout.strip(), deck, place)


def known_app(app: str, file: str, place: Place) -> str:
    if app not in place.apps:
        raise Failure(f"{file}: app '{app[:80]}' is unknown; allowed are: {' '.join(place.apps)}",
                      error_id="E-DECK-APP")
    return app
