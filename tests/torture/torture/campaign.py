# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes cases, several side by side, each in a folder of its own, until all are made or the time is over; and a table
of what it has found."""

import dataclasses
import multiprocessing
import os
import shutil
import signal
import statistics
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Callable, Iterator

from kontor.messages import say
from kontor.report.text import grouped

from .case import Case
from .check import Outcome
from .mpirun import have_own_shm
from .reference import Reference

Entry = dict[str, Any]  # what became of a case
Place = tuple[object, object]  # the function, and where it is called
Make = Callable[[Case, Path, Reference | None, dict[int, float]], Outcome]  # cases without a run have no reference


def run_all(cases: Iterator[Case], make: dict[str, Make], references: dict[str, Reference], workers: int, seconds: float,
            report: Callable[[Entry], None], keep: bool) -> None:
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
            say("torture: interrupted; the cases under way are ended")
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
            say("torture: no mount namespace here: what is left in /dev/shm is not looked at")

    @classmethod
    def work(cls, case: Case) -> Entry:
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
        return dataclasses.asdict(case) | {"told": case.told(), "findings": outcome.findings, "seen": outcome.seen}


def summary(entries: list[Entry], known: dict[str, set[Place]]) -> str:
    """`known`: the places of each class."""
    lines = [f"{'class':<10}{'what':<34}{'cases':>8}{'reached':>9}{'findings':>10}{'to the end, s: median':>23}{'largest':>9}"]
    for (kind, what), members in sorted(grouped(entries, lambda entry: (entry["kind"], group_of(entry))).items()):
        lines.append(line(kind, what, members))
    lines.append(line("all", "", entries))
    outcomes = Counter(entry["seen"].get("output", "") for entry in entries)
    if any(outcomes):
        lines.append("output afterwards: " + ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()) if name))
    hit = {kind: places_hit(entries, kind) for kind in sorted(known)}
    if any(hit.values()):
        lines.append("places hit: " + ", ".join(f"{len(hit[kind])} of {len(known[kind])} {kind}" for kind in hit if known[kind]))
    if inputs := sum(entry["seen"].get("inputs", 0) for entry in entries):
        lines.append(f"inputs read: {inputs}")
    if alone := sum("launcher_alone" in entry["seen"] for entry in entries):
        lines.append(f"launchers that did not end after all of their ranks, and were killed: {alone}")
    checks = Counter(finding.partition(":")[0] for entry in entries for finding in entry["findings"])
    if checks:
        lines.append("findings: " + ", ".join(f"{count} {name}" for name, count in sorted(checks.items())))
    return "\n".join(lines)


def not_hit(entries: list[Entry], known: dict[str, set[Place]]) -> str:
    """A line for each place at which nothing has failed."""
    left = ((kind, *place) for kind in sorted(known) for place in sorted(known[kind] - places_hit(entries, kind), key=str))
    return "".join(f"not hit: {kind}, {call} in {where}\n" for kind, call, where in left)


def places_hit(entries: list[Entry], kind: str) -> set[Place]:
    """Those at which something has failed: a run may end before it comes to one."""
    return {(entry["what"]["call"], entry["what"]["in"]) for entry in entries
            if entry["kind"] == kind and "in" in entry["what"] and entry["seen"].get("hit")}


def line(kind: str, what: str, members: list[Entry]) -> str:
    reached = [entry for entry in members if entry["seen"].get("hit")]
    failed = sum(bool(entry["findings"]) for entry in members)
    times = [entry["seen"]["seconds_until_gone"] for entry in reached if "seconds_until_gone" in entry["seen"]]
    median, largest = (f"{statistics.median(times):.2f}", f"{max(times):.2f}") if times else ("-", "-")
    return f"{kind:<10}{what:<34}{len(members):>8}{len(reached):>9}{failed:>10}{median:>23}{largest:>9}"


def group_of(entry: Entry) -> str:
    what = entry["what"]
    if entry["kind"] == "kill":
        return f"{what['signal']} to {what['to'].split()[0]}"
    return str(what.get("call", what.get("way", what.get("of", ""))))
