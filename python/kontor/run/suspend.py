# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Suspension by Ctrl-Z. A terminal signals only the process group in the foreground, and commands started here have
groups of their own: this process passes the signal on, stops itself, and lets all continue when it continues."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType


class Suspension:
    """Use as a context. `pass_on` gets SIGTSTP before this process stops and SIGCONT when it continues."""

    def __init__(self, pass_on: Callable[[int], None]):
        self._pass_on, self._stopped = pass_on, 0.0

    def __enter__(self) -> Suspension:
        self._before = signal.getsignal(signal.SIGTSTP)
        if self._before != signal.SIG_IGN:  # as in a shell without job control
            signal.signal(signal.SIGTSTP, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTSTP, self._before)

    def seconds(self) -> float:
        """Of a clock that stands still during a suspension."""
        return time.monotonic() - self._stopped

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self._pass_on(number)
        begin = time.monotonic()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._stopped += time.monotonic() - begin
        self._pass_on(signal.SIGCONT)


def descendants(process: int) -> list[int]:
    """The processes that this one has started on this host, and those that they have started."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in file.read_text(encoding="ascii").split():
                found += [int(child), *descendants(int(child))]
    return found


def signal_all(process: int, number: int) -> None:
    """To a process and its descendants."""
    for each in [process, *descendants(process)]:
        with suppress(OSError):
            os.kill(each, number)
