# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of each class, in an order that the seed determines: one run that is disturbed, and the run after it. At
each place of the programs that calls a function, its first call, its last and one between fail, or a process stops
itself to be killed: each place once, then the rest. Each deck runs for a fraction of a second, writes often, and has
the same bits on any ranks by any backend."""

import errno
import itertools
import random
import zlib
from typing import NamedTuple

HEAT = """\
app: heat
problem:
  cells: [{size}, 20]
  boundary:
    y_max: {{dirichlet: "sin(pi*x)"}}
  exact: "sin(pi*x)*sinh(pi*y)/sinh(pi)"
solver: {{tolerance: 0, max_sweeps: 60, check_every: 15}}
warm_up: {{sweeps: 2}}
verification: {{tolerance: 10}}
measure: {{repeats: 2, calibrate: false}}
"""

CG = """\
app: cg
problem:
  kind: stencil
  stencil: {{points: [{size}, 6, 5], size: 7, exact: "x + 2*y - z"}}
solver: {{tolerance: 1e-10, sums: reproducible}}
measure: {{repeats: 2, calibrate: false}}
"""

RESTART = "--restart=plate-checkpoint.h5"
CHECKPOINTS = "checkpoint.every=4 checkpoint.keep=1"
# Overrides and options of the runs. The first has all outputs of its app.
RUNS = ("output.fields=final {series}", "measure.calibrate=true", CHECKPOINTS, f"{CHECKPOINTS} {RESTART}",
        "comm.backend=raw checkpoint.seconds=0.01", "comm.backend=view comm.check=cross_rank",
        "comm.backend=shm {series}", "comm.backend=raw comm.pattern=persistent comm.overlap=true",
        "comm.backend=view comm.pattern=blocking checkpoint.every=9", "comm.backend=view comm.pattern=neighborhood",
        "comm.backend=raw comm.pattern=rma")

CLASSES = ("kill", "files", "mpi", "memory", "disk")
SIGNALS = ("KILL", "KILL", "TERM", "USR1", "INT", "STOP, KILL")
VICTIMS = ("rank 0", "rank 1", "rank 0", "rank 1", "launcher", "ranks", "all")
NO_SPACE, FAILED, DENIED = errno.ENOSPC, errno.EIO, errno.EACCES
WRITING = (NO_SPACE, FAILED, "short", errno.EINTR)
FILE_ERRORS = {
    "open": (DENIED, errno.EMFILE, NO_SPACE), "write": WRITING, "pwrite": WRITING, "read": (FAILED, "short"),
    "pread": (FAILED, "short", errno.EINTR), "fsync": (FAILED, NO_SPACE, "after"), "close": ("after",),
    "ftruncate": (FAILED, NO_SPACE), "rename": (FAILED, DENIED, "after"), "unlink": (FAILED, DENIED),
    "flock": (errno.ENOLCK, FAILED), "fstat": (FAILED,), "lstat": (FAILED, DENIED),
}
ENDS_BY_ITSELF = ("Init", "Final", "set_errhandler")  # MPI ends the program in its own words there


class App(NamedTuple):
    name: str
    deck: str
    size: int  # of the run; the earlier run, whose output must survive, has twice that
    series: str = ""

    def runs(self):
        return [tuple(run.format(series=self.series).split()) for run in RUNS]


APPS = {"heat": App("heat", HEAT, 24, "output.every=10"), "cg": App("cg", CG, 8)}


class Run(NamedTuple):
    """How a program is started."""

    app: str
    ranks: int
    overrides: tuple[str, ...]

    def has(self, key):
        return any(override.startswith(key) for override in self.overrides)


class Case(NamedTuple):
    """`what`, the disturbance, has `call`, `number`, `site` (module+offset), rank `of` and `do` as tests/faults/arm.h;
    `signal` and `to` of a kill; `file`, `room` and `way` of a full disk: of all ranks, or of one."""

    number: int
    kind: str  # the class
    run: Run
    what: dict


def disturbances(kind, reference):
    """What happens, how often its place is called, and overrides of the run that calls it: none where any will do."""
    if kind == "disk":
        rooms = (0, 1, 100, 600, 2000, 5000, 9000, 20000, 40000)
        for way, file, room in itertools.product(("all", "one"), (".h5.", ".json.", ".xmf."), rooms):
            yield {"way": way, "file": file, "room": room}, 1, ()
    for site in reference.sites:
        of_mpi = site.function.startswith("MPI_") and site.place.startswith(f"{reference.app.name}+")
        doings = ()
        if kind == "kill" and (of_mpi or site.function in FILE_ERRORS):
            doings = "pause", "done"
        elif kind == "files":
            doings = FILE_ERRORS.get(site.function, ())
        elif kind == "memory" and site.function in ("new", "malloc"):
            doings = (errno.ENOMEM,)
        elif kind == "mpi" and of_mpi and not any(part in site.function for part in ENDS_BY_ITSELF):
            doings = "error", "after"
        for do in doings:
            yield {"call": site.function, "do": str(do), "site": site.place, "of": site.rank}, site.calls, site.keys


def cases_of(kind, seed, references):
    """Their numbers are hashes of what they are: how often a run calls a function, and so their count, may differ."""
    found = []
    for app, reference in references.items():
        for what, calls, keys in disturbances(kind, reference):
            for which in ("first", "last", "between")[:calls]:
                number = zlib.crc32(f"{seed} {kind} {app} {keys} {what} {which}".encode())
                chance, more = random.Random(number), {}
                run = Run(app, 2, keys) if keys else Run(app, chance.randint(1, 4), chance.choice(reference.app.runs()))
                if keys:
                    more["number"] = {"first": 1, "last": calls}.get(which) or chance.randint(2, calls - 1)
                if kind == "kill":
                    more |= {"signal": chance.choice(SIGNALS), "to": chance.choice(VICTIMS)}
                found.append(Case(number, kind, run, what | more))
    found.sort(key=lambda case: case.number)
    first = {case.what.get("site", case.number): case.number for case in reversed(found)}
    return sorted(found, key=lambda case: first[case.what.get("site", case.number)] != case.number)


def in_turn(kinds, seed, references):
    """One case of each class, again and again, while there are any."""
    rows = itertools.zip_longest(*(cases_of(kind, seed, references) for kind in kinds))
    return (case for row in rows for case in row if case)
