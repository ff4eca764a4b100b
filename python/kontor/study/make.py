# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Making the runs of a plan one after another, by `kontor run`, and keeping what came of each."""

import contextlib
import ctypes
import errno
import json
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from ..messages import shown
from .decks import Deck
from .folder import Folder
from .here import Here
from .plan import Point
from .progress import Progress, now
from .tree import flow

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
KEEP = 400  # characters of a message
ENDED_EARLY = 4  # exit code of a mini-app that was told to end
WALLTIME = "walltime"  # what a run that has ended itself gives as its signal
LEAST_ROOM = 1 << 16  # bytes


def command_of(point: Point, deck: Deck, here: Here, base: str) -> list[str]:
    """The words that make a run; its files are BASE.h5 and BASE.json."""
    words = [shown(here.kontor), "run", shown(deck.file), "-n", str(point.ranks)]
    for key, value in point.set.items():
        words += ["--set", f"{key}={flow(value)}"]
    return [*words, "-o", f"{base}.h5", "--results", f"{base}.json"]


def variables_of(point: Point) -> dict[str, str]:
    """What the launcher is told by the environment."""
    told = {"OMP_NUM_THREADS": str(point.threads)}
    if point.ranks_per_node:
        told["KONTOR_RANKS_PER_NODE"] = str(point.ranks_per_node)
    return told


def shown_command(point: Point, deck: Deck, here: Here, base: str) -> str:
    variables = " ".join(f"{name}={value}" for name, value in variables_of(point).items())
    return f"{variables} {shlex.join(command_of(point, deck, here, base))}"


class Interrupted(Exception):
    """A signal has ended the study."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name.removeprefix("SIG"))
        self.number = number


class Maker:
    """Use as a context: signals are passed on to the run under way, which is then "ended early"."""

    def __init__(self, folder: Folder, decks: dict[str, Deck], here: Here, progress: Progress, timeout: int,
                 revision: str | None) -> None:
        """`revision`: the only one that records may be of; None: any."""
        self.folder, self.decks, self.here, self.progress = folder, decks, here, progress
        self.timeout, self.revision = timeout, revision
        self.child: subprocess.Popen[bytes] | None = None
        self.caught = 0
        self.before: dict[int, Any] = {}

    def __enter__(self) -> "Maker":
        for number in SIGNALS:
            self.before[number] = signal.signal(number, self.pass_on)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def pass_on(self, number: int, _: object) -> None:
        self.caught = self.caught or number
        self.end_child(signal.SIGINT if number in (signal.SIGINT, signal.SIGHUP) else signal.SIGTERM)

    def end_child(self, number: int) -> None:
        """kontor run ends all ranks, at TERM with time to write what they have; at a second signal at once."""
        if self.child and self.child.poll() is None:
            self.child.send_signal(number)

    def make(self, order: list[tuple[Point, int]]) -> None:
        """Raises Interrupted after a signal, and StudyError if the state cannot be kept."""
        self.progress.begin(order)
        for point, repeat in order:
            while not self.folder.is_done(point.id, repeat):
                if self.caught:
                    raise Interrupted(self.caught)
                attempt = 1 + len(self.folder.attempts(point.id, repeat))
                self.progress.starts(point, repeat, attempt)
                run = self.one(point, repeat, attempt)
                self.refuse_full(run)
                self.folder.runs.append(run)
                self.folder.save()
                self.progress.ended(point, run, self.folder.is_done(point.id, repeat))
                if self.caught:
                    raise Interrupted(self.caught)

    def one(self, point: Point, repeat: int, attempt: int) -> dict[str, Any]:
        name = f"runs/{point.id}-r{repeat}{f'-a{attempt}' if attempt > 1 else ''}"
        base = self.folder.path / name
        for suffix in (".json", ".h5", ".log"):
            base.with_name(base.name + suffix).unlink(missing_ok=True)
        words = command_of(point, self.decks[point.deck], self.here, str(base))
        started, begin, late = now(), time.monotonic(), False
        try:
            with open(f"{base}.log", "wb") as log:
                code, late = self.launch(words, point, log)
        except OSError as error:
            raise self.folder.cannot_write(f"{name}.log", error) from error
        record = read_json(Path(f"{base}.json"))
        run = {"point": point.id, "repeat": repeat, "attempt": attempt, "state": "failed", "exit_code": code, "message": "",
               "record": f"{name}.json" if record is not None else None, "result": f"{name}.h5" if Path(f"{base}.h5").exists() else None,
               "log": f"{name}.log", "started": started,
               "seconds": round(time.monotonic() - begin, 3)}
        self.judge(run, record, Path(f"{base}.log"), late)
        return run

    def refuse_full(self, run: dict[str, Any]) -> None:
        """A run that failed on a full disk is not the run's fault: it is not counted, and the study ends."""
        room = os.statvfs(self.folder.path)
        if run["state"] == "failed" and room.f_bavail * room.f_frsize < LEAST_ROOM:
            raise self.folder.cannot_write(run["log"], OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def launch(self, words: list[str], point: Point, log: Any) -> tuple[int, bool]:
        """The exit code, and whether the time was up."""
        late = False
        self.child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                                      env=self.here.environment(**variables_of(point)), preexec_fn=_end_with_parent,
                                      pass_fds=(self.folder.lock,))
        if self.caught:
            self.end_child(signal.SIGINT)
        try:
            code = self.child.wait(self.timeout)
        except subprocess.TimeoutExpired:
            late = True
            self.end_child(signal.SIGINT)
            code = self.child.wait()
        self.child = None
        return (code if code >= 0 else 128 - code), late

    def judge(self, run: dict[str, Any], record: dict[str, Any] | None, log: Path, late: bool) -> None:
        """The state of a run and why it is so."""
        if late:
            run["message"] = f"took longer than timeout, {self.timeout} s"
        elif run["exit_code"] == ENDED_EARLY and (record or {}).get("end_signal") == WALLTIME:  # and the rest of the study is not
            run.update(exit_code=2, message="ended by its deck's checkpoint.walltime before the last repeat; raise or remove it: "
                                            "a study times whole repeats")
        elif run["exit_code"] == ENDED_EARLY or (record is not None and record.get("ended_early")):
            run.update(state="ended early", message=f"ended by signal {(record or {}).get('end_signal', 'TERM')}")
            self.caught = self.caught or signal.SIGTERM  # so will be all that follow
        elif run["exit_code"] == 0 and record is not None:
            if self.revision in (None, found := record.get("git_revision")):
                run["state"] = "passed"
            else:
                run.update(exit_code=2, message=f"the program is of revision {found}, the study of {self.revision}; --allow-mixed takes it all the same")
        elif self.caught and run["exit_code"] != 1:
            run.update(state="ended early", message=f"ended by signal {signal.Signals(self.caught).name.removeprefix('SIG')}")
        elif run["exit_code"] == 1 and record is not None:
            verification = record.get("verification", {})
            run["message"] = f"verification failed: {verification.get('error')}, tolerance {verification.get('tolerance')}"
        elif run["exit_code"] == 0:
            run.update(exit_code=3, message=f"left no record; {last_words(log)}")
        else:
            run["message"] = last_words(log)


def last_words(log: Path) -> str:
    """What a failed program said at last, in one line."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip() and not line.startswith("---")]
    return " / ".join(said[-3:])[-KEEP:]


def read_json(path: Path) -> dict[str, Any] | None:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return read if isinstance(read, dict) else None
    except (OSError, ValueError):
        return None


def _end_with_parent() -> None:
    """In the child: where this process is killed, the kernel tells the run (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
