# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of each class, in an order that the seed determines. At each place of the programs that calls a function,
its first call, its last and one between fail, or a process stops itself to be killed: each place once, then the rest.

Keys of Case.what: `call`, `number`, `site` (module+offset), rank `of` and `do` as tests/faults/arm.h has them; `signal`
and `to` of a kill; `file`, `room` and `way` of a full disk: of all ranks, or of one."""

import errno
import itertools
import random
import zlib
from typing import Any, Iterator

from .case import Case, Run
from .check import Reference, Site

CLASSES = ("kill", "files", "mpi", "memory", "disk")
SIGNALS = ("KILL", "KILL", "TERM", "USR1", "INT", "STOP, KILL")
VICTIMS = ("rank 0", "rank 1", "rank 0", "rank 1", "launcher", "ranks", "all")
NO_SPACE, FAILED, DENIED = errno.ENOSPC, errno.EIO, errno.EACCES
WRITING = (NO_SPACE, FAILED, "short", errno.EINTR)
FILE_ERRORS: dict[str, tuple[int | str, ...]] = {
    "open": (DENIED, errno.EMFILE, NO_SPACE), "write": WRITING, "pwrite": WRITING, "read": (FAILED, "short"),
    "pread": (FAILED, "short", errno.EINTR), "fsync": (FAILED, NO_SPACE, "after"), "close": ("after",),
    "ftruncate": (FAILED, NO_SPACE), "rename": (FAILED, DENIED, "after"), "unlink": (FAILED, DENIED),
    "flock": (errno.ENOLCK, FAILED), "fstat": (FAILED,), "lstat": (FAILED, DENIED),
}
ENDS_BY_ITSELF = ("Init", "Final", "set_errhandler")  # MPI ends the program in its own words there
# What happens, how often its place is called, and overrides of the run that calls it: none where any run will do.
Disturbance = tuple[dict[str, Any], int, tuple[str, ...]]


def cases_of(kind: str, seed: int, references: dict[str, Reference]) -> list[Case]:
    """Their numbers are hashes of what they are: how often a run calls a function, and so their count, may differ."""
    found = []
    for app, reference in references.items():
        for what, calls, keys in disturbances(kind, reference):
            for which in ("first", "last", "between")[:calls]:
                number = zlib.crc32(f"{seed} {kind} {app} {keys} {what} {which}".encode())
                chance, more = random.Random(number), dict[str, Any]()
                run = Run(app, 2, keys) if keys else Run(app, chance.randint(1, 4), chance.choice(reference.app.runs()))
                if keys:
                    more["number"] = {"first": 1, "last": calls}.get(which) or chance.randint(2, calls - 1)
                if kind == "kill":
                    more |= {"signal": chance.choice(SIGNALS), "to": chance.choice(VICTIMS)}
                then = Run(app, chance.randint(1, 4), run.without_restart(), leaves_shm(more))
                found.append(Case(number, kind, run, then, what | more))
    found.sort(key=lambda case: case.number)
    first = {case.what.get("site", case.number): case.number for case in reversed(found)}
    return sorted(found, key=lambda case: first[case.what.get("site", case.number)] != case.number)


def leaves_shm(what: dict[str, Any]) -> bool:
    """Whether the launcher is killed, which then removes nothing."""
    return what.get("to") in ("launcher", "all") and "KILL" in what["signal"]


def disturbances(kind: str, reference: Reference) -> Iterator[Disturbance]:
    if kind == "disk":
        rooms = (0, 1, 100, 600, 2000, 5000, 9000, 20000, 40000)
        for way, file, room in itertools.product(("all", "one"), (".h5.", ".json.", ".xmf."), rooms):
            yield {"way": way, "file": file, "room": room}, 1, ()
    for site in reference.sites:
        for do in happenings(kind, site, reference.app.name):
            what = {"call": site.function, "do": str(do), "site": site.place, "of": site.rank}
            yield what, site.calls, site.keys


def happenings(kind: str, site: Site, app: str) -> tuple[int | str, ...]:
    of_mpi = site.function.startswith("MPI_") and site.place.startswith(f"{app}+")
    if kind == "kill" and (of_mpi or site.function in FILE_ERRORS):
        return "pause", "done"
    if kind == "files":
        return FILE_ERRORS.get(site.function, ())
    if kind == "memory" and site.function in ("new", "malloc"):
        return (errno.ENOMEM,)
    if kind == "mpi" and of_mpi and not any(part in site.function for part in ENDS_BY_ITSELF):
        return "error", "after"
    return ()


def in_turn(kinds: list[str], seed: int, references: dict[str, Reference]) -> Iterator[Case]:
    """One case of each class, again and again, while there are any."""
    rows = itertools.zip_longest(*(cases_of(kind, seed, references) for kind in kinds))
    return (case for row in rows for case in row if case)
