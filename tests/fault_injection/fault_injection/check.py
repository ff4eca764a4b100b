# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a folder must hold after a run, whatever happened to it, and the undisturbed runs that it is compared with: the
earlier output, the bits of a new one, and which calls the program makes, from where and how often."""

import hashlib
import json
import re
from pathlib import Path
from typing import Iterator, NamedTuple

from kontor.report.fields import h5py

from .case import App, Run
from .launch import FAULTS, Started, preload

OUTPUTS = ("plate.h5", "plate.xmf", "plate.json")
CHECKPOINT = re.compile(r"plate-checkpoint-\d{9}\.h5")
# What a killed run leaves, and the next one removes.
TEMPORARY = re.compile(r"plate(\.h5|\.xmf|\.json|-checkpoint\.h5)\.[0-9a-f]{8}\.tmp")
SEAL = b"Kontor2\n"  # output/src/seal.cpp


class Site(NamedTuple):
    """A place in the program, or in a library, that calls a function."""

    function: str
    place: str  # module+offset
    rank: int
    calls: int
    keys: tuple[str, ...] = ()  # of the run that called it from there


class Reference(NamedTuple):
    app: App
    earlier: dict[str, bytes] = {}  # name: contents
    bits: dict[str, str] = {}  # dataset: hash of its values
    sites: tuple[Site, ...] = ()  # of the traced runs, on two ranks
    checkpoint: dict[str, bytes] = {}  # name: contents; runs with the key `restart` resume from it


def make_reference(app: App, folder: Path) -> Reference:
    reference = Reference(app)
    earlier = undisturbed(reference, Run(app.name, 1, ()), folder / "earlier", size=2 * app.size)
    reference = reference._replace(earlier=files_of(earlier, "plate.*"))
    checkpoints = Run(app.name, 2, ("checkpoint.every=4", "checkpoint.keep=1000"))
    first = min(files_of(undisturbed(reference, checkpoints, folder / "checkpoint"), "plate-checkpoint-*.h5").items())
    reference = reference._replace(checkpoint=dict([first]))
    for number, keys in enumerate(app.runs()):
        run, place = Run(app.name, 2, keys), folder / f"traced-{number}"
        variables = {"KONTOR_FAULT_TRACE": str(place / "trace"), "KONTOR_FAULT_FOLDER": str(place / "run")}
        here = undisturbed(reference, run, place, preload(FAULTS) | variables)
        reference = reference._replace(bits=reference.bits or contents(here / "plate.h5"),
                                       sites=(*reference.sites, *read_trace(place / "trace", keys)))
        findings: list[str] = []
        check_folder(here, reference, run, findings, complete=True, temporaries=False)
        if findings:
            raise SystemExit(f"fault injection: {app.name} on 2 ranks with {keys}: {findings}")
    return reference


def undisturbed(reference: Reference, run: Run, place: Path, variables: dict[str, str] | None = None,
                size: int = 0) -> Path:
    """The folder of a run. Ends the campaign if it fails."""
    folder = prepare(reference, run, place, size)
    started = Started(run, folder, variables)
    result = started.finish(120)
    if result.code != 0:
        raise SystemExit(f"fault injection: {started.command}: {result}")
    return folder


def prepare(reference: Reference, run: Run, place: Path, size: int = 0) -> Path:
    """A folder with an earlier output, and the checkpoint that the run resumes from."""
    folder, app = place / "run", reference.app
    folder.mkdir(parents=True)
    (folder / "deck.yaml").write_text(app.deck.format(size=size or app.size))
    for name, data in (reference.earlier | (reference.checkpoint if run.has("--restart=") else {})).items():
        (folder / name).write_bytes(data)
    return folder


def files_of(folder: Path, pattern: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob(pattern)}


def read_trace(trace: Path, keys: tuple[str, ...]) -> Iterator[Site]:
    for file in sorted(trace.parent.glob(f"{trace.name}.*")):
        for line in file.read_text().splitlines():
            function, place, calls = line.split()
            yield Site(function, place, int(file.suffix[1:]), int(calls), keys)


def contents(path: Path) -> dict[str, str]:
    """The hashes of all values below /fields and /series; reads all others, too. Throws whatever h5py throws at a
    damaged file."""
    bits: dict[str, str] = {}

    def look(name: str, thing: h5py.Dataset | h5py.Group) -> None:
        if isinstance(thing, h5py.Dataset):
            values = thing[...].tobytes()
            if name.startswith(("fields", "series")):
                bits[name] = hashlib.sha256(values).hexdigest()

    with h5py.File(path) as file:
        file.visititems(look)
        for top in {"fields", "series"} & file.keys():
            file[top].visititems(lambda name, thing, top=top: look(f"{top}/{name}", thing))
    return bits


def check_folder(folder: Path, reference: Reference, run: Run, findings: list[str], complete: bool = False,
                 temporaries: bool = True, told: str = "") -> str:
    """What check_output() gives. Every file is whole, and of one run; if `complete`, of this one. Other files are
    checkpoints, `temporaries`, and what the user was `told` of. Each finding begins with the name of its check."""
    state = check_output(folder, reference, run, findings)
    check_sidecars(folder, reference, state, findings)
    checkpoints = list(folder.glob("plate-checkpoint-*.h5"))
    for path in checkpoints:
        try:
            contents(path)
            if not path.read_bytes().endswith(SEAL):
                findings.append(f"checkpoint: {path.name} has no checksums at its end")
        except Exception as error:  # noqa: BLE001: h5py throws many kinds
            findings.append(f"checkpoint: {path.name} is not whole: {error}")
    if complete:
        if state != "new":
            findings.append(f"exit code: 0, but plate.h5 is {state}")
        missing = reference.earlier.keys() - {path.name for path in folder.iterdir()}
        findings += [f"exit code: 0, but there is no {name}" for name in missing]
    elif run.has("--restart=") and not checkpoints:
        findings.append("checkpoint: the run resumed from one, and none is left")
    for name in sorted(entry.name for entry in folder.iterdir()):
        known = name in ("deck.yaml", *OUTPUTS) or CHECKPOINT.fullmatch(name) or name in told
        if not known and not (temporaries and TEMPORARY.fullmatch(name)):
            findings.append(f"names: {name} is left")
    return state


def check_output(folder: Path, reference: Reference, run: Run, findings: list[str]) -> str:
    """"earlier", "new", "ended early" or "damaged"."""
    path = folder / "plate.h5"
    if not path.exists():
        findings.append("output: the earlier plate.h5 is gone")
        return "damaged"
    if path.read_bytes() == reference.earlier["plate.h5"]:
        return "earlier"
    try:
        bits = contents(path)
        with h5py.File(path) as file:
            early = json.loads(file["run"][()])["ended_early"]
    except Exception as error:  # noqa: BLE001: h5py throws many kinds
        findings.append(f"output: plate.h5 is neither the earlier one nor whole: {error}")
        return "damaged"
    for name in sorted(bits.keys() | reference.bits.keys()):
        series = name.startswith("series")
        if early and not series:  # final fields are those of another repeat, from where heat continues
            continue
        if name not in bits and (early or series and not run.has("output.every")):
            continue
        if bits.get(name) != reference.bits.get(name):
            findings.append(f"output: {name} of plate.h5 {'is missing' if name not in bits else 'has other bits'}")
    return "ended early" if early else "new"


def check_sidecars(folder: Path, reference: Reference, state: str, findings: list[str]) -> None:
    """Those of the earlier file beside it, those of the new one beside the new one, or none."""
    xdmf, record, path = folder / "plate.xmf", folder / "plate.json", folder / "plate.h5"
    if state == "damaged":
        return
    if state == "earlier":
        findings += [f"sidecar: {file.name} is not what belongs to the earlier plate.h5" for file in (xdmf, record)
                     if file.exists() and file.read_bytes() != reference.earlier.get(file.name)]
        return
    if xdmf.exists():  # it names all datasets
        named = set(re.findall(r"plate\.h5:/([^<]+)", text := xdmf.read_text(errors="replace")))
        if named != contents(path).keys() or not text.endswith("</Xdmf>\n"):
            findings.append(f"sidecar: plate.xmf is not what belongs to the {state} plate.h5")
    if record.exists():
        try:
            with h5py.File(path) as file:
                if json.loads(record.read_text())["started"] != json.loads(file["run"][()])["started"]:
                    findings.append("sidecar: plate.json is of another run than plate.h5")
        except (ValueError, KeyError) as error:
            findings.append(f"sidecar: plate.json is not whole: {error}")
