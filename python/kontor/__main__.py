#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor COMMAND WORD...: builds, runs, tests and compares the mini-apps."""

import importlib
import io
import os
import signal
import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from kontor.messages import Failure, help_of, say
from kontor.place import Place

COMMANDS = ("run", "compare", "benchmark", "report", "study", "app")
OF_SOURCE = ("predict", "test", "build", "lint")  # commands that an installation does not have
MODULES = {"run": ("run.command", "main"), "app": ("app", "main"), "build": ("build.command", "build"),
           "test": ("build.command", "test"), "lint": ("build.command", "lint")}  # of the commands that need no packages


def main(words: list[str] | None = None) -> int:
    """Returns the exit code."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        code = _main(sys.argv[1:] if words is None else words)
        sys.stdout.flush()
        return code
    except Failure as failure:
        say(str(failure))
        return failure.code
    except OSError as error:
        say(str(error), "E-FILE-WRITE")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is not written yet is tried again at the end
        return 3
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        raise


def _main(words: list[str]) -> int:
    _open_standard_streams()
    command, *words = words or ["help"]
    _leave_stdin()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files may be in no or another encoding
    if not os.environ.get("HOME"):  # Open MPI 5 starts nothing without one
        os.environ.pop("HOME", "")
        os.environ["HOME"] = os.path.expanduser("~")
    return _call(command, words)


def _open_standard_streams() -> None:
    """The first files that are opened would take the places of streams that the caller has closed (2>&-)."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the lowest free number
    sys.stdout, sys.stderr = sys.stdout or open(1, "w"), sys.stderr or open(2, "w")


def _call(command: str, words: list[str]) -> int:
    place = Place.here()
    if command in ("help", "-h", "--help"):
        print(_overview(place), end="")
        return 0
    if command == "--version":
        print(f"kontor {place.version} ({place.revision})")
        return 0
    commands = (*COMMANDS, *OF_SOURCE) if place.is_source else COMMANDS
    if command not in (*COMMANDS, *OF_SOURCE):
        raise Failure(f"'{command}' is not a command; there are {', '.join(commands)} and help")
    if command not in commands:
        raise Failure(f"{command} needs a source tree of Kontor: this is an installation, in {place.build}")
    if command in ("app", "test", "build", "lint") and words[:1] in (["-h"], ["--help"]):
        print(help_of(f"kontor {command}"), end="")
        return 0
    if place.preset == "smpi" and command in ("run", "compare", "benchmark", "study", "test"):
        raise Failure("preset smpi makes programs for simulated ranks, and no tests:"
                      " 'kontor predict STUDY --machine FILE --simulate FOLDER' runs them")
    # One command does without the packages of the others, and starts sooner.
    module, function = MODULES.get(command, ("packaged", ""))
    called = importlib.import_module(f"kontor.{module}")
    return int(getattr(called, function)(words) if function else called.call(command, words, place))


def _overview(place: Place) -> str:
    if place.is_source:
        return f"{help_of('kontor')}\n{help_of('In a source tree')}"
    pages = place.root / "docs"
    return help_of("kontor") + (f"\nThe pages docs/ are in {pages}\n" if pages.is_dir() else "")


def _leave_stdin() -> None:
    """What this starts would read what is not for it, such as the rest of the script that calls it. Stdin stays if it
    is a terminal, by which sudo knows that somebody is there."""
    if not os.isatty(0):
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)


if __name__ == "__main__":
    sys.exit(main())
