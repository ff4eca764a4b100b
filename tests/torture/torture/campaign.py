# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes cases, several side by side, each in a folder of its own, until all are made or the time is over."""

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Callable, Iterator

from .after import Outcome
from .case import Case
from .own_shm import have_own_shm
from .reference import Reference

Make = Callable[[Case, Path, Reference | None, dict[int, float]], Outcome]  # cases without a run have no reference


def run_all(cases: Iterator[Case], make: dict[str, Make], references: dict[str, Reference], workers: int, seconds: float,
            report: Callable[[dict[str, Any]], None], keep: bool) -> None:
    """Calls report(...) with what became of each case, as they end."""
    end = time.monotonic() + seconds
    running: set[Any] = set()
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), Worker.begin, (make, references, keep)) as crew:
        try:
            for case in cases:
                while len(running) >= workers:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        report(future.result())
                if time.monotonic() > end:
                    break
                running.add(crew.submit(Worker.work, case))
        except KeyboardInterrupt:
            print("kontor: torture: interrupted; the cases under way are ended", file=sys.stderr)
        except BrokenProcessPool:
            raise SystemExit("kontor: torture: its own processes have died") from None
        for future in as_completed(running):
            report(future.result())


class Worker:
    """What a process of the crew has."""

    parent: int
    make: dict[str, Make]
    references: dict[str, Reference]
    keep: bool
    typical: dict[int, float] = {}  # seconds that runs take here, by their ranks

    @classmethod
    def begin(cls, make: dict[str, Make], references: dict[str, Reference], keep: bool) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a case is not left half-way
        cls.parent = os.getppid()
        cls.make, cls.references, cls.keep = make, references, keep
        if not have_own_shm():
            print("kontor: torture: no mount namespace here: what is left in /dev/shm is not looked at", file=sys.stderr)

    @classmethod
    def work(cls, case: Case) -> dict[str, Any]:
        place = Path(tempfile.mkdtemp(prefix="kontor-torture-"))
        try:
            outcome = cls.make[case.kind](case, place, cls.references.get(case.run.app), cls.typical)
        except Exception:  # noqa: BLE001: a checker that fails is a finding, too
            outcome = Outcome(case)
            outcome.findings.append(f"checker: {traceback.format_exc()}")
        if outcome.findings and (cls.keep or case.kind == "input"):
            outcome.seen["folder"] = str(place)
        else:
            shutil.rmtree(place, ignore_errors=True)
        if os.getppid() != cls.parent:
            os._exit(1)  # the campaign has been killed
        return case.as_dict() | {"told": case.told(), "findings": outcome.findings, "seen": outcome.seen}
