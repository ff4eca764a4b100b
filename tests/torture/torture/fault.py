# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults: calls that fail on one rank, memory that ends, clocks that jump, folders that vanish. Each is either absorbed,
and then everything is as it would have been, or told in words, with the documented exit code, by all ranks in time."""

import errno
import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Callable

from .case import Case
from .check import Outcome, check_complete, check_ended, follow
from .launch import Started, fault_variables
from .mpirun import read_only, send
from .reference import ARGUMENTS, Reference, prepare

LIMIT = 30.0
UNWORDED = re.compile(r"terminate called|Segmentation|Signal: |\*\*\* An error occurred in|Assertion|free\(\)|corrupted|std::bad_alloc$", re.M)


def make(case: Case, place: Path, reference: Reference, typical: dict[int, float], within: float) -> Outcome:
    """`within`: the most seconds that may pass between the fault and the run's end, if that is told."""
    folder = prepare(place, case.run.app, reference.files(case.run))
    reached = place / "reached"
    own = [word.format(folder=folder) for word in case.what.get("before", ())]
    with read_only(folder, case.what.get("folder") == "read-only"):
        started = Started(case.run, folder, ARGUMENTS, variables(case, folder, reached), tuple(own))
        hit, folder_now = True, folder
        if case.what.get("folder") in MEANWHILE:
            hit = started.wait_for_pause(reached, case.what["of"])
            if hit:
                folder_now = MEANWHILE[case.what["folder"]](folder)
            for process in started.processes():
                send(process.pid, signal.SIGCONT)
        result = started.finish(LIMIT)
    outcome = Outcome(case)
    marks = list(place.glob("reached.*"))
    if "call" in case.what:
        hit = bool(marks)
    # Without a mark the fault is somewhere in the run.
    begun = max(mark.stat().st_mtime for mark in marks) - time.time() + time.monotonic() if marks else started.begun
    outcome.end(started, result, begun)
    outcome.seen["hit"] = hit
    judge(case, outcome, result.code, result.err, folder_now, reference)
    if result.code not in (None, 0) and (late := outcome.seen["seconds_to_end"]) > within:
        outcome.findings.append(f"late: it ended {late:.1f} s after the fault")
    if folder_now == folder:
        follow(case, folder, reference, outcome, typical)
    return outcome


def judge(case: Case, outcome: Outcome, code: int | None, err: str, folder: Path | None, reference: Reference) -> None:
    findings = outcome.findings
    if code == 0:
        outcome.seen["output"] = "absorbed"
        if folder:
            check_complete(folder, reference, findings, "the run", case.run, temporaries=case.kind == "files")
        return
    if code is not None and code not in (2, 3):
        findings.append(f"exit code: {code}; 2 or 3 are documented: {err.strip()[:300]}")
    said = err.strip()
    if not said:
        findings.append("words: nothing was said")
    elif UNWORDED.search(said):
        findings.append(f"words: {said[:400]}")
    elif not any(word in said for word in words_for(case)):
        findings.append(f"words: none of {words_for(case)} in: {said[:300]}")
    if folder is None:
        outcome.seen["output"] = "gone"
        return
    outcome.seen["output"] = check_ended(folder, reference, findings, case.run, told=said)
    if outcome.seen["output"] == "new" and "no file was replaced" in said:
        findings.append("words: no file was replaced, it says, but plate.h5 is new")


def words_for(case: Case) -> list[str]:
    """What the message must have one of: the call, or the system's words for what was wrong with it."""
    do = case.what.get("do", "")
    number = int(do) if do.isdigit() else errno.EIO if do == "after" else None
    return [*case.what.get("words", ()), *([] if number is None else [os.strerror(number)])]


def variables(case: Case, folder: Path, reached: Path) -> dict[str, str]:
    found = {key: text.format(folder=folder) for key, text in case.what.get("variables", {}).items()}
    return found | (fault_variables(case.what, case.what["do"], folder, reached) if "call" in case.what else {})


def rename_folder(folder: Path) -> Path:
    return folder.rename(folder.with_name("renamed"))


def replace_folder(folder: Path) -> Path:
    away = rename_folder(folder)
    folder.mkdir()
    return away


MEANWHILE: dict[str, Callable[[Path], Path | None]] = {"renamed": rename_folder, "replaced": replace_folder, "removed": shutil.rmtree}
