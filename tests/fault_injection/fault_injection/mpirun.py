# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of a test: their processes, by a mark in the environment, and their end, which has a limit; faults that are
preloaded into their ranks; and a /dev/shm of one's own, by a mount namespace."""

import contextlib
import ctypes
import functools
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "python"))

from kontor.place import Place  # noqa: E402

BUILD = Place.here().build
FAULTS = BUILD / "tests/faults/libkontor_faults.so"
ENOSPC = BUILD / "output/tests/libkontor_enospc.so"
MPIEXEC = os.environ.get("KONTOR_MPIEXEC", "mpirun")

# As KONTOR_MPI_ENVIRONMENT in cmake/KontorTargets.cmake: more ranks than cores must work.
TOLD = subprocess.check_output([sys.executable, ROOT / "tests/mpi_environment.py", MPIEXEC], text=True).splitlines()
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"} | dict(line.split("=", 1) for line in TOLD)

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
SHM = Path("/dev/shm")
_own = False  # until then nothing here touches /dev/shm, which is everybody's


@functools.cache
def sanitizers():
    """The library of AddressSanitizer, if the build has it."""
    told = subprocess.run(["ldd", BUILD / "bin/heat"], capture_output=True, text=True, check=False).stdout
    return tuple(re.findall(r"libasan\S* => (\S+)", told))


def preload(library):
    """Variables with what is preloaded anyway, after a sanitizer. What a run that fails has not freed is no leak."""
    found = {"LD_PRELOAD": ":".join([*sanitizers(), str(library), *filter(None, [os.environ.get("LD_PRELOAD")])])}
    return found | ({"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"} if sanitizers() else {})


def own_lines(text):
    """Without what Open MPI says of its own accord: from version 5 on it cannot be told to be quiet."""
    text = re.sub(r"-{70,}\n+(prterun|mpirun) (.*\n)*?-{70,}\n", "", text)
    own = re.compile(r"\[warn\] Epoll |mca_|\[[^]]*\] PMIX ERROR: PMIX_ERR_UNREACH ")
    return "".join(line for line in text.splitlines(keepends=True) if not own.match(line))


class Process(NamedTuple):
    pid: int
    rank: int | None  # of MPI_COMM_WORLD, as Open MPI and MPICH tell it
    name: str


def marked(mark):
    """Those alive that have `mark`, "NAME=value", among their variables."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            variables = (entry / "environ").read_bytes()
            if mark.encode() in variables:
                rank = re.search(rb"(?:^|\0)(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)", variables)
                name = (entry / "comm").read_text().strip()
                found.append(Process(int(entry.name), int(rank[1]) if rank else None, name))
    return found


def state_of(pid):
    """The kernel's letter, and where the process waits in the kernel; empty: it is not there."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return f"{state} {Path(f'/proc/{pid}/wchan').read_text()}"
    return ""


def wait_until(condition, limit):
    """Whether it came true within so many seconds."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def send(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class Result(NamedTuple):
    code: int | None  # None: it had not ended in time; -N: by signal N
    out: str
    err: str

    def __str__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}---"


class Program:
    """A program that runs in a folder, and what it starts."""

    own_session = True  # signals of the terminal do not reach it

    def __init__(self, command, folder, variables):
        self.mark = f"KONTOR_TEST_RUN={uuid.uuid4()}"
        words = list(map(str, command))
        self.command = " ".join(words)
        self.hung = []  # what its processes did when it did not end
        self.launcher_alone = False  # was what did not end, of mpirun
        # Files, because nobody reads a pipe while the program is paused.
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
            start_new_session=self.own_session,
            env={**os.environ, **ENVIRONMENT, **variables, **dict([self.mark.split("=")])},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test in the background ignores it
        )

    def finish(self, limit):
        """Its exit code None: it has not ended within `limit` seconds, and was killed."""
        try:
            code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        if code is None:
            left = self.processes()
            self.hung = [f"{process.name} ({process.rank}): {state_of(process.pid)}" for process in left]
            self.launcher_alone = [process.name for process in left] == ["mpirun"]
            self.kill()
            self.process.wait()
        texts = []
        for file in self.out, self.err:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        return Result(code, texts[0], own_lines(texts[1]))

    def processes(self):
        return marked(self.mark)

    def kill(self):
        for process in self.processes():
            send(process.pid, signal.SIGKILL)


def have_own_shm():
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


def take_from_shm():
    """Removes what is left in one's own, and gives the names."""
    found = sorted(SHM.iterdir()) if _own else []
    for entry in found:
        entry.unlink(missing_ok=True)
    return [entry.name for entry in found]
