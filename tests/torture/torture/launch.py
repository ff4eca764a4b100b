# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts a program on its ranks, in a folder and with a mark of its own, and waits for its end, but never for ever."""

import contextlib
import functools
import os
import re
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any, Callable, NamedTuple

from kontor.place import Place

from .case import Run
from .mpirun import ENVIRONMENT, MPIEXEC, Process, marked, own_lines, stack_of, state_of

ROOT = Path(__file__).resolve().parents[3]
BUILD = Place.here().build
FAULTS = BUILD / "tests/faults/libkontor_faults.so"
ENOSPC = BUILD / "output/tests/libkontor_enospc.so"
OWN = {**ENVIRONMENT, "KONTOR_BUILT": "1", "KONTOR_BUILD_DIR": str(BUILD), "KONTOR_END_SECONDS": "5", "KONTOR_FINISH_SECONDS": "10",
       "KONTOR_START_SECONDS": "10"}


@functools.cache
def sanitizers() -> tuple[str, ...]:
    """The library of AddressSanitizer, if the build has it."""
    listed = subprocess.run(["ldd", BUILD / "bin/heat"], capture_output=True, text=True).stdout
    return tuple(re.findall(r"libasan\S* => (\S+)", listed))


def preload(library: Path) -> dict[str, str]:
    """A sanitizer wants to be the first library itself. What a run that fails has not freed is no leak."""
    found = {"LD_PRELOAD": ":".join([*sanitizers(), str(library)])}
    return found | ({"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"} if sanitizers() else {})


def fault_variables(what: dict[str, Any], do: str, folder: Path, reached: Path) -> dict[str, str]:
    """For the ranks: what tests/faults does at which call; where it does so, a file `reached`.RANK is made."""
    found = {**preload(FAULTS), "KONTOR_FAULT_CALL": what["call"], "KONTOR_FAULT_NUMBER": str(what.get("number", 1)),
             "KONTOR_FAULT_DO": do, "KONTOR_FAULT_FOLDER": str(folder), "KONTOR_FAULT_REACHED": str(reached)}
    names = {"site": "SITE", "of": "RANK", "repeat": "REPEAT", "jump": "JUMP"}
    return found | {f"KONTOR_FAULT_{name}": str(what[key]) for key, name in names.items() if key in what}


class Result(NamedTuple):
    code: int | None  # None: it had not ended in time; -N: by signal N
    out: str
    err: str
    seconds: float


class Started:
    """A program that runs. `variables` are those of the ranks, not of the launcher; so is `before`, words that start it."""

    def __init__(self, run: Run, folder: Path, arguments: list[str], variables: dict[str, str] | None = None,
                 before: tuple[str, ...] = ()):
        self.mark = f"KONTOR_TORTURE={uuid.uuid4()}"
        name, value = self.mark.split("=")
        words = [f"{key}={text}" for key, text in (variables or {}).items()]
        program = ["env", *words, *before, str(BUILD / "bin" / run.app), "deck.yaml", *run.words(), *arguments]
        if run.launcher == "mpirun":
            program = [MPIEXEC, "-n", str(run.ranks), *program]
        elif run.launcher == "kontor":  # the ranks' variables are those of all: nothing is preloaded there
            program = [str(ROOT / "scripts/kontor"), "run", "deck.yaml", "-n", str(run.ranks), *run.words(), *arguments]
        tmp = folder.parent / "tmp"
        tmp.mkdir(exist_ok=True)
        self.command = " ".join(program)
        self.hung: list[str] = []  # what its processes did when it did not end
        self.stacks: dict[str, list[str]] = {}  # where they were
        self.launcher_alone = False  # was what did not end, of mpirun
        self.begun = time.monotonic()
        # Into files, because nobody reads a pipe while the run is paused.
        self.out, self.err = folder.parent / "stdout", folder.parent / "stderr"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                program, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                env={**os.environ, **OWN, "TMPDIR": str(tmp), name: value},
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # the campaign ignores it
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
            self.stacks = {f"{process.name} ({process.rank})": stack_of(process.pid) for process in left if process.rank is not None}
            self.launcher_alone = [process.name for process in left] == ["mpirun"]
            self.kill()
            self.process.wait()
        texts = [path.read_bytes().decode(errors="replace") for path in (self.out, self.err)]
        return Result(code, texts[0], own_lines(texts[1]), seconds)

    def processes(self) -> list[Process]:
        return marked(self.mark)

    def kill(self) -> None:
        for process in self.processes():
            send(process.pid, signal.SIGKILL)

    def wait_until(self, condition: Callable[[], bool], limit: float) -> bool:
        """Whether it came true before the program's end, or the limit."""
        end = time.monotonic() + limit
        while not condition():
            if self.process.poll() is not None or time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def wait_for_pause(self, reached: Path, rank: object) -> bool:
        """Whether the rank has come to its call, and has stopped there."""
        file = reached.with_name(f"{reached.name}.{rank}")
        return self.wait_until(file.exists, 60) and self.wait_until(lambda: any(state_of(p.pid).startswith("T") for p in self.processes()), 5)


def send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
