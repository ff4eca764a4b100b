# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a user sees while a study runs: a line that is renewed on a terminal, else a line for each run."""

import statistics
import sys
from datetime import datetime, timezone
from typing import Any

from ..messages import say
from .plan import Point


def now() -> str:
    """The time, as records have it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")


def span(seconds: float) -> str:
    """2.5 s, 40 s, 12 min, 3 h 20 min."""
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


class Progress:
    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.left: list[tuple[Point, int]] = []
        self.all = 0
        self.failed = 0
        self.measured: dict[str, list[float]] = {}

    def begin(self, order: list[tuple[Point, int]]) -> None:
        self.left, self.all = list(order), len(order)
        self.measured = {point.id: [point.estimate_seconds] for point, _ in order if point.estimate_seconds}

    def starts(self, point: Point, repeat: int, attempt: int) -> None:
        if self.terminal:
            again = "" if attempt == 1 else f", attempt {attempt}"
            failed = f", {self.failed} failed" if self.failed else ""
            which = f"[{self.all - len(self.left) + 1}/{self.all}] {point.id} repeat {repeat}{again}"
            sys.stderr.write(f"\r\033[K{which}: {point.words()}{failed}{self.time_left()}")
            sys.stderr.flush()

    def ended(self, point: Point, run: dict[str, Any], done: bool) -> None:
        if run["state"] == "passed":
            self.measured.setdefault(point.id, []).append(run["seconds"])
        self.failed += run["state"] == "failed"
        if done:
            self.left = [item for item in self.left if (item[0].id, item[1]) != (point.id, run["repeat"])]
        if self.terminal and run["state"] == "passed":
            return
        self.end()
        why = f", exit code {run['exit_code']}" if run["state"] == "failed" else ""
        why += f": {run['message']}" if run["message"] else ""
        why += "; once more" if run["state"] == "failed" and not done else ""
        again = "" if run["attempt"] == 1 else f" attempt {run['attempt']}"
        say(f"[{self.all - len(self.left)}/{self.all}] {point.id} repeat {run['repeat']}{again} ({point.words()}): "
            f"{run['state']}, {span(run['seconds'])}{why}{self.time_left()}")

    def end(self) -> None:
        if self.terminal:
            sys.stderr.write("\r\033[K")

    def time_left(self) -> str:
        """By what the same point has taken; points that were not run take what the others took."""
        known = {point: statistics.median(times) for point, times in self.measured.items()}
        if not self.left or not known:
            return "" if self.left else "; nothing left"
        mean = statistics.mean(known.values())
        return f"; {span(sum(known.get(point.id, mean) for point, _ in self.left))} left"
