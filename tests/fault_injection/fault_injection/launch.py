# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts an app on its ranks, in a folder of its own, with faults."""

import functools
import os
import re
from pathlib import Path

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
    """With what is preloaded anyway, after a sanitizer. What a run that fails has not freed is no leak."""
    found = {"LD_PRELOAD": ":".join([*sanitizers(), str(library), *filter(None, [os.environ.get("LD_PRELOAD")])])}
    return found | ({"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"} if sanitizers() else {})


class Started(Program):
    """A run of an app. `variables` are those of the ranks, not of the launcher."""

    def __init__(self, run: Run, folder: Path, variables: dict[str, str] | None = None):
        set_ = [override if override.startswith("--") else f"--set={override}" for override in run.overrides]
        arguments = ["deck.yaml", *set_, "-o", "plate.h5", "--results", "plate.json", "--quiet"]
        words = [f"{key}={text}" for key, text in (variables or {}).items()]
        program: list[object] = [MPIEXEC, "-n", run.ranks, "env", *words, BUILD / "bin" / run.app, *arguments]
        if run.by_kontor:  # the ranks' variables are those of all: nothing is preloaded there
            program = [ROOT / "scripts/kontor", "run", *arguments, "-n", run.ranks]
        tmp = folder.parent / "tmp"
        tmp.mkdir(exist_ok=True)
        super().__init__(program, folder, {**OWN, "TMPDIR": str(tmp)})

    def wait_for_pause(self, reached: Path) -> bool:
        """Whether a rank has come to its call, and has stopped there."""
        def stopped() -> bool:
            return reached.exists() and any(state_of(process.pid).startswith("T") for process in self.processes())

        return wait_until(lambda: self.process.poll() is not None or stopped(), 60) and self.process.poll() is None
