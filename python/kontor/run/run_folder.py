# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder in which ranks leave word of how far they are, for a launcher that waits for a host that has vanished, or
for itself, as Open MPI's (4.1.4) may when a rank is killed in MPI_Finalize."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from ..messages import Failure

def temporary_folder(name: str) -> str:
    parent = os.environ.get("TMPDIR") or "/tmp"
    try:
        return tempfile.mkdtemp(prefix=f"{name}.", dir=parent)
    except OSError as error:
        message = f"no folder can be made in {parent}; let TMPDIR name one that is there, where you may write"
        raise Failure(f"{message} and there is room", error_id="E-FILE-WRITE") from error


# It removes the folder when this process ends, however it ends.
REMOVE = 'trap "" HUP INT TERM USR1; read -r _; rm -rf -- "$1"'


class RunFolder:
    """Ranks make the file `started` when they have found each other, and `done` when one has nothing left to do but to
    end. They write lines to the pipe `words`: `failed` when one ends all of them, and `done`."""

    def __enter__(self) -> RunFolder:
        self.path = temporary_folder("kontor-run")
        os.mkfifo(f"{self.path}/words", 0o600)
        self.words = os.open(f"{self.path}/words", os.O_RDWR | os.O_NONBLOCK)
        self._remover = subprocess.Popen(["/bin/sh", "-c", REMOVE, "sh", self.path], stdin=subprocess.PIPE,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.words)
        self._remover.communicate()

    def read_words(self) -> list[str]:
        """Those that have come."""
        try:
            return os.read(self.words, 1 << 16).decode(errors="replace").split()
        except BlockingIOError:
            return []

    @property
    def ranks_have_started(self) -> bool:
        return Path(self.path, "started").exists()

    @property
    def a_rank_was_done(self) -> bool:
        return Path(self.path, "done").exists()
