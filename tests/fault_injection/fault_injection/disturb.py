# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a case: starts its run, disturbs it, checks its end and what it leaves, and makes the next run, which must
succeed. A fault is absorbed without any effect, or reported with an error id and exit code 1 to 3."""

import re
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from .case import RESTART, Case
from .check import Reference, check_folder, prepare
from .draw import leaves_shm
from .launch import ENOSPC, FAULTS, Started, preload
from .mpirun import Program, Result, empty_shm, left_in_shm, send, wait_until

LIMIT = 30.0  # seconds for a run
GONE = 10.0  # seconds for ranks to notice that their launcher has been killed
CRASH = re.compile(r"terminate called|Segmentation|Assertion|free\(\)|corrupted|Sanitizer:|: runtime error:|E-INTERNAL")
ERROR_ID = re.compile(r"\[E-[A-Z-]+\]")


class Outcome:
    def __init__(self) -> None:
        self.findings: list[str] = []
        self.seen: dict[str, Any] = {}

    def end(self, program: Program, result: Result, begun: float, may_leave_shm: bool = False) -> None:
        """How the run ended, and what it has left but files. `begun`: when it was disturbed."""
        self.seen |= {"command": program.command, "exit_code": result.code, "stderr": result.err[:2000]}
        if result.code is None and program.launcher_alone:  # not Kontor's: docs/guarantees.md
            self.seen["launcher_alone"] = program.hung
        elif result.code is None:
            self.findings.append(f"hang: it did not end in time, and was killed: {', '.join(program.hung)}")
            self.seen["stacks"] = program.stacks
        gone = wait_until(lambda: not program.processes(), GONE)
        self.seen["seconds"] = round(time.monotonic() - begun, 3)
        if not gone:
            self.findings.append(f"processes: left are {', '.join(f'{p.name} ({p.pid})' for p in program.processes())}")
            program.kill()
        if shm := [entry.name for entry in left_in_shm()]:
            if "launcher_alone" not in self.seen and not may_leave_shm:
                self.findings.append(f"shm: left in /dev/shm are {', '.join(shm)}")
            empty_shm()


def make(case: Case, place: Path, reference: Reference) -> Outcome:
    what, reached, outcome = case.what, place / "reached", Outcome()
    folder = prepare(reference, case.run, place)
    started = Started(case.run, folder, variables(what, folder, reached))
    if case.kind == "kill" and started.wait_for_pause(reached.with_suffix(f".{what['of']}")):
        strike(what, started)
    result = started.finish(LIMIT)
    marks = [mark.stat().st_mtime for mark in place.glob("reached.*")]
    begun = max(marks) - time.time() + time.monotonic() if marks else started.begun
    outcome.end(started, result, begun, leaves_shm(what))
    outcome.seen["hit"] = bool(marks) or "call" not in what
    judge(case, outcome, result.code, result.err + result.out, folder, reference)
    follow(case, outcome, folder, reference)
    return outcome


def variables(what: dict[str, Any], folder: Path, reached: Path) -> dict[str, str]:
    """What fails, for the ranks: tests/faults, output/tests/enospc.c. Where a call does, `reached`.RANK is made."""
    if "room" in what:
        ways = {"all": {}, "one": {"RANK": "0"}}
        library, texts = ENOSPC, {"AFTER": what["room"], "FILE": what["file"], **ways[what["way"]]}
    else:
        names = {"call": "CALL", "number": "NUMBER", "do": "DO", "site": "SITE", "of": "RANK"}
        library, texts = FAULTS, {"FOLDER": folder, "REACHED": reached, **{names[key]: what[key] for key in names}}
    return preload(library) | {f"KONTOR_FAULT_{name}": str(text) for name, text in texts.items()}


def strike(what: dict[str, Any], started: Started) -> None:
    processes = started.processes()
    ranks = {process.pid: f"rank {process.rank}" for process in processes if process.rank is not None}
    if what["to"] == "launcher":
        chosen = [started.process.pid]
    elif what["to"] == "all":
        chosen = [process.pid for process in processes]
    else:
        chosen = [pid for pid, rank in ranks.items() if what["to"] in ("ranks", rank)]
    for name in what["signal"].split(", "):
        for pid in chosen:
            send(pid, getattr(signal, f"SIG{name}"))
        if name == "STOP":
            time.sleep(0.05)
    for pid in ranks:
        send(pid, signal.SIGCONT)


def judge(case: Case, outcome: Outcome, code: int | None, said: str, folder: Path, reference: Reference) -> None:
    findings = outcome.findings
    state = check_folder(folder, reference, case.run, findings, complete=code == 0, told=said,
                         temporaries=code != 0 or case.kind in ("kill", "files"))
    outcome.seen["output"] = "absorbed" if code == 0 and case.kind != "kill" else state
    if CRASH.search(said):
        findings.append(f"crash: {said[:400]}")
    if code in (None, 0):
        return
    if case.kind == "kill":
        if code == 4 and state not in ("new", "ended early"):
            findings.append(f"exit code: 4, but plate.h5 is {state}")
        if code == 4 and case.run.has("checkpoint.") and not any(folder.glob("plate-checkpoint-*.h5")):
            findings.append("exit code: 4, but there is no checkpoint")
        return  # mpirun has codes of its own for signals
    if code not in (1, 2, 3):
        findings.append(f"exit code: {code}; 1 to 3 are documented: {said[:300]}")
    if not ERROR_ID.search(said):
        findings.append(f"words: no error id in: {said[:300]}")


def follow(case: Case, outcome: Outcome, folder: Path, reference: Reference) -> None:
    """The next run of these names must do everything, and remove what the one before has left."""
    restart = (RESTART,) * any(folder.glob("plate-checkpoint-*.h5"))
    result = Started(replace(case.then, overrides=(*case.then.overrides, *restart)), folder).finish(60)
    found = []
    if result.code != 0:
        found.append(f"exit code {result.code}: {(result.err or result.out).strip()[:300]}")
    else:
        check_folder(folder, reference, case.then, found, True, False, str(outcome.seen.get("stderr", "")))
        found += [f"/dev/shm has {entry.name}" for entry in left_in_shm()]
        empty_shm()
    outcome.findings += [f"next run: {finding}" for finding in found]
