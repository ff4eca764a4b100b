# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A command that does not outlive this process, and ends when it must."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..messages import Failure, signal_name
from .mpi import Launch, left_by

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

    def __init__(self, launch: Launch, folder: Path, timeouts: Timeouts):
        self._launch, self._folder, self._timeouts = launch, folder, timeouts
        self._child: subprocess.Popen[bytes] | None = None
        self.caught = ""  # the signal that came
        self.stuck = ""  # `failed` or `done` if the launcher did not end after a rank was
        self._after, self._deadline = "", float("inf")
        self._signals = {signal.SIGCHLD, signal.SIGINT}
        for number in signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1:
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup's word holds
                self._signals.add(number)

    def run(self, words: list[str], environment: Mapping[str, str]) -> int:
        """The exit code, negative if a signal ended the command itself, and not only what it started. Raises
        OSError."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where the caller ignores it there would be no exit code
        signal.pthread_sigmask(signal.SIG_BLOCK, self._signals)  # they wait until they are asked for
        try:
            self._child = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL,
                                           preexec_fn=die_with(os.getpid(), self._signals),
                                           pass_fds=self._launch.locks)
            while self._child.poll() is None and not self.caught:
                self._wait(1)
            if self.caught:
                self._see_it_end()
            return self._child.wait()
        finally:
            while signal.sigtimedwait(self._signals, 0):
                pass  # those that came too late would end this process
            signal.pthread_sigmask(signal.SIG_UNBLOCK, self._signals)

    @property
    def was_asked_to_end(self) -> bool:
        return self.caught in ("TERM", "USR1")

    def _wait(self, seconds: float) -> None:
        """For so long at most: for a signal, or the end of the launcher; ends that when it is stuck."""
        found = signal.sigtimedwait(self._signals, seconds)
        if found and found.si_signo != signal.SIGCHLD:
            self._pass_on(found.si_signo)
        for word, its in ("failed", self._timeouts.abort), ("done", self._timeouts.finish):
            if self._after not in (word, "failed") and (self._folder / word).exists():
                self._after, self._deadline = word, time.monotonic() + its
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

    def _pass_on(self, number: int) -> None:
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
            self._wait(0.05)
        return False


def descendants(process: int) -> list[int]:
    """The processes that this one has started on this host, and those that they have started."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in file.read_text(encoding="ascii").split():
                found += [int(child), *descendants(int(child))]
    return found


def die_with(parent: int, blocked: Iterable[int] = ()) -> Callable[[], None]:
    """What the child does before it becomes the command."""
    libc = ctypes.CDLL(None)

    def prepare() -> None:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a group in the background would stop (stty tostop)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)

    return prepare
