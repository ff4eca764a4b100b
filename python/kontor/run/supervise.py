# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A command that does not outlive this process, and ends when it must."""

from __future__ import annotations

import ctypes
import os
import re
import select
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ..messages import Failure, signal_name
from .mpi import Launch, left_by
from .run_folder import RunFolder
from .suspend import Suspension, descendants, signal_all

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
        def seconds(name: str, default: str) -> int:
            text = environment.get(name) or default
            if not re.fullmatch("[0-9]{1,6}", text):
                raise Failure(f"run: {name} is '{text}'; allowed is a whole number of seconds")
            return int(text)

        return cls(seconds("KONTOR_END_SECONDS", "60"), seconds("KONTOR_ABORT_SECONDS", "10"),
                   seconds("KONTOR_FINISH_SECONDS", "60"))


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
        self.lost = ""  # why stdout did not take all
        self._after, self._deadline = "", float("inf")
        self._suspension, self._output = Suspension(self._suspend), -1

    def run(self, words: list[str], environment: Mapping[str, str]) -> int:
        """The exit code, negative if a signal ended the command itself, and not only what it started. Raises
        OSError."""
        wake, waker = os.pipe()
        os.set_blocking(waker, False)
        output, into = os.pipe() if _can_fill(1) else (-1, 1)
        self._output = output
        before = {name: signal.getsignal(NUMBERS[name]) for name in ("HUP", "INT", "TERM", "USR1")}
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # it wakes
        for name, handler in before.items():
            if handler != signal.SIG_IGN or name == "INT":  # nohup's word holds
                signal.signal(NUMBERS[name], self._pass_on)
        try:
            stdin = subprocess.DEVNULL if os.isatty(0) else None  # only the group in the foreground may read it
            self._child = subprocess.Popen(words, env=environment, stdin=stdin, stdout=into,
                                           preexec_fn=die_with(os.getpid()), pass_fds=self._launch.locks)
            if output >= 0:
                os.close(into)
                os.set_blocking(output, False)
            with self._suspension:
                if self.caught:
                    self._ask_to_end()  # it came before the child was known
                while self._child.poll() is None and not self.caught:
                    self._wait([wake], max(0.0, min(self._deadline - self._suspension.seconds(), 3600)))
                if self.caught:
                    self._see_it_end()
            code = self._child.wait()
            self._relay()
            return code
        finally:
            if output >= 0:
                os.close(output)
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
        output = [self._output] if self._output >= 0 else []
        ready, _, _ = select.select([self._folder.words, *wake, *output], [], [], seconds)
        self._relay()
        for descriptor in ready:
            if descriptor in wake:
                os.read(descriptor, 4096)
        for word in self._folder.read_words():  # every rank may write a line
            if word == "failed" and self._after != "failed":
                self._after, self._deadline = "failed", self._suspension.seconds() + self._timeouts.abort
            elif not self._after:
                self._after, self._deadline = "done", self._suspension.seconds() + self._timeouts.finish
        if self._suspension.seconds() >= self._deadline and self._child and self._child.poll() is None:
            self.stuck, self._deadline = self._after, float("inf")
            self._end_stuck(self._child.pid)

    def _relay(self) -> None:
        """Passes on what has come for stdout: a launcher does not report that it could not write."""
        with suppress(BlockingIOError):
            while self._output >= 0 and (text := os.read(self._output, 1 << 16)):
                while text and not self.lost:
                    try:
                        text = text[os.write(1, text):]
                    except OSError as error:
                        self.lost = error.strerror
            self._output = -1  # its end

    def _suspend(self, number: int) -> None:
        """Launchers do not pass a suspension on, and ranks have process groups of their own."""
        if self._child:
            signal_all(self._child.pid, signal.SIGCONT if number == signal.SIGCONT else signal.SIGSTOP)

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
        end = self._suspension.seconds() + seconds
        while self._suspension.seconds() < end:
            if not self._group_lives():
                return True
            self._wait([], 0.05)
        return False

    def _group_lives(self) -> bool:
        """In a container whose first process reaps no orphans, a group whose processes have all ended stays, of
        zombies."""
        assert self._child
        self._child.poll()
        try:
            os.killpg(self._child.pid, 0)
        except OSError:
            return False
        for file in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError, ValueError):
                state, _, group = file.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:3]
                if group == str(self._child.pid) and state not in "ZX":
                    return True
        return False


def _can_fill(number: int) -> bool:
    """Whether what is written there may not fit: a file, or a device that is no terminal."""
    mode = os.fstat(number).st_mode
    return stat.S_ISREG(mode) or stat.S_ISCHR(mode) and not os.isatty(number)


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
