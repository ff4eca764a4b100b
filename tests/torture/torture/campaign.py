# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes cases, several side by side, each in a folder of its own, until all are made or the time is over."""

import contextlib
import multiprocessing
import os
import queue
import shutil
import signal
import sys
import tempfile
import time
import traceback
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
    context = multiprocessing.get_context("fork")
    todo: multiprocessing.Queue[Case | None] = context.Queue(1)
    done: multiprocessing.Queue[dict[str, Any]] = context.Queue()
    crew = [context.Process(target=work, args=(todo, done, make, references, keep), daemon=False) for _ in range(workers)]
    for worker in crew:
        worker.start()
    end, given, ended = time.monotonic() + seconds, 0, 0

    def collect(wait: float) -> int:
        try:
            report(done.get(timeout=wait))
            return 1
        except queue.Empty:
            if not any(worker.is_alive() for worker in crew):
                raise SystemExit("kontor: torture: its own processes have died")
            return 0

    try:
        for case in cases:
            while given - ended >= workers:
                ended += collect(1)
            if time.monotonic() > end:
                break
            todo.put(case)
            given += 1
    except KeyboardInterrupt:
        print("kontor: torture: interrupted; the cases under way are ended", file=sys.stderr)
    while ended < given:
        ended += collect(1)
    for _ in crew:
        todo.put(None)
    for worker in crew:
        worker.join()


def next_of(todo: multiprocessing.Queue, parent: int) -> Case | None:
    """None also if the campaign has been killed."""
    while os.getppid() == parent:
        with contextlib.suppress(queue.Empty):
            return todo.get(timeout=1)
    return None


def work(todo: multiprocessing.Queue, done: multiprocessing.Queue, make: dict[str, Make], references: dict[str, Reference],
         keep: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a case is not left half-way
    parent = os.getppid()
    if not have_own_shm():
        print("kontor: torture: no mount namespace here: what is left in /dev/shm is not looked at", file=sys.stderr)
    typical: dict[int, float] = {}
    while (case := next_of(todo, parent)) is not None:
        place = Path(tempfile.mkdtemp(prefix="kontor-torture-"))
        try:
            outcome = make[case.kind](case, place, references.get(case.run.app), typical)
        except Exception:  # noqa: BLE001: a checker that fails is a finding, too
            outcome = Outcome(case)
            outcome.findings.append(f"checker: {traceback.format_exc()}")
        if outcome.findings and keep:
            outcome.seen["folder"] = str(place)
        else:
            shutil.rmtree(place, ignore_errors=True)
        done.put(case.as_dict() | {"told": case.told(), "findings": outcome.findings, "seen": outcome.seen})
