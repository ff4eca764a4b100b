# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exits with 0 if a process may read a sibling's memory (process_vm_readv), as Open MPI's ranks do."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_PTRACER, ANY_PROCESS = 0x59616D61, ctypes.c_ulong(-1)


class IoVec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def reads(pid: int, target: ctypes.Array[ctypes.c_char], size: int) -> bool:
    copy = ctypes.create_string_buffer(size)
    local = IoVec(ctypes.cast(copy, ctypes.c_void_p), size)
    remote = IoVec(ctypes.cast(target, ctypes.c_void_p), size)
    return bool(libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) == size)


def main() -> int:
    if not hasattr(libc, "process_vm_readv"):
        return 1
    message = ctypes.create_string_buffer(b"a rank's buffer")
    ready, tell = os.pipe()
    owner = os.fork()
    if owner == 0:
        libc.prctl(PR_SET_PTRACER, ANY_PROCESS, 0, 0, 0)  # what Open MPI does
        signal.alarm(5)  # should the parent not come back
        os.write(tell, b"x")
        signal.pause()
    os.read(ready, 1)
    reader = os.fork()
    if reader == 0:
        os._exit(0 if reads(owner, message, len(message)) else 1)
    status = os.waitpid(reader, 0)[1]
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
