# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A command that does not outlive this process, and ends when it must."""

from __future__ import annotations

import ctypes
import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ..messages import Failure, signal_name
from .mpi import Launch, left_by
from .run_folder import RunFolder

GRACE = 5  # seconds from TERM to KILL
PR_SET_PDEATHSIG = 1
NUMBERS = {name: signal.Signals[f"SIG{name}"] for name in ("HUP", "INT", "TERM", "USR1", "KILL")}


@dataclass(frozen=True)
class Timeouts:
    """Seconds that a launcher has to end: by itself when asked, after a rank has failed, after one is done; large jobs
    may use some."""

    end: int
    abort: int
    finish: int

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Timeouts:
        found = []
        for name, default in ("KONTOR_END_SECONDS", 60), ("KONTOR_ABORT_SECONDS", 10), ("KONTOR_FINISH_SECONDS", 60):
            text = environment.get(name) or str(default)
            if not re.fullmatch("[0-9]{1,6}", text):
                raise Failure(f"run: {name} is '{text}'; allowed is a whole number of seconds")
            found.append(int(text))
        return cls(*found)


class Supervised:
    """If HUP, INT, TERM or USR1 reach this process, the command is ended first. TERM and USR1, which schedulers send
    before a time limit, ask the command to end by itself, by the signal of its launch. HUP and INT end it, by TERM: it
    is what launchers pass on to ranks, while mpirun dies of HUP alone and srun takes one INT for a question. A process
    group of its own sees to it that a terminal's Ctrl-C comes once, through us. KILL cannot be passed on; there the
    kernel sends TERM."""

    def __init__(self, launch: Launch, folder: RunFolder, timeouts: Timeouts):
        self._launch, self._folder, self._timeouts = launch, folder, timeouts
        self._child: subprocess.Popen[bytes] | None = None
        self.caught = ""  # the signal that came
        self.stuck = ""  # `failed` or `done` if the launcher did not end after a rank was
        self._after, self._deadline = "", float("inf")

    def run(self, words: list[str], environment: Mapping[str, str]) -> int:
        """The exit code, negative if a signal ended the command itself, and not only what it started. Raises
        OSError."""
        wake, waker = os.pipe()
        os.set_blocking(waker, False)
        before = {name: signal.getsignal(NUMBERS[name]) for name in ("HUP", "INT", "TERM", "USR1")}
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # it wakes
        for name, handler in before.items():
            if handler != signal.SIG_IGN or name == "INT":  # nohup's word holds
                signal.signal(NUMBERS[name], self._pass_on)
        try:
            self._child = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL,
                                           preexec_fn=die_with(os.getpid()), pass_fds=self._launch.locks)
            if self.caught:
                self._ask_to_end()  # it came before the child was known
            while self._child.poll() is None and not self.caught:
                self._wait([wake], max(0.0, min(self._deadline - time.monotonic(), 3600)))
            if self.caught:
                self._see_it_end()
            return self._child.wait()
        finally:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for name, handler in before.items():
                signal.signal(NUMBERS[name], handler)
            os.close(wake)
            os.close(waker)

    @property
    def was_asked_to_end(self) -> bool:
        return self.caught in ("TERM", "USR1")

    def _wait(self, wake: list[int], seconds: float) -> None:
        """For so long at most: for a signal, or word of a rank; and ends the launcher when it is stuck."""
        ready, _, _ = select.select([self._folder.words, *wake], [], [], seconds)
        for descriptor in ready:
            if descriptor in wake:
                os.read(descriptor, 4096)
        for word in self._folder.read_words():  # every rank may write a line
            if word == "failed" and self._after != "failed":
                self._after, self._deadline = "failed", time.monotonic() + self._timeouts.abort
            elif not self._after:
                self._after, self._deadline = "done", time.monotonic() + self._timeouts.finish
        if time.monotonic() >= self._deadline and self._child and self._child.poll() is None:
            self.stuck, self._deadline = self._after, float("inf")
            self._end_stuck(self._child.pid)

    def _end_stuck(self, launcher: int) -> None:
        """At TERM, Open MPI waits for the host, too, or crashes; and its remote shells have process groups of their
        own."""
        children = descendants(launcher)
        self._end_group("KILL")
        for child in children:
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
        for folder in left_by(launcher, os.environ):
            shutil.rmtree(folder, ignore_errors=True)

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        """The second signal is that of an impatient user; but a scheduler may send both of its own."""
        name = signal_name(128 + number)
        if not self.caught:
            self.caught = name
            self._ask_to_end()
        elif "USR1" not in (name, self.caught):
            self._end_group("KILL")

    def _ask_to_end(self) -> None:
        self._end_group(self._launch.end_signal if self.was_asked_to_end else "TERM")

    def _end_group(self, name: str) -> None:
        if self._child:
            with suppress(OSError):
                os.killpg(self._child.pid, NUMBERS[name])

    def _see_it_end(self) -> None:
        if self.was_asked_to_end and not self._is_gone_within(self._timeouts.end):
            self._end_group("TERM")
        if not self._is_gone_within(GRACE):
            self._end_group("KILL")

    def _is_gone_within(self, seconds: int) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self._child
            self._child.poll()
            try:
                os.killpg(self._child.pid, 0)
            except OSError:
                return True
            self._wait([], 0.05)
        return False


def descendants(process: int) -> list[int]:
    """The processes that this one has started on this host, and those that they have started."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in file.read_text(encoding="ascii").split():
                found += [int(child), *descendants(int(child))]
    return found


def die_with(parent: int) -> Callable[[], None]:
    """What the child does before it becomes the command."""
    libc = ctypes.CDLL(None)

    def prepare() -> None:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a group in the background would stop (stty tostop)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return prepare
