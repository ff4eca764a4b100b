# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a case: starts its run, disturbs it, checks its end and what it leaves, and makes the next run, which must
succeed. A fault is absorbed without any effect, or reported with an error id and exit code 1 to 3."""

import re
import signal
import time

from .cases import RESTART
from .check import check_folder, prepare, start
from .mpirun import ENOSPC, FAULTS, preload, send, state_of, take_from_shm, wait_until

LIMIT = 30.0  # seconds for a run
GONE = 10.0  # seconds for ranks to notice that their launcher has been killed
CRASH = re.compile(r"terminate called|Segmentation|Assertion|free\(\)|corrupted|Sanitizer:|: runtime error:|E-INTERNAL")
ERROR_ID = re.compile(r"\[E-[A-Z-]+\]")


class Outcome:
    def __init__(self):
        self.findings = []
        self.seen = {}

    def end(self, program, result, may_leave_shm=False):
        """How the run ended, and what it has left but files."""
        self.seen |= {"command": program.command, "exit_code": result.code, "stderr": result.err[:2000]}
        launcher_alone = result.code is None and program.launcher_alone  # not Kontor's: docs/guarantees.md
        if result.code is None and not launcher_alone:
            self.findings.append(f"hang: it did not end in time, and was killed: {', '.join(program.hung)}")
        if not wait_until(lambda: not program.processes(), GONE):
            self.findings.append(f"processes: left are {', '.join(f'{p.name} ({p.pid})' for p in program.processes())}")
            program.kill()
        if (shm := take_from_shm()) and not may_leave_shm and not launcher_alone:
            self.findings.append(f"shm: left in /dev/shm are {', '.join(shm)}")


def make(case, place, reference):
    what, outcome = case.what, Outcome()
    folder = prepare(reference, case.run, place)
    started = start(case.run, folder, variables(what, folder, place / "reached"))
    if case.kind == "kill" and wait_for_pause(started, place / f"reached.{what['of']}"):
        strike(what, started)
    result = started.finish(LIMIT)
    # A launcher that is killed removes nothing.
    outcome.end(started, result, what.get("to") in ("launcher", "all") and "KILL" in what["signal"])
    outcome.seen["hit"] = "call" not in what or any(place.glob("reached.*"))
    judge(case, outcome, result.code, result.err + result.out, folder, reference)
    follow(case, outcome, folder, reference)
    return outcome


def variables(what, folder, reached):
    """What fails, for the ranks: tests/faults, output/tests/enospc.c. Where a call does, `reached`.RANK is made."""
    if "room" in what:
        library, texts = ENOSPC, {"AFTER": what["room"], "FILE": what["file"]}
        texts |= {"RANK": "0"} if what["way"] == "one" else {}
    else:
        names = {"call": "CALL", "number": "NUMBER", "do": "DO", "site": "SITE", "of": "RANK"}
        library, texts = FAULTS, {"FOLDER": folder, "REACHED": reached} | {names[key]: what[key] for key in names}
    return preload(library) | {f"KONTOR_FAULT_{name}": str(text) for name, text in texts.items()}


def wait_for_pause(started, reached):
    """Whether a rank has come to its call, and has stopped there."""
    def stopped():
        return reached.exists() and any(state_of(process.pid).startswith("T") for process in started.processes())

    return wait_until(lambda: started.process.poll() is not None or stopped(), 60) and started.process.poll() is None


def strike(what, started):
    processes = started.processes()
    ranks = {process.pid: f"rank {process.rank}" for process in processes if process.rank is not None}
    chosen = {"launcher": [started.process.pid], "all": [process.pid for process in processes]}.get(what["to"])
    if chosen is None:
        chosen = [pid for pid, rank in ranks.items() if what["to"] in ("ranks", rank)]
    for name in what["signal"].split(", "):
        for pid in chosen:
            send(pid, getattr(signal, f"SIG{name}"))
        if name == "STOP":
            time.sleep(0.05)
    for pid in ranks:
        send(pid, signal.SIGCONT)


def judge(case, outcome, code, said, folder, reference):
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


def follow(case, outcome, folder, reference):
    """The next run of these names, on other ranks, must do everything, and remove what the one before has left."""
    keys = [key for key in case.run.overrides if key != RESTART]
    keys += [RESTART] * any(folder.glob("plate-checkpoint-*.h5"))
    run = case.run._replace(ranks=5 - case.run.ranks, overrides=tuple(keys))
    result, found = start(run, folder).finish(60), []
    if result.code != 0:
        found.append(f"exit code {result.code}: {(result.err or result.out).strip()[:300]}")
    else:
        check_folder(folder, reference, run, found, True, False, outcome.seen.get("stderr", ""))
        found += [f"/dev/shm has {name}" for name in take_from_shm()]
    outcome.findings += [f"next run: {finding}" for finding in found]
