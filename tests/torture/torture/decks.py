# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decks of a fraction of a second, whose answers are the same bits on any ranks and by any backend, and which write often."""

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
