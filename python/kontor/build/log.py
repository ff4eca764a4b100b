# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The log of a build: the output of CMake, compilers and apt-get."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..messages import Failure, say, shown


class Log:
    def __init__(self, file: Path):
        self._file = file
        file.write_bytes(b"")

    def __str__(self) -> str:
        return shown(self._file)

    def start(self, words: Sequence[str], folder: Path | None = None) -> subprocess.Popen[bytes]:
        with self._file.open("ab") as output:
            return subprocess.Popen(words, stdout=output, stderr=output, cwd=folder)

    def run(self, words: Sequence[str], folder: Path | None = None) -> bool:
        """Whether it succeeds."""
        try:
            return self.start(words, folder).wait() == 0
        except OSError as error:
            with self._file.open("a", encoding="utf-8") as output:
                print(error, file=output)
            return False

    @property
    def text(self) -> str:
        return self._file.read_text(encoding="utf-8", errors="replace")

    def show_progress(self, running: subprocess.Popen[bytes]) -> int:
        """Silent while there is nothing to compile. Returns the exit code."""
        try:
            return running.wait(1)
        except subprocess.TimeoutExpired:
            say(f"compiling (a minute or two the first time; output in {self})")
        return running.wait()

    def failed(self, message: str, error_id: str = "E-BUILD-FAILED", code: int = 3) -> Failure:
        """After the first errors of the log, or its end."""
        lines = self.text.splitlines()
        errors = [number for number, line in enumerate(lines) if re.search("([eE]rror|undefined reference)[: ]", line)]
        chosen = {number + more for number in errors[:3] for more in range(6)} or range(len(lines) - 25, len(lines))
        print(*(lines[number] for number in sorted(chosen) if 0 <= number < len(lines)), sep="\n", file=sys.stderr)
        return Failure(f"{message}; the whole output is in {self}", code, error_id)
