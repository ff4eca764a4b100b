# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Undisturbed runs of each app: the output that is there before a case, the bits that a whole new one has, and which calls
the program makes, from where and how often."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import Iterator, NamedTuple

import h5py
import numpy

from .case import Run
from .decks import APPS, App
from .launch import FAULTS, Started
from .symbols import name_of

OUTPUTS = ("plate.h5", "plate.xmf", "plate.json")
ARGUMENTS = ["-o", "plate.h5", "--results", "plate.json", "--quiet"]


# What the record of a run on more ranks than cores lacks.
NOT_ALWAYS = ("attainable", "fraction", "speed_up", "limit")


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
    sites: tuple[Site, ...]  # of two ranks, all writing
    series: tuple[str, ...]  # keys of the runs that this was made of

    def calls(self, function: str, rank: int) -> int:
        return sum(site.calls for site in self.sites if site.function == function and site.rank == rank)


class Unmade(Exception):
    """A run that nothing happened to has failed."""


def make_reference(app: App, folder: Path) -> Reference:
    runs = folder / app.name
    series = ("output.every=10",) if app.name == "heat" else ()
    alone = Run(app.name, 1, series, "none") if 1 in app.ranks else Run(app.name, 2, series)
    earlier = undisturbed(alone, runs / "earlier", earlier=True)
    new = undisturbed(alone, runs / "new")
    bits, names = contents(new / "plate.h5")
    sites: list[Site] = []
    for number, traced in enumerate(app.traced):
        keys = ("output.access=parallel", *series, *traced.split())
        place = runs / f"traced-{number}"
        here = undisturbed(Run(app.name, 2, keys), place, {"LD_PRELOAD": str(FAULTS), "KONTOR_FAULT_TRACE": str(place / "trace"),
                                                           "KONTOR_FAULT_FOLDER": str(place / "run")})
        sites += read_trace(app.name, place / "trace", keys)
        names &= contents(here / "plate.h5")[1]
        if contents(here / "plate.h5")[0] != bits:
            raise Unmade(f"{app.name}: other values on 2 ranks than on {alone.ranks}")
    plain = undisturbed(dataclasses.replace(alone, overrides=()), runs / "plain") if series else new
    xdmf = {with_series: text_of(place / "plate.xmf") for with_series, place in ((True, new), (False, plain))}
    return Reference(app, {name: (earlier / name).read_bytes() for name in OUTPUTS if (earlier / name).exists()}, bits, names,
                     xdmf, tuple(sites), series)


def text_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def undisturbed(run: Run, place: Path, variables: dict[str, str] | None = None, earlier: bool = False) -> Path:
    """The folder of a run that nothing happens to. Throws Unmade."""
    folder = prepare(place, run.app, {}, earlier)
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


def json_of(path: Path) -> dict[str, object]:
    return json.loads(path.read_text())


CHECKPOINT = re.compile(r"plate-checkpoint-\d{9}\.h5")
TEMPORARY = re.compile(r"(?:\.(?P<locked>.+)\.kontor-lock|(?P<aside>.+)\.[0-9a-f]{8}\.tmp)")


def is_temporary(name: str) -> bool:
    """Whether it is a name that Kontor gives what a run leaves behind when it is killed."""
    match = TEMPORARY.fullmatch(name)
    return bool(match) and (match["locked"] or match["aside"]) in (*OUTPUTS, "plate-checkpoint.h5")
