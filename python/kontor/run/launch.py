# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a program is started on its ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Launch:
    words: list[str]  # that start it, before its own
    environment: dict[str, str] = field(default_factory=dict)  # variables that its ranks have besides
    without: list[str] = field(default_factory=list)  # the names of those that it must not have
    end_signal: str = "TERM"  # by which ranks end by themselves: USR1 if the launcher passes it on; TERM may kill them
    locks: list[int] = field(default_factory=list)  # descriptors that all that it starts keep open

    def place_threads(self, threads: int, own_cores: bool, environment: Mapping[str, str]) -> None:
        """Where a rank's threads run, unless the user has said it. Where ranks share cores, threads are not bound:
        those of the same number would be, all to the same core."""
        if any(environment.get(name) for name in ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY")):
            return
        bound, free = {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}, {"OMP_PROC_BIND": "false"}
        self.environment |= bound if own_cores and threads > 1 else free
