# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A case: one run that something happens to, or a batch of inputs. It is made of the campaign's seed and its own
number, and of nothing else. Its decks take a fraction of a second, have the same bits as answers on any ranks and by any
backend, and write often."""

import dataclasses
import random
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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

MATMUL = """\
app: matmul
problem:
  m: {size}
  n: 24
  k: 20
  write_c: true
  a: {{kind: integers}}
  b: {{kind: integers}}
measure: {{repeats: 2, calibrate: false}}
"""

PINGPONG = """\
app: pingpong
problem:
  measure: halo
  sizes: {{from: 8, to: {size}}}
  repetitions: 5
  shortest_sample: 0
measure: {{calibrate: false}}
"""


class App(NamedTuple):
    name: str
    deck: str
    size: int  # of the run; the earlier run, whose output must survive it, has another
    ranks: tuple[int, ...]
    overrides: tuple[tuple[str, ...], ...]  # one of each tuple; several keys in one stand apart by spaces
    traced: tuple[str, ...]  # overrides of the runs of which it is looked which functions they call
    address_spaces: range = range(120, 700, 12)  # MB, too small ones among them

    def text(self, earlier: bool = False) -> str:
        return self.deck.format(size=self.size * 2 if earlier else self.size)


ON_HOSTS = ("comm.backend=raw", "comm.backend=view", "comm.backend=shm", "comm.backend=raw comm.pattern=persistent",
            "comm.backend=view comm.pattern=blocking", "comm.backend=view comm.pattern=neighborhood", "comm.backend=raw comm.pattern=rma")
ON_ONE_GPU = ("comm.backend=ipc", "comm.backend=raw", "comm.backend=raw comm.pattern=persistent",
              "comm.backend=view comm.pattern=blocking", "comm.backend=view comm.pattern=neighborhood")
ON_GPUS = ("comm.backend=nccl", *ON_ONE_GPU)
COMMON = (
    ON_HOSTS,
    ("comm.overlap=true", "comm.overlap=false"),
    ("output.access=parallel", "output.access=gathered"),
    ("comm.check=local", "comm.check=cross_rank"),
)

SERIES = "output.every=10"
WRITES = "checkpoint.every=4 checkpoint.keep=1"
GOES_ON = f"{WRITES} restart=plate-checkpoint.h5"  # from one that is there
CHECKPOINTS = ("checkpoint.every=9", WRITES, "checkpoint.seconds=0.01", GOES_ON)
CALIBRATED = "output.access=gathered measure.calibrate=true"
# Blocks of C go onto other ranks with this algorithm only.
SUMMA = "product.algorithm=summa product.panel=2"


def traced(methods: tuple[str, ...], plain: str = "", checkpoints: str = "") -> tuple[str, ...]:
    """A plain run, one that calibrates and gathers its output, one that writes checkpoints and one that goes on, and one by
    each method."""
    return (f"output.access=parallel {plain}", CALIBRATED, f"output.access=parallel {checkpoints} {WRITES}",
            f"output.access=gathered {checkpoints} {GOES_ON}", *methods)


APPS = {
    "heat": App("heat", HEAT, 24, (1, 2, 3, 4), (*COMMON, (SERIES, SERIES, *CHECKPOINTS)), traced(ON_HOSTS, plain=SERIES)),
    "cg": App("cg", CG, 8, (1, 2, 3, 4), (*COMMON, ("", *CHECKPOINTS)), traced(ON_HOSTS)),
    "matmul": App("matmul", MATMUL, 28, (1, 2, 3, 4), (*COMMON, ("", *(f"{SUMMA} {keys}" for keys in CHECKPOINTS))),
                  traced(ON_HOSTS, checkpoints=SUMMA)),
    "pingpong": App("pingpong", PINGPONG, 16, (2,), COMMON[2:], ("output.access=parallel", CALIBRATED)),
}


def on_gpus(app: App, gpus: int) -> App:
    """The same for a build that computes on GPUs: at most one rank for each of so many, or two that share one, by the methods
    that can be used there."""
    methods = ON_GPUS if gpus > 1 else ON_ONE_GPU
    by_default = tuple(keys for keys in app.traced if keys not in ON_HOSTS)
    return app._replace(ranks=tuple(ranks for ranks in app.ranks if ranks <= max(gpus, 2)),
                        overrides=tuple(methods if choices is ON_HOSTS else choices for choices in app.overrides),
                        traced=by_default + methods * (len(by_default) < len(app.traced)),
                        address_spaces=range(0))  # CUDA reserves more than there is memory


# What the run after a case has in common with it: the files that it writes, and what a restart must find the same.
KEPT = ("output.every", "checkpoint.", "product.")


@dataclass(frozen=True)
class Run:
    """How a program is started."""

    app: str
    ranks: int
    overrides: tuple[str, ...]
    launcher: str = "mpirun"  # or "none", for one rank, or "kontor": by scripts/kontor run

    def words(self) -> list[str]:
        return [word for override in self.overrides for word in ("--set", override)]

    def has(self, key: str) -> bool:
        return any(override.startswith(key) for override in self.overrides)

    def like(self, other: "Run") -> "Run":
        """With the other's series and checkpoints, and what a restart may not change."""
        own = (override for override in self.overrides if not override.startswith((*KEPT, "restart=")))
        return dataclasses.replace(self, overrides=(*own, *(override for override in other.overrides if override.startswith(KEPT))))


NO_RUN = Run("", 0, ())


@dataclass(frozen=True)
class Case:
    number: int
    kind: str  # the class
    run: Run
    then: Run  # the run after it, in the same folder
    what: dict[str, Any] = field(default_factory=dict)  # what happens; each class has its own keys

    def told(self) -> str:
        """One line for people."""
        what = ", ".join(f"{key} {value}" for key, value in self.what.items() if key not in ("words", "variables", "before", "site"))
        if self.run.ranks == 0:  # no run of an app
            return f"{self.kind} {self.number}: {what}"
        by = "" if self.run.launcher == "mpirun" else f" by {self.run.launcher}"
        return f"{self.kind} {self.number}: {self.run.app} on {self.run.ranks}{by}, {' '.join(self.run.overrides)}: {what}"


def dice(seed: int, kind: str, number: int) -> random.Random:
    return random.Random(f"{seed} {kind} {number}")


def draw_run(chance: random.Random, app: App, ranks: int | None = None, launched: bool = False) -> Run:
    """Of this app, in any way. `launched`: by scripts/kontor run at times."""
    count = ranks or chance.choice(app.ranks)
    overrides = tuple(key for choices in app.overrides for key in chance.choice(choices).split())
    launcher = "none" if count == 1 and chance.random() < 0.8 else "mpirun"
    if launched and chance.random() < 0.12:
        launcher = "kontor"
    return Run(app.name, count, overrides, launcher)
