# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A case: one run that is disturbed, and the run after it. Each deck runs for a fraction of a second, writes often, and
has the same bits on any ranks by any backend."""

from dataclasses import dataclass
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

RESTART = "--restart=plate-checkpoint.h5"
CHECKPOINTS = "checkpoint.every=4 checkpoint.keep=1"
# Overrides and options of the runs. The first has all outputs of its app.
RUNS = ("output.fields=final {series}", "measure.calibrate=true", CHECKPOINTS, f"{CHECKPOINTS} {RESTART}",
        "comm.backend=raw checkpoint.seconds=0.01", "comm.backend=view comm.check=cross_rank",
        "comm.backend=shm {series}", "comm.backend=raw comm.pattern=persistent comm.overlap=true",
        "comm.backend=view comm.pattern=blocking checkpoint.every=9", "comm.backend=view comm.pattern=neighborhood",
        "comm.backend=raw comm.pattern=rma")


class App(NamedTuple):
    name: str
    deck: str
    size: int  # of the run; the earlier run, whose output must survive, has twice that
    series: str = ""

    def runs(self) -> list[tuple[str, ...]]:
        return [tuple(run.format(series=self.series).split()) for run in RUNS]


APPS = {"heat": App("heat", HEAT, 24, "output.every=10"), "cg": App("cg", CG, 8)}


@dataclass(frozen=True)
class Run:
    """How a program is started."""

    app: str
    ranks: int
    overrides: tuple[str, ...]
    by_kontor: bool = False  # by scripts/kontor run, not by mpirun

    def has(self, key: str) -> bool:
        return any(override.startswith(key) for override in self.overrides)

    def without_restart(self) -> tuple[str, ...]:
        return tuple(key for key in self.overrides if not key.startswith("--restart="))


@dataclass(frozen=True)
class Case:
    number: int
    kind: str  # the class
    run: Run
    then: Run  # the run after it, in the same folder
    what: dict[str, Any]  # the disturbance: see draw.py
