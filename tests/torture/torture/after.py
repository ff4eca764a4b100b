# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What became of a case: how it ended, what it has left, and the run after it."""

import re
import time
from pathlib import Path
from typing import Any

from .case import Case
from .check import check_complete
from .launch import Result, Started
from .own_shm import empty_shm, left_in_shm
from .reference import ARGUMENTS, Reference

GONE = 10.0  # seconds for ranks to notice that their launcher has been killed
REMARKS = (": backend ", " share one GPU")  # such as on NCCL's version; of ranks that wait for each other
SANITIZER = re.compile(r"\S+Sanitizer:|\S+: runtime error:")


class Outcome:
    def __init__(self, case: Case):
        self.case = case
        self.findings: list[str] = []
        self.seen: dict[str, Any] = {}

    def end(self, started: Started, result: Result, begun: float, leaves_shm: bool = False) -> None:
        """Notes how the run ended, and finds what it has left but files. `begun`: when it was struck. `leaves_shm`: what is
        left in /dev/shm is for the next run to remove."""
        self.seen |= {"command": started.command, "exit_code": result.code, "stderr": result.err[:2000]}
        if found := SANITIZER.search(result.err):
            self.findings.append(f"sanitizer: {result.err[found.start():][:2000]}")
        self.seen["seconds_to_end"] = round(time.monotonic() - begun, 3)
        if result.code is None and started.launcher_alone:  # not Kontor's: docs/guarantees.md
            self.seen["launcher_alone"] = started.hung
        elif result.code is None:
            self.findings.append(f"hang: it did not end in time, and was killed; its processes: {', '.join(started.hung)}")
            self.seen["stacks"] = started.stacks
        end = time.monotonic() + GONE
        left = started.processes()
        while left and time.monotonic() < end:
            time.sleep(0.02)
            left = started.processes()
        self.seen["seconds_until_gone"] = round(time.monotonic() - begun, 3)
        if left:
            self.findings.append(f"processes: left are {', '.join(f'{p.name} ({p.pid})' for p in left)}")
            started.kill()
        shm = [entry.name for entry in left_in_shm()]
        self.seen["shm"] = shm
        if shm and not leaves_shm and "launcher_alone" in self.seen:
            empty_shm()
        elif shm and not leaves_shm:
            self.findings.append(f"shm: left in /dev/shm are {', '.join(shm)}")
            empty_shm()


def follow(case: Case, folder: Path, reference: Reference, outcome: Outcome, typical: dict[int, float]) -> None:
    """The next run of these names must do everything, and reclaim what the one before has left."""
    checkpoints = sorted(folder.glob("plate-checkpoint-*.h5"))
    outcome.seen["checkpoints"] = len(checkpoints)
    restart = ["--set", "restart=plate-checkpoint.h5"] if checkpoints else []
    started = Started(case.then, folder, [*ARGUMENTS, *restart])
    result = started.finish(60)
    if case.then.launcher == "mpirun":
        typical[case.then.ranks] = result.seconds
    if result.code != 0:
        outcome.findings.append(f"next run: exit code {result.code}: {result.err.strip()[:300]}")
        return
    check_complete(folder, reference, outcome.findings, "next run", case.then, told=str(outcome.seen.get("stderr", "")))
    said = [line for line in result.err.splitlines() if not any(remark in line for remark in REMARKS)]
    if restart and said:
        outcome.findings.append(f"restart: it says: {' '.join(said)[:300]}")
    for entry in left_in_shm():
        outcome.findings.append(f"next run: /dev/shm has {entry.name}")
    empty_shm()
