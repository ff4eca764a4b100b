# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which faults there are: every place of the program that calls a function of a class, at its first call, its last and one
between, chosen by the seed. Cases are in a random order, but first each place once: code that several programs share is one
place."""

import dataclasses
import errno
import zlib
from typing import Any, Callable, Iterable

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
OUTPUT_NAMES = ["plate.", "plate-checkpoint"]  # one of which a message must have


def some_calls(calls: int) -> dict[str, int]:
    return {"first": 1} | ({"last": calls} if calls > 1 else {}) | ({"between": 0} if calls > 2 else {})


def plan(kind: str, seed: int, references: dict[str, Reference], pick: Callable[[Site, str], Iterable[dict[str, Any]]]) -> list[Case]:
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
    seen: set[tuple[object, object]] = set()
    first, others = [], []
    for case in cases:
        place = (case.what.get("call"), case.what.get("in", case.number))
        (others if place in seen else first).append(case)
        seen.add(place)
    return first + others


def numbered(kind: str, seed: int, found: list[tuple[Run, Run, dict[str, Any]]]) -> list[Case]:
    dice(seed, kind, 0).shuffle(found)
    return [Case(number, kind, run, then, what) for number, (run, then, what) in enumerate(found)]


def places(cases: list[Case]) -> set[tuple[object, object]]:
    return {(case.what["call"], case.what["in"]) for case in cases if "in" in case.what}


def files(kind: str, seed: int, references: dict[str, Reference]) -> list[Case]:
    def pick(site: Site, app: str) -> Iterable[dict[str, Any]]:
        own = site.place.startswith("libcuda")  # CUDA's own calls, such as of files in /tmp
        return [] if own else [{"do": do, "words": OUTPUT_NAMES} for do in FILE_ERRORS.get(site.function, ())]

    return plan(kind, seed, references, pick)


def mpi(kind: str, seed: int, references: dict[str, Reference]) -> list[Case]:
    """Not called, with an error; and called, with its success not told. Some end the program by MPI's own."""
    def pick(site: Site, app: str) -> Iterable[dict[str, Any]]:
        if not site.function.startswith("MPI_") or not site.place.startswith(f"{app}+") or ends_by_itself(site):
            return []
        return [{"do": do, "words": [site.function, "MPI"]} for do in ("error", "after")]

    return plan(kind, seed, references, pick)


ENDS_BY_ITSELF = {"MPI_Init_thread", "MPI_Finalize", "MPI_Finalized", "MPI_Initialized", "MPI_Win_set_errhandler"}


def ends_by_itself(site: Site) -> bool:
    """MPI ends the program, in words of its own. So it does at an error of a window or of MPI_COMM_WORLD until that has a handler."""
    return site.function in ENDS_BY_ITSELF or (site.function == "MPI_Comm_set_errhandler" and "run_main" in site.name)


