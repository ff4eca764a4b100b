# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Undisturbed runs of each app: the output that is there before a case, the bits that a whole new one has, and which calls
the program makes, from where and how often."""

import bisect
import dataclasses
import functools
import hashlib
import re
from pathlib import Path
from typing import Iterator, NamedTuple

import numpy
from kontor.messages import said
from kontor.report.hdf5 import h5py

from .case import APPS, SERIES, App, Run
from .launch import BUILD, FAULTS, Started, preload

OUTPUTS = ("plate.h5", "plate.xmf", "plate.json")
ARGUMENTS = ["-o", "plate.h5", "--results", "plate.json", "--quiet"]


# What the record of a run lacks on more ranks than cores, or where the calibration was disturbed; and what it has then.
NOT_ALWAYS = ("attainable", "fraction", "speed_up", "limit", "remark")


class Site(NamedTuple):
    """A place in the program, or in a library, that calls a function."""

    function: str
    place: str  # module+offset
    rank: int
    calls: int
    name: str  # of the place, the same in all programs that have that code
    keys: tuple[str, ...] = ()  # of the run that called it from there


class Reference(NamedTuple):
    app: App
    earlier: dict[str, bytes]  # name: contents
    bits: dict[str, str]  # dataset: hash of its values
    names: frozenset[str]  # what every record has
    xdmf: dict[bool, bytes | None]  # of runs with a series, and without
    sites: tuple[Site, ...]  # of the traced runs, on two ranks; those of the plain one come first
    series: tuple[str, ...]  # keys of the runs that this was made of
    checkpoint: dict[str, bytes] = {}  # name: contents; what runs with the key `restart` go on from

    def calls(self, function: str, rank: int) -> int:
        """Of the plain run."""
        return sum(site.calls for site in self.sites
                   if site.function == function and site.rank == rank and site.keys == self.sites[0].keys)

    def files(self, run: Run) -> dict[str, bytes]:
        """What is there before a run: the output of an earlier one, and the checkpoint that it goes on from."""
        return self.earlier | (self.checkpoint if run.has("restart=") else {})


class Unmade(Exception):
    """A run that nothing happened to has failed."""


def make_reference(app: App, folder: Path) -> Reference:
    runs = folder / app.name
    series = (SERIES,) if SERIES in app.traced[0].split() else ()
    alone = Run(app.name, 1, series, "none") if 1 in app.ranks else Run(app.name, 2, series)
    earlier = undisturbed(alone, runs / "earlier", {}, earlier=True)
    new = undisturbed(alone, runs / "new", {})
    bits, names = contents(new / "plate.h5")
    checkpoint = first_checkpoint(app, runs / "checkpoint")
    sites: list[Site] = []
    for number, traced in enumerate(app.traced):
        run = Run(app.name, 2, tuple(traced.split()))
        place = runs / f"traced-{number}"
        here = undisturbed(run, place, checkpoint if run.has("restart=") else {},
                           {**preload(FAULTS), "KONTOR_FAULT_TRACE": str(place / "trace"), "KONTOR_FAULT_FOLDER": str(place / "run")})
        sites += read_trace(app.name, place / "trace", run.overrides)
        bits_here, names_here = contents(here / "plate.h5")
        names &= names_here
        if bits_here != {name: of for name, of in bits.items() if run.has("output.every") or not name.startswith("series")}:
            raise Unmade(f"{app.name}: other values on 2 ranks with {traced} than on {alone.ranks}")
    plain = undisturbed(dataclasses.replace(alone, overrides=()), runs / "plain", {}) if series else new
    outputs = {place: {name: (place / name).read_bytes() for name in OUTPUTS if (place / name).exists()} for place in (earlier, new, plain)}
    xdmf = {True: outputs[new].get("plate.xmf"), False: outputs[plain].get("plate.xmf")}
    return Reference(app, outputs[earlier], bits, names, xdmf, tuple(sites), series, checkpoint)


def first_checkpoint(app: App, place: Path) -> dict[str, bytes]:
    """One after a few steps, if the app has any."""
    keys = next((keys for keys in app.traced if "checkpoint." in keys and "restart=" not in keys), None)
    if keys is None:
        return {}
    run = Run(app.name, 2, tuple(keys.replace("checkpoint.keep=1", "checkpoint.keep=1000").split()))
    first = min(undisturbed(run, place, {}).glob("plate-checkpoint-*.h5"))
    return {first.name: first.read_bytes()}


def undisturbed(run: Run, place: Path, files: dict[str, bytes], variables: dict[str, str] | None = None, earlier: bool = False) -> Path:
    """The folder of a run that nothing happens to. Throws Unmade."""
    folder = prepare(place, run.app, files, earlier)
    started = Started(run, folder, ARGUMENTS, variables)
    result = started.finish(120)
    if result.code != 0:
        raise Unmade(f"{started.command}: exit code {result.code}\n{result.out}{result.err}")
    return folder


def prepare(place: Path, app: str, files: dict[str, bytes], earlier: bool = False) -> Path:
    folder = place / "run"
    folder.mkdir(parents=True)
    (folder / "deck.yaml").write_text(APPS[app].text(earlier))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def read_trace(app: str, trace: Path, keys: tuple[str, ...]) -> Iterator[Site]:
    for file in sorted(trace.parent.glob(f"{trace.name}.*")):
        for line in file.read_text().splitlines():
            function, place, calls = line.split()
            yield Site(function, place, int(file.suffix[1:]), int(calls), name_of(app, place), keys)


@functools.cache
def functions(app: str) -> tuple[list[int], list[str]]:
    """Where they begin, in order, and their names. Empty without nm, or in a program without symbols."""
    listed = said("nm", "-C", "--numeric-sort", str(BUILD / "bin" / app))
    lines = [line.split(" ", 2) for line in listed.splitlines() if not line.startswith(" ")]
    return [int(line[0], 16) for line in lines], [line[2] for line in lines]


def name_of(app: str, place: str) -> str:
    """`function+offset` for a place in the program, the same in two programs that have that code; a place in a library is its own name."""
    module, _, offset = place.partition("+")
    begins, names = functions(app)
    if module != app or not begins:
        return place
    index = bisect.bisect_right(begins, int(offset, 16)) - 1
    return f"{names[index]}+{int(offset, 16) - begins[index]:#x}"


def contents(path: Path) -> tuple[dict[str, str], frozenset[str]]:
    """The hashes of all values below /fields and /series, and the names of all that is in the record. Throws OSError and
    whatever h5py throws at a damaged file."""
    bits: dict[str, str] = {}
    names: list[str] = []

    def look(name: str, thing: h5py.Dataset | h5py.Group) -> None:
        if name.startswith("run"):
            names.append(name)
            names.extend(f"{name}.{attribute}" for attribute in thing.attrs if attribute not in NOT_ALWAYS)
        if isinstance(thing, h5py.Dataset):
            thing[...]

    def take(name: str, thing: h5py.Dataset | h5py.Group) -> None:
        if isinstance(thing, h5py.Dataset):
            bits[name] = hashlib.sha256(numpy.ascontiguousarray(thing[...]).tobytes()).hexdigest()

    with h5py.File(path) as file:
        file.visititems(look)  # by one of its names, what has several
        for top in {"fields", "series"} & file.keys():
            file[top].visititems(lambda name, thing, top=top: take(f"{top}/{name}", thing))
    return bits, frozenset(names)


CHECKPOINT = re.compile(r"plate-checkpoint-\d{9}\.h5")
TEMPORARY = re.compile(r"(?:\.(?P<locked>.+)\.kontor-lock|(?P<aside>.+)\.[0-9a-f]{8}\.tmp)")


def is_temporary(name: str) -> bool:
    """Whether it is a name that Kontor gives what a run leaves behind when it is killed."""
    match = TEMPORARY.fullmatch(name)
    return bool(match) and (match["locked"] or match["aside"]) in (*OUTPUTS, "plate-checkpoint.h5")
