# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What killed runs and studies have left in a folder: locks that nobody holds, the temporaries that they name, and the study's own."""

import fcntl
import os
import re
from pathlib import Path

MARK = "kontor: "  # what a lock of a file's name begins with: output/src/name_lock.cpp
OWN = re.compile(r"study\.(json|yaml|csv|h5)\.\d+\.[0-9a-f]+\.tmp")


def remove_left(folder: Path, own: bool) -> None:
    """`own`: the study's temporaries, too; only for who holds the folder's lock."""
    for lock in (folder / "runs").glob(".*.kontor-lock"):
        try:
            _remove_dead(lock)
        except OSError:
            pass  # held, or on a file system without locks, where nobody can tell
    for path in folder.glob("study.*.tmp") if own else []:
        if OWN.fullmatch(path.name):
            path.unlink(missing_ok=True)


def _remove_dead(lock: Path) -> None:
    file = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        holder, *names = os.pread(file, 1 << 16, 0).decode("utf-8", "surrogateescape").split("\n")
        if holder and not holder.startswith(MARK):
            return
        target = lock.name.removeprefix(".").removesuffix(".kontor-lock")
        for name in names:
            if re.fullmatch(re.escape(target) + r"\.[0-9a-f]{8}\.tmp", name) and not (lock.parent / name).is_symlink():
                (lock.parent / name).unlink(missing_ok=True)
        lock.unlink()
    finally:
        os.close(file)
