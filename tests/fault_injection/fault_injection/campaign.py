# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tests/fault_injection/run: makes cases, one a core side by side, each in a folder of its own, until all are made or the time
is over. Writes table.txt and cases.json to the folder fault-injection-SEED."""

import argparse
import dataclasses
import itertools
import json
import multiprocessing
import random
import signal
import statistics
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kontor.messages import said, say
from kontor.report.text import grouped

from . import draw
from .case import APPS, Case
from .check import Reference, make_reference
from .disturb import Outcome, make
from .launch import ROOT
from .mpirun import have_own_shm

DESCRIPTION = "Kills runs, lets their calls fail, or fills the disk, and checks what docs/guarantees.md promises."
EPILOG = "Exit codes: 0 nothing was found, 1 a check or an undisturbed run failed, 2 bad usage."
Entry = dict[str, Any]  # what became of a case


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("tests/fault_injection/run", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    add = parser.add_argument
    add("--minutes", type=float, default=30, metavar="N", help="begin no case after that (default: 30)")
    add("--cases", type=int, metavar="N", help="at most so many in all, of each class in turn")
    add("--seed", type=int, metavar="S", default=random.SystemRandom().randrange(2**31), help="of all that is random")
    add("--classes", nargs="+", choices=draw.CLASSES, default=draw.CLASSES, help="default: all")
    add("--case", type=int, metavar="NUMBER", help="one case again, with its --seed; its folder is kept")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    arguments = parse_arguments(words)
    with tempfile.TemporaryDirectory(prefix="kontor-faults-references-") as work, ThreadPoolExecutor() as pool:
        made = list(pool.map(lambda app: make_reference(app, Path(work, app.name)), APPS.values()))
    references = {reference.app.name: reference for reference in made}
    revision = said("git", "-C", str(ROOT), "describe", "--always", "--dirty").strip() or "unknown"
    head = f"fault injection, seed {arguments.seed}, revision {revision}"
    say(head)
    cases = draw.in_turn(arguments.classes, arguments.seed, references)
    begun = time.monotonic()
    Worker.references, Worker.end, Worker.keep = references, begun + 60 * arguments.minutes, arguments.case is not None
    if Worker.keep:
        cases = (case for case in cases if case.number == arguments.case)
    signal.signal(signal.SIGINT, Worker.interrupt)
    with multiprocessing.get_context("fork").Pool(initializer=Worker.begin) as crew:
        results = crew.imap_unordered(Worker.work, itertools.islice(cases, arguments.cases))
        entries = [entry for entry in results if entry]
    if Worker.keep:
        print(json.dumps(entries, indent=1))
    else:
        text = f"{head}, {len(entries)} cases in {time.monotonic() - begun:.0f} s\n{summary(entries)}"
        folder = Path(f"fault-injection-{arguments.seed}")
        folder.mkdir(exist_ok=True)
        (folder / "table.txt").write_text(text)
        (folder / "cases.json").write_text(json.dumps(entries, indent=1))
        print(text, end="")
    return 1 if any(entry["findings"] for entry in entries) else 0


class Worker:
    """A process of the campaign."""

    references: dict[str, Reference]
    end: float  # when no more cases begin
    keep: bool  # the folders

    @classmethod
    def begin(cls) -> None:
        if not have_own_shm():
            say("fault injection: no mount namespace here: /dev/shm is not checked")

    @classmethod
    def interrupt(cls, *_: object) -> None:
        cls.end = 0  # in each process: the cases under way are ended

    @classmethod
    def work(cls, case: Case) -> Entry | None:
        if time.monotonic() > cls.end:
            return None
        with tempfile.TemporaryDirectory(prefix="kontor-faults-", ignore_cleanup_errors=True) as name:
            place = Path(name + "-kept" * cls.keep)
            try:
                outcome = make(case, place, cls.references[case.run.app])
            except Exception:  # noqa: BLE001: a checker that fails is a finding, too
                outcome = Outcome()
                outcome.findings.append(f"checker: {traceback.format_exc()}")
        for finding in outcome.findings:
            say(f"fault injection: {case}\n  {finding}")
        return dataclasses.asdict(case) | {"findings": outcome.findings, "seen": outcome.seen, "folder": str(place)}


def summary(entries: list[Entry]) -> str:
    lines = ["class      cases  reached  places  findings  seconds to the end: median  largest"]
    for kind, members in sorted(grouped(entries, lambda entry: entry["kind"]).items()):
        reached = [entry for entry in members if entry["seen"].get("hit")]
        places = {(entry["what"]["call"], entry["what"]["site"]) for entry in reached if "site" in entry["what"]}
        failed = sum(bool(entry["findings"]) for entry in members)
        times = [entry["seen"]["seconds"] for entry in reached] or [0.0]
        lines.append(f"{kind:8}{len(members):8}{len(reached):9}{len(places):8}{failed:10}"
                     f"{statistics.median(times):28.2f}{max(times):9.2f}")
    outputs = Counter(entry["seen"].get("output", "unknown") for entry in entries)
    lines.append("output afterwards: " + ", ".join(f"{count} {output}" for output, count in sorted(outputs.items())))
    return "\n".join(lines) + "\n"
