# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The jobs of a study: which of the missing runs share one, and what that needs."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kontor.report.text import counted, grouped

from .plan import Point

Missing = list[tuple[Point, int]]  # points and repeats


def _size(point: Point) -> str:
    shown = (("n", point.nodes, point.ranks_per_node), ("r", point.ranks, True),
             ("t", point.threads, point.threads > 1), ("g", point.gpus, point.gpus))
    return "-".join(f"{letter}{number}" for letter, number, is_shown in shown if is_shown)


# By launch.jobs, the name of a point's job, such as p003, n2-r8 or all.
NAMES: dict[str, Callable[[Point], str]] = {"point": lambda point: point.id, "size": _size, "study": lambda _: "all"}


@dataclass
class Job:
    name: str
    points: list[Point]
    runs: Missing

    @property
    def largest(self) -> Point:
        """The point that needs most; that it has enough GPUs for all, too."""
        return max(self.points, key=lambda point: (point.nodes, point.ranks * point.threads, point.gpus))

    @property
    def gpus(self) -> int:
        return max(point.gpus for point in self.points)

    @property
    def ranks_per_node(self) -> int:
        return min(self.largest.ranks, self.largest.ranks_per_node or self.largest.ranks)

    def seconds(self, launch: dict[str, Any], timeout: int) -> int:
        """The time limit. Runs without an estimate may take their timeout."""
        if launch["time"] != "auto":
            return seconds_of(str(launch["time"]))
        most = sum(timeout if point.estimate_seconds is None else 2 * point.estimate_seconds for point, _ in self.runs)
        return max(600, 300 * math.ceil((most + int(launch["warn"])) / 300))

    def words(self) -> str:
        one = self.largest
        nodes = f"{counted(one.nodes, 'node')}, " if one.ranks_per_node else ""
        return (f"{counted(len(self.runs), 'run')} of {counted(len(self.points), 'point')} on {nodes}"
                f"{counted(one.ranks, 'rank')}{f' of {one.threads} threads' if one.threads > 1 else ''}"
                f"{f', {self.gpus} GPUs' if self.gpus else ''}")


def jobs_of(missing: Missing, how: str) -> list[Job]:
    """The smallest first, so that the queue has something early."""
    in_order = sorted(missing, key=lambda item: (item[0].nodes, item[0].ranks, item[0].threads, item[0].id))
    return [Job(name, list({point.id: point for point, _ in runs}.values()), runs)
            for name, runs in grouped(in_order, lambda item: NAMES[how](item[0])).items()]


def seconds_of(limit: str) -> int:
    """A time limit as Slurm reads it: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS."""
    days, dash, rest = limit.rpartition("-")
    numbers = [int(number) for number in rest.split(":")]
    if dash:
        hours, minutes, seconds = (numbers + [0, 0])[:3]
    else:
        hours, minutes, seconds = [0, *numbers, 0][-3:] if len(numbers) == 1 else [0, *numbers][-3:]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def clock(seconds: int) -> str:
    """HH:MM:SS."""
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
