# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exits with 0 if a process may read a sibling's memory (process_vm_readv), as Open MPI's ranks do."""

import ctypes
import os
import signal
import sys

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_PTRACER, ANY_PROCESS = 0x59616D61, ctypes.c_ulong(-1)


def reads(pid: int, target: ctypes.Array[ctypes.c_char]) -> bool:
    size = len(target)
    buffers = ctypes.create_string_buffer(size), target
    local, remote = ((ctypes.c_size_t * 2)(ctypes.addressof(buffer), size) for buffer in buffers)  # struct iovec
    return bool(libc.process_vm_readv(pid, local, 1, remote, 1, 0) == size)


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
        os._exit(0 if reads(owner, message) else 1)
    status = os.waitpid(reader, 0)[1]
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
