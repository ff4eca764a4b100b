# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A /dev/shm of one's own, by a mount namespace: what a run leaves there is then its own and no other program's."""

import contextlib
import ctypes
import os
from pathlib import Path
from typing import Iterator

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x1, 0x20, 0x1000, 0x4000, 0x40000, 2
SHM = Path("/dev/shm")
_own = False  # until then nothing here touches /dev/shm, which is everybody's


def have_own_shm() -> bool:
    """For this process and its children, from now on. False where it may not be."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNS) != 0:
        if libc.unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0:
            return False
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    if libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        return False
    global _own
    _own = libc.mount(b"tmpfs", str(SHM).encode(), b"tmpfs", 0, b"size=1g") == 0
    return _own


def left_in_shm() -> list[Path]:
    return sorted(SHM.iterdir()) if _own else []


def empty_shm() -> None:
    for entry in left_in_shm():
        entry.unlink(missing_ok=True)


@contextlib.contextmanager
def read_only(folder: Path, wanted: bool) -> Iterator[None]:
    """The folder cannot be written by anyone meanwhile, root included."""
    if not wanted:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    path = str(folder).encode()
    if libc.mount(path, path, None, MS_BIND, None) != 0 or libc.mount(b"none", path, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None) != 0:
        raise OSError(ctypes.get_errno(), f"{folder} cannot be mounted to be read only")
    try:
        yield
    finally:
        libc.umount2(path, MNT_DETACH)
