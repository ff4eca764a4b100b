# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder in which ranks make empty files: `started` when they have found each other, `done` when one has nothing
left to do but to end, `failed` when one ends all of them. A launcher may wait for a host that has vanished, or for
itself, as Open MPI's (4.1.4) may when a rank is killed in MPI_Finalize."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..messages import Failure


def temporary_folder(name: str) -> Path:
    parent = os.environ.get("TMPDIR") or "/tmp"
    try:
        return Path(tempfile.mkdtemp(prefix=f"{name}.", dir=parent))
    except OSError as error:
        message = f"no folder can be made in {parent}; let TMPDIR name one that is there, where you may write"
        raise Failure(f"{message} and there is room", error_id="E-FILE-WRITE") from error


@contextmanager
def run_folder() -> Iterator[Path]:
    folder = temporary_folder("kontor-run")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
