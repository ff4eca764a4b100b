# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages of the command, the failures that end it, and what other commands say and how they end."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

SHARED_CORES = "cores are shared: "  # begins what a launcher says of it; kontor report looks for it in logs
IN_A_MESSAGE = re.compile(r" \[(E-[A-Z-]+)\]")


def with_id(message: str, name: str) -> str:
    """The message with an id at the end of its first line: the first that the line quotes, else `name`.

    docs/reference/errors.md lists all ids, errors/include/kontor/errors/id.hpp those that C++ raises.
    """
    first, newline, rest = message.partition("\n")
    found = IN_A_MESSAGE.search(first)
    return f"{IN_A_MESSAGE.sub('', first)} [{found[1] if found else name}]{newline}{rest}"


class Failure(Exception):
    """Ends the command with this message, the id of its cause and an exit code: 2 is bad usage or set-up."""

    def __init__(self, message: str, code: int = 2, error_id: str = "E-USAGE-OPTION"):
        super().__init__(with_id(message, error_id))
        self.code = code


def help_of(command: str) -> str:
    """The text of `kontor help`, or of --help of a command such as "kontor run": its block of the page cli.md."""
    page = Path(__file__).with_name("cli.md").read_text(encoding="utf-8")
    return page.partition(f"# {command}\n\n```text\n")[2].partition("```\n")[0]


def say(message: str, error_id: str = "") -> None:
    """Progress and errors, which have ids, go to stderr: stdout belongs to the programs."""
    print(f"kontor: {with_id(message, error_id) if error_id else message}", file=sys.stderr, flush=True)


def shown(path: str | Path) -> str:
    """The path relative to the working folder if it lies below."""
    return str(path).removeprefix(f"{os.getcwd()}/")


def have(command: str) -> bool:
    return shutil.which(command) is not None


def said(*words: str, seconds: float | None = None) -> str:
    """What a command prints; nothing where there is none of that name, or it takes longer."""
    try:
        return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False,
                              timeout=seconds).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def exit_code(returncode: int) -> int:
    """As a shell has it: 128 + N for signal N."""
    return returncode if returncode >= 0 else 128 - returncode


def signal_name(code: int) -> str:
    """Of the signal that an exit code stands for, such as SEGV; empty if it stands for none."""
    try:
        return signal.Signals(code - 128).name.removeprefix("SIG")
    except ValueError:
        return ""


def reason_of(code: int) -> str:
    """What may be meant by the signal that ended a program, if there is something to say."""
    if signal_name(code) in ("SEGV", "BUS", "FPE", "ABRT"):
        return "; if the deck names an HDF5 file of another program, try it with h5dump: a damaged one crashes HDF5"
    if signal_name(code) != "ILL":
        return ""
    return (": it has an instruction that this processor does not know, as when it was built on another; build it on this"
            " machine, or with -DKONTOR_NATIVE=OFF for both")
