# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must be true of a folder after a run, whatever happened to it. Each finding begins with the name of its check.
And what became of a case: how it ended, what it has left, and the run after it."""

import json
import re
import time
from pathlib import Path
from typing import Any

from kontor.report.hdf5 import h5py

from .case import Case, Run
from .launch import Started
from .mpirun import Program, Result, empty_shm, left_in_shm, wait_until
from .reference import ARGUMENTS, CHECKPOINT, OUTPUTS, Reference, contents, is_temporary

GONE = 10.0  # seconds for ranks to notice that their launcher has been killed
REMARKS = (": backend ", " share one GPU")  # such as on NCCL's version; of ranks that wait for each other
SANITIZER = re.compile(r"\S+Sanitizer:|\S+: runtime error:")
SEAL = b"Kontor1\n"  # output/src/seal.cpp


def output_state(folder: Path, reference: Reference, findings: list[str], run: Run) -> str:
    """"earlier", "new" or "ended early", or "damaged"; what is wrong goes to the findings."""
    path = folder / "plate.h5"
    if not path.exists():
        findings.append("output: the earlier plate.h5 is gone")
        return "damaged"
    if path.read_bytes() == reference.earlier["plate.h5"]:
        return "earlier"
    try:
        bits, names = contents(path)
        with h5py.File(path) as file:
            early = bool(file["run"].attrs["ended_early"])
    except Exception as error:  # noqa: BLE001: h5py throws many kinds
        findings.append(f"output: plate.h5 is neither the earlier one nor whole: {type(error).__name__}: {error}")
        return "damaged"
    missing = sorted(reference.names - names) if not early else []
    if missing:
        findings.append(f"output: the record of plate.h5 lacks {', '.join(missing[:5])}")
    expected = {name: of for name, of in reference.bits.items() if run.has("output.every") or not name.startswith("series")}
    wanted = {name: of for name, of in expected.items() if not early or name in bits}
    if early:  # final fields are those of another repeat, from where heat goes on
        wanted, bits = ({name: of for name, of in these.items() if name.startswith("series")} for these in (wanted, bits))
    for name in sorted(wanted.keys() | bits.keys()):
        if bits.get(name) != wanted.get(name):
            findings.append(f"output: {name} of plate.h5 {'is missing' if name not in bits else 'has other bits'}")
    return "ended early" if early else "new"


def check_sidecars(folder: Path, reference: Reference, state: str, findings: list[str], run: Run) -> None:
    """Those of the earlier file beside it, those of the new one beside the new one, or none."""
    xdmf, record = folder / "plate.xmf", folder / "plate.json"
    if xdmf.exists():
        found = xdmf.read_bytes()
        wanted = reference.earlier.get("plate.xmf") if state == "earlier" else reference.xdmf[run.has("output.every")]
        if state == "ended early":  # with as many steps of a series as it has come to: the datasets that are named count
            found, wanted = set(re.findall(r"plate\.h5:/([^<]+)", found.decode(errors="replace"))), set(contents(folder / "plate.h5")[0])
        if found != wanted:
            findings.append(f"sidecar: plate.xmf is not what belongs to the {state} plate.h5")
    if record.exists() and state != "damaged":
        if state == "earlier":
            if record.read_bytes() != reference.earlier["plate.json"]:
                findings.append("sidecar: plate.json is not what belongs to the earlier plate.h5")
            return
        try:
            with h5py.File(folder / "plate.h5") as file:
                same = json.loads(record.read_text())["started"] == file["run"].attrs["started"]
        except (ValueError, KeyError) as error:
            findings.append(f"sidecar: plate.json is not whole: {error}")
            return
        if not same:
            findings.append("sidecar: plate.json is of another run than plate.h5")


def check_names(folder: Path, findings: list[str], temporaries: bool, told: str = "") -> None:
    """Nothing but the outputs and, if `temporaries`, what the next run removes; and what the user was `told` of."""
    known = {"deck.yaml", *OUTPUTS}
    for name in sorted(entry.name for entry in folder.iterdir()):
        known_too = CHECKPOINT.fullmatch(name) or (temporaries and is_temporary(name)) or name in told
        if name not in known and not known_too:
            findings.append(f"{'names' if temporaries else 'temporaries'}: {name} is left")


def check_checkpoints(folder: Path, findings: list[str], run: Run) -> None:
    """Each under its final name is whole, and one is left if the run went on from one."""
    paths = list(folder.glob("plate-checkpoint-*.h5"))
    if run.has("restart=") and not paths:
        findings.append("checkpoint: the run went on from one, and none is left")
    for path in paths:
        try:
            contents(path)
            if not path.read_bytes().endswith(SEAL):
                findings.append(f"checkpoint: {path.name} has no checksums at its end")
        except Exception as error:  # noqa: BLE001: h5py throws many kinds
            findings.append(f"checkpoint: {path.name} is not whole: {type(error).__name__}: {error}")


def check_ended(folder: Path, reference: Reference, findings: list[str], run: Run, told: str = "") -> str:
    """After a run that ended in any way: what output_state() gives; each file is whole, and the next run may remove what is left."""
    state = output_state(folder, reference, findings, run)
    check_sidecars(folder, reference, state, findings, run)
    check_checkpoints(folder, findings, run)
    check_names(folder, findings, temporaries=True, told=told)
    return state


def check_complete(folder: Path, reference: Reference, findings: list[str], who: str, run: Run, temporaries: bool = False,
                   told: str = "") -> None:
    """After a run that ended well: everything is new, and nothing else is there but, if `temporaries`, what could not be
    removed, and what the user was `told` of."""
    state = output_state(folder, reference, findings, run)
    if state != "new":
        findings.append(f"{who}: exit code 0, but plate.h5 is {state}")
    check_sidecars(folder, reference, state, findings, run)
    for name in reference.earlier:
        if not (folder / name).exists():
            findings.append(f"{who}: exit code 0, but there is no {name}")
    check_names(folder, findings, temporaries, told)


class Outcome:
    def __init__(self, case: Case):
        self.case = case
        self.findings: list[str] = []
        self.seen: dict[str, Any] = {}

    def end(self, started: Program, result: Result, begun: float, leaves_shm: bool = False) -> None:
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
        gone = wait_until(lambda: not started.processes(), GONE)
        self.seen["seconds_until_gone"] = round(time.monotonic() - begun, 3)
        if not gone:
            left = started.processes()
            self.findings.append(f"processes: left are {', '.join(f'{p.name} ({p.pid})' for p in left)}")
            started.kill()
        shm = [entry.name for entry in left_in_shm()]
        self.seen["shm"] = shm
        if shm and not leaves_shm:
            if "launcher_alone" not in self.seen:
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