def memory(kind: str, seed: int, references: dict[str, Reference]) -> list[Case]:
    """operator new of every place that calls it, Kokkos' malloc, and an address space that is too small."""
    def pick(site: Site, app: str) -> Iterable[dict[str, Any]]:
        if site.function not in ("new", "malloc"):
            return []
        return [{"do": str(errno.ENOMEM), "words": ["memory"]}]

    found = []
    for app, reference in references.items():
        chance = dice(seed, kind, sum(app.encode()))
        for megabytes in () if sanitizers() else reference.app.address_spaces:  # AddressSanitizer reserves terabytes
            run = draw_run(chance, reference.app)
            run = dataclasses.replace(run, launcher="none" if run.ranks == 1 else "mpirun")
            what = {"way": "address space", "before": ["prlimit", f"--as={megabytes << 20}"], "megabytes": megabytes, "words": ["memory", "alloc"]}
            found.append((run, draw_run(chance, reference.app).like(run), what))
    small = numbered(kind, seed, found)
    cases = plan(kind, seed, references, pick)
    every = max(1, len(cases) // (len(small) + 1))
    for number, case in enumerate(small):
        cases.insert(number * (every + 1), case)
    return cases


def device(kind: str, seed: int, references: dict[str, Reference]) -> list[Case]:
    """Memory of a GPU, pinned memory, streams, events and graphs that CUDA does not give. Where Kokkos (4.6) cannot make an instance,
    its words are about memory that it frees without having got it."""
    def pick(site: Site, app: str) -> Iterable[dict[str, Any]]:
        return [{"do": "error", "words": ["memory", "m_scratch_locks"]}] if site.function.startswith("cuda") else []

    return plan(kind, seed, references, pick)


def clock(kind: str, seed: int, references: dict[str, Reference]) -> list[Case]:
    """A jump forward or backward, of seconds, an hour or ten years, at some moment."""
    found = []
    for app, reference in references.items():
        chance = dice(seed, kind, sum(app.encode()))
        for name, jumps in {"CLOCK_REALTIME": (-3e8, -3600, 3600, 3e8), "CLOCK_MONOTONIC": (1, 60, 3600, 3e8)}.items():
            calls = max(1, reference.calls(name, 0))
            for jump in jumps:
                for number in sorted({1, chance.randint(1, calls), chance.randint(1, calls)}):
                    run = draw_run(chance, reference.app)
                    of = chance.randrange(run.ranks)
                    found.append((run, draw_run(chance, reference.app).like(run), {"call": name, "number": number, "do": "jump", "jump": jump, "of": of,
                                                               "words": ["waited", "apart"]}))
    return numbered(kind, seed, found)


def disk(kind: str, seed: int, references: dict[str, Reference]) -> list[Case]:
    """A disk that is full after so many bytes, on all ranks or on one, or that loses them."""
    found = []
    for app, reference in references.items():
        chance = dice(seed, kind, sum(app.encode()))
        for name in (".h5.", ".json.", ".xmf."):
            for room in (0, 1, 100, 600, 2000, 5000, 9000, 20000, 40000):
                run = draw_run(chance, reference.app)
                lose = chance.random() < 0.3
                variables = {**preload(ENOSPC), "KONTOR_FAULT_AFTER": str(room), "KONTOR_FAULT_FILE": name}
                if lose:
                    variables["KONTOR_FAULT_LOSE"] = "1"
                if chance.random() < 0.4:
                    variables["KONTOR_FAULT_RANK"] = str(chance.randrange(run.ranks))
                found.append((run, draw_run(chance, reference.app).like(run), {"way": "lost" if lose else "full", "variables": variables, "words": OUTPUT_NAMES}))
    return numbered(kind, seed, found)


def folder(kind: str, seed: int, references: dict[str, Reference]) -> list[Case]:
    """A folder that cannot be written, and one that is renamed, replaced or removed while the run writes there."""
    found = []
    for app, reference in references.items():
        chance = dice(seed, kind, sum(app.encode()))
        for ranks in (1, 2, 3):
            run = draw_run(chance, reference.app, ranks if ranks in reference.app.ranks else 2)
            found.append((run, draw_run(chance, reference.app).like(run), {"way": "read-only", "folder": "read-only", "words": ["Read-only file system"]}))
        for way in ("renamed", "replaced", "removed"):
            for call in ("open", "pwrite", "fsync", "rename", "MPI_Barrier"):
                calls = reference.calls(call, 0)
                if not calls:
                    continue
                run = Run(app, 2, ("output.access=" + chance.choice(["parallel", "gathered"]), *reference.series))
                found.append((run, draw_run(chance, reference.app).like(run), {"way": way, "folder": way, "call": call, "of": 0, "do": "pause",
                                                           "number": chance.randint(1, calls), "words": [*OUTPUT_NAMES, "No such file"]}))
    return numbered(kind, seed, found)


PLANS: dict[str, Callable[[str, int, dict[str, Reference]], list[Case]]] = {
    "files": files, "mpi": mpi, "memory": memory, "device": device, "clock": clock, "disk": disk, "folder": folder,
}
