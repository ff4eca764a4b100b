# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills: a signal to a rank, to all ranks, to the launcher or to all, at a random time or at a random call."""

import dataclasses
import random
import signal
import time
from pathlib import Path
from typing import Any

from .case import Case, dice, draw_run
from .check import Outcome, check_ended, follow
from .launch import Started, fault_variables
from .mpirun import send
from .reference import ARGUMENTS, Reference, prepare

KIND = "kill"
SIGNALS = ("KILL", "KILL", "TERM", "USR1", "INT", "STOP, KILL")
# Where a process is told to stop itself to be killed there. Writing is where most could go wrong.
CALLS = ("rename", "rename", "rename", "unlink", "unlink", "fsync", "ftruncate", "flock", "open", "pwrite", "pwrite", "pwrite", "write",
         "MPI_Allreduce", "MPI_Bcast", "MPI_Testall", "MPI_Isend", "MPI_Barrier",
         "MPI_Init_thread", "MPI_Finalize", "new")
LIMIT = 20.0  # seconds for all to end, of which a busy machine takes most
UNDISTURBED = 120.0  # for a run that was not struck, because it had not begun or had ended


def draw(seed: int, number: int, references: dict[str, Reference]) -> Case | None:
    """None if its app is not among those asked for: a number is the same case whatever else is made."""
    chance = dice(seed, KIND, number)
    app = chance.choice(["heat", "heat", "heat", "cg", "cg", "matmul", "pingpong"])
    if app not in references:
        return None
    run = draw_run(chance, references[app].app, launched=True)
    what: dict[str, Any] = {"signal": chance.choice(SIGNALS), "to": victim(chance, run.ranks, run.launcher)}
    if run.launcher == "kontor" or chance.random() < 0.4:
        what["time"] = round(chance.uniform(0.02, 1.05), 3)  # of an undisturbed run's
    else:
        rank = 0 if chance.random() < 0.7 else chance.randrange(run.ranks)
        made = [call for call in CALLS if references[app].calls(call, min(rank, 1))]
        call = chance.choice(made)
        what |= {"call": call, "number": chance.randint(1, references[app].calls(call, min(rank, 1))), "of": rank,
                 "moment": chance.choice(["pause", "done"])}
    then = draw_run(chance, references[app].app).like(run)
    if leaves_shm(what):
        then = dataclasses.replace(then, launcher="kontor")
    return Case(number, KIND, run, then, what)


def leaves_shm(what: dict[str, Any]) -> bool:
    """A launcher that is killed removes nothing; `kontor run` does later."""
    return what["to"] in ("launcher", "all") and "KILL" in what["signal"]


def victim(chance: random.Random, ranks: int, launcher: str) -> str:
    if launcher == "none":
        return "rank 0"
    return chance.choice([f"rank {chance.randrange(ranks)}"] * 3 + ["launcher", "launcher", "ranks", "all"])


def make(case: Case, place: Path, reference: Reference, typical: dict[int, float]) -> Outcome:
    """Kills the run of the case, and looks at what it has left. `typical`: seconds that runs take here."""
    folder = prepare(place, case.run.app, reference.files(case.run))
    reached = place / "reached"
    variables = fault_variables(case.what, case.what["moment"], folder, reached) if "call" in case.what else {}
    started = Started(case.run, folder, ARGUMENTS, variables)
    hit = wait_for_moment(case, started, reached, typical)
    begun = time.monotonic()
    hit = hit and strike(case, started)
    outcome = Outcome(case)
    result = started.finish(LIMIT if hit else UNDISTURBED)
    outcome.end(started, result, begun, hit and leaves_shm(case.what))
    outcome.seen["hit"] = hit
    outcome.seen["output"] = state = check_ended(folder, reference, outcome.findings, case.run)
    check_code(case, result.code, state, result.err, outcome.findings)
    if result.code == 4 and case.run.has("checkpoint.") and not any(folder.glob("plate-checkpoint-*.h5")):
        outcome.findings.append("checkpoint: exit code 4, and there is none")
    follow(case, folder, reference, outcome, typical)
    return outcome


def wait_for_moment(case: Case, started: Started, reached: Path, typical: dict[int, float]) -> bool:
    """Whether the run has come there; else it has ended before."""
    if "time" in case.what:
        end = started.begun + case.what["time"] * typical.get(case.run.ranks, 1.0)
        started.wait_until(lambda: time.monotonic() >= end, 600)
        return started.process.poll() is None
    return started.wait_for_pause(reached, case.what["of"])


def strike(case: Case, started: Started) -> bool:
    """Whether there was anything to strike."""
    to = case.what["to"]
    processes = started.processes()
    ranks = [process for process in processes if process.rank is not None or case.run.launcher == "none"]
    if to.startswith("rank "):
        chosen = [process.pid for process in ranks if process.rank in (int(to[5:]), None)]
    else:
        chosen = [started.process.pid] if to == "launcher" else [process.pid for process in (ranks if to == "ranks" else processes)]
    for name in case.what["signal"].split(", "):
        if name == "KILL" and "STOP" in case.what["signal"]:
            time.sleep(0.05)
        for pid in chosen:
            send(pid, getattr(signal, f"SIG{name}"))
    if "call" in case.what:
        for process in ranks:
            send(process.pid, signal.SIGCONT)
    return bool(chosen)


def check_code(case: Case, code: int | None, state: str, err: str, findings: list[str]) -> None:
    if code == 0 and state != "new":
        findings.append(f"exit code: 0, but plate.h5 is {state}")
    if code == 4 and state not in ("new", "ended early"):
        findings.append(f"exit code: 4, but plate.h5 is {state}")
    if code in (1, 2) and case.run.launcher == "none":  # mpirun has codes of its own for signals
        findings.append(f"exit code: {code} after a kill: {err.strip()[:200]}")
    if code is not None and code > 0 and ("Segmentation" in err or "terminate called" in err):
        findings.append(f"crash: {err.strip()[:300]}")
