# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which faults there are: every place of the program that calls a function of a class, at its first call, its last and one
between, chosen by the seed. Cases are in a random order, but first each place once: code that several programs share is one
place."""

import dataclasses
import errno
import random
import zlib
from typing import Any, Callable, Iterable, Iterator

from kontor.report.text import grouped

from .case import Case, Run, dice, draw_run
from .launch import ENOSPC, preload, sanitizers
from .reference import Reference, Site

FILE_ERRORS: dict[str, tuple[str, ...]] = {
    "open": (str(errno.EACCES), str(errno.EMFILE), str(errno.ENOSPC), str(errno.EROFS)),
    "write": (str(errno.ENOSPC), str(errno.EIO), "short", str(errno.EINTR)),
    "pwrite": (str(errno.ENOSPC), str(errno.EIO), "short", str(errno.EINTR), str(errno.EDQUOT)),
    "read": (str(errno.EIO), "short"),
    "pread": (str(errno.EIO), "short", str(errno.EINTR)),
    "fsync": (str(errno.EIO), str(errno.ENOSPC), "after"),
    "close": ("after",),  # it is closed whatever is said
    "ftruncate": (str(errno.EIO), str(errno.ENOSPC)),
    "rename": (str(errno.EIO), str(errno.EACCES), "after"),
    "unlink": (str(errno.EIO), str(errno.EACCES)),
    "flock": (str(errno.ENOLCK), str(errno.EIO)),
    "fstat": (str(errno.EIO),),
    "lstat": (str(errno.EIO), str(errno.EACCES)),
}
Picks = Iterable[dict[str, Any]]
Drawn = Iterator[tuple[Run, dict[str, Any]]]
OUTPUT_NAMES = ["plate.", "plate-checkpoint"]  # one of which a message must have


def some_calls(calls: int) -> dict[str, int]:
    return {"first": 1} | ({"last": calls} if calls > 1 else {}) | ({"between": 0} if calls > 2 else {})


def plan(kind: str, seed: int, references: dict[str, Reference], pick: Callable[[Site, str], Picks]) -> list[Case]:
    """A case for each dictionary that pick(site, app) gives, with the calls of that site. Their numbers are made of what they are,
    because how often a run calls a function, and so how many cases there are, may differ."""
    found = []
    for app, reference in references.items():
        for site in reference.sites:
            for what in pick(site, app):
                for which, call in some_calls(site.calls).items():
                    key = f"{app} {site.keys} {site.function} {site.name} {site.rank} {what['do']} {which}"
                    number = zlib.crc32(f"{seed} {kind} {key}".encode())
                    chance = dice(seed, kind, number)
                    run = Run(app, 2, site.keys)
                    found.append(Case(number, kind, run, draw_run(chance, reference.app).like(run),
                                      {"call": site.function, "site": site.place, "of": site.rank,
                                       "number": call or chance.randint(2, site.calls - 1), "in": site.name, **what}))
    return each_place_first(sorted(found, key=lambda case: case.number))


def each_place_first(cases: list[Case]) -> list[Case]:
    of_places = grouped(cases, lambda case: (case.what.get("call"), case.what.get("in", case.number)))
    first = {id(of_place[0]) for of_place in of_places.values()}
    return sorted(cases, key=lambda case: id(case) not in first)


def drawn(kind: str, seed: int, references: dict[str, Reference]) -> list[Case]:
    """Those of DRAWN, with a run after each."""
    found = []
    for app, reference in references.items():
        chance = dice(seed, kind, sum(app.encode()))
        found += [(run, draw_run(chance, reference.app).like(run), what) for run, what in DRAWN[kind](chance, reference)]
    dice(seed, kind, 0).shuffle(found)
    return [Case(number, kind, run, then, what) for number, (run, then, what) in enumerate(found)]


def cases_of(kind: str, seed: int, references: dict[str, Reference]) -> list[Case]:
    """Of every place, with those that are drawn evenly between."""
    cases = plan(kind, seed, references, PICKED[kind]) if kind in PICKED else []
    between = drawn(kind, seed, references) if kind in DRAWN else []
    every = len(cases) // (len(between) + 1)
    for number, case in enumerate(between):
        cases.insert(number * (every + 1), case)
    return cases


def places(cases: list[Case]) -> set[tuple[object, object]]:
    return {(case.what["call"], case.what["in"]) for case in cases if "in" in case.what}


def pick_file(site: Site, app: str) -> Picks:
    own = site.place.startswith("libcuda")  # CUDA's own calls, such as of files in /tmp
    return [] if own else [{"do": do, "words": OUTPUT_NAMES} for do in FILE_ERRORS.get(site.function, ())]


ENDS_BY_ITSELF = {"MPI_Init_thread", "MPI_Finalize", "MPI_Finalized", "MPI_Initialized", "MPI_Win_set_errhandler"}


def pick_mpi(site: Site, app: str) -> Picks:
    """Not called, with an error; and called, with its success not told. MPI ends the program in words of its own at some, and at an
    error of a window or of MPI_COMM_WORLD until that has a handler."""
    own = site.function in ENDS_BY_ITSELF or (site.function == "MPI_Comm_set_errhandler" and "run_main" in site.name)
    if own or not site.function.startswith("MPI_") or not site.place.startswith(f"{app}+"):
        return []
    return [{"do": do, "words": [site.function, "MPI"]} for do in ("error", "after")]


def pick_memory(site: Site, app: str) -> Picks:
    """operator new of every place that calls it, and Kokkos' malloc."""
    return [{"do": str(errno.ENOMEM), "words": ["memory"]}] if site.function in ("new", "malloc") else []


