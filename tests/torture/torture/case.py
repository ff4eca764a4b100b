# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A case: one run that something happens to, or a batch of inputs. It is made of the campaign's seed and its own number, and of nothing else."""

import dataclasses
import random
from dataclasses import dataclass, field
from typing import Any

from .decks import KEPT, App


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

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


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
