# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a folder must hold after a run, whatever happened to it, and the undisturbed runs that it is compared with: the
earlier output, the bits of a new one, and which calls the program makes, from where and how often."""

import hashlib
import json
import re
from typing import NamedTuple

import h5py

from .cases import App, Run
from .mpirun import BUILD, FAULTS, MPIEXEC, Program, preload

OUTPUTS = ("plate.h5", "plate.xmf", "plate.json")
CHECKPOINT = re.compile(r"plate-checkpoint-\d{9}\.h5")
# What a killed run leaves, and the next one removes.
TEMPORARY = re.compile(r"plate(\.h5|\.xmf|\.json|-checkpoint\.h5)\.[0-9a-f]{8}\.tmp")
SEAL = b"Kontor2\n"  # output/src/seal.cpp
LIMITS = {"KONTOR_END_SECONDS": "5", "KONTOR_FINISH_SECONDS": "10", "KONTOR_START_SECONDS": "10"}


class Site(NamedTuple):
    """A place in the program, or in a library, that calls a function."""

    function: str
    place: str  # module+offset
    rank: int
    calls: int
    keys: tuple[str, ...]  # of the run that called it from there


class Reference(NamedTuple):
    app: App
    earlier: dict = {}  # name: contents
    bits: dict = {}  # dataset: hash of its values
    sites: tuple[Site, ...] = ()  # of the traced runs, on two ranks
    checkpoint: dict = {}  # name: contents; runs with the key `restart` resume from it


def start(run, folder, variables=None):
    """A run in its folder. `variables` are those of the ranks, not of the launcher."""
    keys = [key if key.startswith("--") else f"--set={key}" for key in run.overrides]
    words = [f"{key}={text}" for key, text in (variables or {}).items()]
    (folder.parent / "tmp").mkdir(exist_ok=True)
    return Program([MPIEXEC, "-n", run.ranks, "env", *words, BUILD / "bin" / run.app, "deck.yaml", *keys,
                    "-o", "plate.h5", "--results", "plate.json", "--quiet"],
                   folder, {**LIMITS, "TMPDIR": str(folder.parent / "tmp")})


def prepare(reference, run, place, size=0):
    """A folder with an earlier output, and the checkpoint that the run resumes from."""
    folder, app = place / "run", reference.app
    folder.mkdir(parents=True)
    (folder / "deck.yaml").write_text(app.deck.format(size=size or app.size))
    for name, data in (reference.earlier | (reference.checkpoint if run.has("--restart=") else {})).items():
        (folder / name).write_bytes(data)
    return folder


def make_reference(app, folder):
    reference = Reference(app)

    def undisturbed(name, run, size=0, variables=None):
        """The folder of a run. Ends the campaign if it fails."""
        made = prepare(reference, run, folder / name, size)
        result = start(run, made, variables).finish(120)
        if result.code != 0:
            raise SystemExit(f"fault injection: {app.name} {run}: {result}")
        return made

    earlier = undisturbed("earlier", Run(app.name, 1, ()), 2 * app.size)
    reference = reference._replace(earlier={path.name: path.read_bytes() for path in earlier.glob("plate.*")})
    often = undisturbed("checkpoint", Run(app.name, 2, ("checkpoint.every=4", "checkpoint.keep=1000")))
    first = min(often.glob("plate-checkpoint-*.h5"))
    reference = reference._replace(checkpoint={first.name: first.read_bytes()})
    for number, keys in enumerate(app.runs()):
        run, name = Run(app.name, 2, keys), f"traced-{number}"
        trace = {"KONTOR_FAULT_TRACE": str(folder / name / "trace"), "KONTOR_FAULT_FOLDER": str(folder / name / "run")}
        here = undisturbed(name, run, variables=preload(FAULTS) | trace)
        reference = reference._replace(bits=reference.bits or contents(here / "plate.h5"),
                                       sites=(*reference.sites, *read_trace(folder / name, keys)))
        findings = []
        check_folder(here, reference, run, findings, complete=True, temporaries=False)
        if findings:
            raise SystemExit(f"fault injection: {app.name} on 2 ranks with {keys}: {findings}")
    return reference


def read_trace(folder, keys):
    for file in sorted(folder.glob("trace.*")):
        for line in file.read_text().splitlines():
            function, place, calls = line.split()
            yield Site(function, place, int(file.suffix[1:]), int(calls), keys)


def contents(path):
    """The hashes of all values below /fields and /series; reads all others, too. Throws whatever h5py throws at a
    damaged file."""
    bits = {}

    def look(name, thing):
        if isinstance(thing, h5py.Dataset):
            values = thing[...].tobytes()
            if name.startswith(("fields", "series")):
                bits[name] = hashlib.sha256(values).hexdigest()

    with h5py.File(path) as file:
        file.visititems(look)
        for top in {"fields", "series"} & file.keys():
            file[top].visititems(lambda name, thing, top=top: look(f"{top}/{name}", thing))
    return bits


def run_of(path):
    """The record in a file."""
    with h5py.File(path) as file:
        return json.loads(file["run"][()])


def check_folder(folder, reference, run, findings, complete=False, temporaries=True, told=""):
    """What check_output() gives. Every file is whole, and of one run; if `complete`, of this one. Other files are
    checkpoints, `temporaries`, and what the user was `told` of. Each finding begins with the name of its check."""
    state = check_output(folder, reference, run, findings)
    if state != "damaged":
        check_sidecars(folder, reference, state, findings)
    names = {path.name for path in folder.iterdir()}
    checkpoints = [name for name in names if CHECKPOINT.fullmatch(name)]
    for name in checkpoints:
        try:
            contents(folder / name)
            if not (folder / name).read_bytes().endswith(SEAL):
                findings.append(f"checkpoint: {name} has no checksums at its end")
        except Exception as error:  # noqa: BLE001: h5py throws many kinds
            findings.append(f"checkpoint: {name} is not whole: {error}")
    if complete:
        if state != "new":
            findings.append(f"exit code: 0, but plate.h5 is {state}")
        findings += [f"exit code: 0, but there is no {name}" for name in reference.earlier.keys() - names]
    elif run.has("--restart=") and not checkpoints:
        findings.append("checkpoint: the run resumed from one, and none is left")
    for name in sorted(names - {"deck.yaml", *OUTPUTS, *checkpoints}):
        if name not in told and not (temporaries and TEMPORARY.fullmatch(name)):
            findings.append(f"names: {name} is left")
    return state


def check_output(folder, reference, run, findings):
    """"earlier", "new", "ended early" or "damaged"."""
    path = folder / "plate.h5"
    if not path.exists():
        findings.append("output: the earlier plate.h5 is gone")
        return "damaged"
    if path.read_bytes() == reference.earlier["plate.h5"]:
        return "earlier"
    try:
        bits, early = contents(path), run_of(path)["ended_early"]
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


def check_sidecars(folder, reference, state, findings):
    """Those of the earlier file beside it, those of the new one beside the new one, or none."""
    path, xdmf, record = (folder / name for name in OUTPUTS)
    for file in xdmf, record:
        if file.exists() and state == "earlier" and file.read_bytes() != reference.earlier.get(file.name):
            findings.append(f"sidecar: {file.name} is not what belongs to the earlier plate.h5")
    if state == "earlier":
        return
    if xdmf.exists():  # it names all datasets
        named = set(re.findall(r"plate\.h5:/([^<]+)", text := xdmf.read_text(errors="replace")))
        if named != contents(path).keys() or not text.endswith("</Xdmf>\n"):
            findings.append(f"sidecar: plate.xmf is not what belongs to the {state} plate.h5")
    try:
        if record.exists() and json.loads(record.read_text())["started"] != run_of(path)["started"]:
            findings.append("sidecar: plate.json is of another run than plate.h5")
    except (ValueError, KeyError) as error:
        findings.append(f"sidecar: plate.json is not whole: {error}")