def pick_device(site: Site, app: str) -> Picks:
    """Memory of a GPU, pinned memory, streams, events and graphs that CUDA does not give. Where Kokkos (4.6) cannot make an instance,
    its words are about memory that it frees without having got it."""
    return [{"do": "error", "words": ["memory", "m_scratch_locks"]}] if site.function.startswith("cuda") else []


def draw_memory(chance: random.Random, reference: Reference) -> Drawn:
    """An address space that is too small."""
    for megabytes in () if sanitizers() else reference.app.address_spaces:  # AddressSanitizer reserves terabytes
        run = draw_run(chance, reference.app)
        run = dataclasses.replace(run, launcher="none" if run.ranks == 1 else "mpirun")
        yield run, {"way": "address space", "before": ["prlimit", f"--as={megabytes << 20}"], "megabytes": megabytes, "words": ["memory", "alloc"]}


def draw_clock(chance: random.Random, reference: Reference) -> Drawn:
    """A jump forward or backward, of seconds, an hour or ten years, at some moment."""
    for name, jumps in {"CLOCK_REALTIME": (-3e8, -3600, 3600, 3e8), "CLOCK_MONOTONIC": (1, 60, 3600, 3e8)}.items():
        calls = max(1, reference.calls(name, 0))
        for jump in jumps:
            for number in sorted({1, chance.randint(1, calls), chance.randint(1, calls)}):
                run = draw_run(chance, reference.app)
                yield run, {"call": name, "number": number, "do": "jump", "jump": jump, "of": chance.randrange(run.ranks), "words": ["waited", "apart"]}


def draw_disk(chance: random.Random, reference: Reference) -> Drawn:
    """A disk that is full after so many bytes, on all ranks or on one, or that loses them."""
    for name in (".h5.", ".json.", ".xmf."):
        for room in (0, 1, 100, 600, 2000, 5000, 9000, 20000, 40000):
            run = draw_run(chance, reference.app)
            lose = chance.random() < 0.3
            variables = {**preload(ENOSPC), "KONTOR_FAULT_AFTER": str(room), "KONTOR_FAULT_FILE": name}
            if lose:
                variables["KONTOR_FAULT_LOSE"] = "1"
            if chance.random() < 0.4:
                variables["KONTOR_FAULT_RANK"] = str(chance.randrange(run.ranks))
            yield run, {"way": "lost" if lose else "full", "variables": variables, "words": OUTPUT_NAMES}


def draw_folder(chance: random.Random, reference: Reference) -> Drawn:
    """A folder that cannot be written, and one that is renamed, replaced or removed while the run writes there."""
    for ranks in (1, 2, 3):
        run = draw_run(chance, reference.app, ranks if ranks in reference.app.ranks else 2)
        yield run, {"way": "read-only", "folder": "read-only", "words": ["Read-only file system"]}
    for way in ("renamed", "replaced", "removed"):
        for call in ("open", "pwrite", "fsync", "rename", "MPI_Barrier"):
            if calls := reference.calls(call, 0):
                run = Run(reference.app.name, 2, ("output.access=" + chance.choice(["parallel", "gathered"]), *reference.series))
                yield run, {"way": way, "folder": way, "call": call, "of": 0, "do": "pause", "number": chance.randint(1, calls),
                            "words": [*OUTPUT_NAMES, "No such file"]}


PICKED: dict[str, Callable[[Site, str], Picks]] = {"files": pick_file, "mpi": pick_mpi, "memory": pick_memory, "device": pick_device}
DRAWN: dict[str, Callable[[random.Random, Reference], Drawn]] = {
    "memory": draw_memory, "clock": draw_clock, "disk": draw_disk, "folder": draw_folder,
}
KINDS = tuple({**PICKED, **DRAWN})
