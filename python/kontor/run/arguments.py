# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The words of `kontor run`: its own, and those of the app, which go through as they are."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..messages import Failure

# Of the apps' options: miniapps/run/start/command_line.cpp.
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


def read(words: list[str]) -> Arguments:
    found, left = Arguments(), list(words)

    def value_of(name: str) -> str:
        if not left:
            raise Failure(f"run: {name} needs a value")
        return left.pop(0)

    while left:
        word = left.pop(0)
        if word in ("-h", "--help"):
            found.help = True
            break
        if word == "--dry-run":
            found.dry_run = True
        elif word == "--restart":
            found.restart = True
        elif word.startswith("--restart="):
            found.restart = True
            found.inputs.append(word.partition("=")[2])
        elif word in ("-n", "-np", "--ranks"):
            found.ranks = value_of(word)
        elif word.startswith("--ranks="):
            found.ranks = word.partition("=")[2]
        elif word.startswith("-n"):
            found.ranks = word[2:]
        elif word == "--":
            found.inputs += left
            break
        elif word.startswith("-") and word != "-":
            option, has_value = _split(word)
            found.of_app.append(word)
            if option in WITH_VALUE and not has_value:
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
