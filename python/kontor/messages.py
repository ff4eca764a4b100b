# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages of the command, the failures that end it, and what other commands say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from kontor.errors import with_id


class Failure(Exception):
    """Ends the command with this message, the id of its cause and an exit code: 2 is bad usage or set-up."""

    def __init__(self, message: str, code: int = 2, error_id: str = "E-USAGE-OPTION"):
        super().__init__(with_id(message, error_id))
        self.code = code


def say(message: str) -> None:
    """Progress goes to stderr: stdout belongs to the programs."""
    print(f"kontor: {message}", file=sys.stderr, flush=True)


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
