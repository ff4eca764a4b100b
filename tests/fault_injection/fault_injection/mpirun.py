# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of a test: their processes, by a mark in the environment, and their end, which is never waited for without
limit. And a /dev/shm of one's own, by a mount namespace."""

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Callable, Mapping, NamedTuple, Sequence

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
SHM = Path("/dev/shm")
_own = False  # until then nothing here touches /dev/shm, which is everybody's
MPIEXEC = os.environ.get("KONTOR_MPIEXEC", "mpirun")
MPI = Path(__file__).resolve().parents[3] / "tests/mpi_environment.py"

# As KONTOR_MPI_ENVIRONMENT in cmake/KontorTargets.cmake: more ranks than cores must work.
TOLD = subprocess.check_output([sys.executable, MPI, MPIEXEC], text=True).splitlines()
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"} | dict(line.split("=", 1) for line in TOLD)


def own_lines(text: str) -> str:
    """Without what Open MPI says of its own accord: version 5 cannot be told to be quiet."""
    text = re.sub(r"-{70,}\n(prterun|mpirun) (.*\n)*?-{70,}\n", "", text)
    own = re.compile(r"\[warn\] Epoll |mca_|\[[^]]*\] PMIX ERROR: PMIX_ERR_UNREACH ")
    return "".join(line for line in text.splitlines(keepends=True) if not own.match(line))


class Process(NamedTuple):
    pid: int
    rank: int | None  # of MPI_COMM_WORLD, as Open MPI and MPICH tell it
    name: str


def marked(mark: str) -> list[Process]:
    """Those alive that have `mark`, "NAME=value", among their variables."""
    wanted = mark.encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            variables = (entry / "environ").read_bytes()
            if wanted in variables:
                name = (entry / "comm").read_text().strip()
                found.append(Process(int(entry.name), rank_of(variables), name))
    return found


def rank_of(variables: bytes) -> int | None:
    found = re.search(rb"(?:^|\0)(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)", variables)
    return int(found[1]) if found else None


def state_of(pid: int) -> str:
    """The kernel's letter, and where the process waits in the kernel; empty: it is not there."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return f"{state} {Path(f'/proc/{pid}/wchan').read_text()}"
    return ""


def stack_of(pid: int) -> list[str]:
    """The frames of all its threads, if there is gdb, and it may look."""
    try:
        told = subprocess.run(["gdb", "-nx", "-batch", "-p", str(pid), "-ex", "thread apply all backtrace 60"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line for line in told.splitlines() if line.startswith(("Thread ", "#"))]


def wait_until(condition: Callable[[], bool], limit: float) -> bool:
    """Whether it came true within so many seconds."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class Result(NamedTuple):
    code: int | None  # None: it had not ended in time; -N: by signal N
    out: str
    err: str
    seconds: float

    def __str__(self) -> str:
        return f"exit code {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}---"


class Program:
    """A program that runs in a folder, and what it starts."""

    own_session = True  # signals of the terminal do not reach it

    def __init__(self, command: Sequence[object], folder: Path, variables: Mapping[str, str]):
        self.mark = f"KONTOR_TEST_RUN={uuid.uuid4()}"
        words = list(map(str, command))
        self.command = " ".join(words)
        self.hung: list[str] = []  # what its processes did when it did not end
        self.stacks: dict[str, list[str]] = {}  # where they were
        self.launcher_alone = False  # was what did not end, of mpirun
        self.begun = time.monotonic()
        # Files, because nobody reads a pipe while the program is paused.
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
            start_new_session=self.own_session,
            env={**os.environ, **ENVIRONMENT, **variables, **dict([self.mark.split("=")])},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test in the background ignores it
        )

    def finish(self, limit: float) -> Result:
        """Its exit code None: it has not ended within `limit` seconds, and was killed."""
        try:
            code: int | None = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        seconds = time.monotonic() - self.begun
        if code is None:
            left = self.processes()
            self.hung = [f"{process.name} ({process.rank}): {state_of(process.pid)}" for process in left]
            self.stacks = {f"{p.name} ({p.rank})": stack_of(p.pid) for p in left if p.rank is not None}
            self.launcher_alone = [process.name for process in left] == ["mpirun"]
            self.kill()
            self.process.wait()
        texts = []
        for file in self.out, self.err:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        return Result(code, texts[0], own_lines(texts[1]), seconds)

    def processes(self) -> list[Process]:
        return marked(self.mark)

    def kill(self) -> None:
        for process in self.processes():
            send(process.pid, signal.SIGKILL)


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
