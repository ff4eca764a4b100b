# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts an app on its ranks, in a folder of its own, with faults."""

import functools
import os
import re
from pathlib import Path
from typing import Any, Callable

from kontor.messages import said
from kontor.place import Place

from .case import Run
from .mpirun import MPIEXEC, Program, state_of, wait_until

ROOT = Path(__file__).resolve().parents[3]
BUILD = Place.here().build
FAULTS = BUILD / "tests/faults/libkontor_faults.so"
ENOSPC = BUILD / "output/tests/libkontor_enospc.so"
OWN = {"KONTOR_BUILT": "1", "KONTOR_BUILD_DIR": str(BUILD), "KONTOR_END_SECONDS": "5", "KONTOR_FINISH_SECONDS": "10",
       "KONTOR_START_SECONDS": "10"}


@functools.cache
def sanitizers() -> tuple[str, ...]:
    """The library of AddressSanitizer, if the build has it."""
    return tuple(re.findall(r"libasan\S* => (\S+)", said("ldd", str(BUILD / "bin/heat"))))


def preload(library: Path) -> dict[str, str]:
    """With what is preloaded anyway. A sanitizer wants to be the first library itself. What a run that fails has not freed is no leak."""
    found = {"LD_PRELOAD": ":".join([*sanitizers(), str(library), *filter(None, [os.environ.get("LD_PRELOAD")])])}
    return found | ({"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"} if sanitizers() else {})


def fault_variables(what: dict[str, Any], do: str, folder: Path, reached: Path) -> dict[str, str]:
    """For the ranks: what tests/faults does at which call; where it does so, a file `reached`.RANK is made."""
    found = {**preload(FAULTS), "KONTOR_FAULT_CALL": what["call"], "KONTOR_FAULT_NUMBER": str(what.get("number", 1)),
             "KONTOR_FAULT_DO": do, "KONTOR_FAULT_FOLDER": str(folder), "KONTOR_FAULT_REACHED": str(reached)}
    names = {"site": "SITE", "of": "RANK", "repeat": "REPEAT", "jump": "JUMP"}
    return found | {f"KONTOR_FAULT_{name}": str(what[key]) for key, name in names.items() if key in what}


class Started(Program):
    """A run of an app. `variables` are those of the ranks, not of the launcher; so is `before`, words that start it."""

    def __init__(self, run: Run, folder: Path, arguments: list[str], variables: dict[str, str] | None = None,
                 before: tuple[str, ...] = ()):
        words = [f"{key}={text}" for key, text in (variables or {}).items()]
        program = ["env", *words, *before, str(BUILD / "bin" / run.app), "deck.yaml", *run.words(), *arguments]
        if run.launcher == "mpirun":
            program = [MPIEXEC, "-n", str(run.ranks), *program]
        elif run.launcher == "kontor":  # the ranks' variables are those of all: nothing is preloaded there
            program = [str(ROOT / "scripts/kontor"), "run", "deck.yaml", "-n", str(run.ranks), *run.words(), *arguments]
        tmp = folder.parent / "tmp"
        tmp.mkdir(exist_ok=True)
        super().__init__(program, folder, {**OWN, "TMPDIR": str(tmp)})

    def wait_until(self, condition: Callable[[], bool], limit: float) -> bool:
        """Whether it came true before the program's end, or the limit."""
        return wait_until(lambda: condition() or self.process.poll() is not None, limit) and condition()

    def wait_for_pause(self, reached: Path, rank: object) -> bool:
        """Whether the rank has come to its call, and has stopped there."""
        file = reached.with_name(f"{reached.name}.{rank}")
        return self.wait_until(file.exists, 60) and self.wait_until(lambda: any(state_of(p.pid).startswith("T") for p in self.processes()), 5)
