# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study's folder: its lock, its state, and what killed runs and studies have left there."""

import contextlib
import errno
import fcntl
import json
import os
import socket
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, cast

from kontor.report.entries import ENTRY, entries_of_jobs
from kontor.report.text import printable

from ..messages import Failure, say
from .machine import Machine, differences
from .study import Study, flow

FORMAT = 2
LOCK = ".kontor-study-lock"
NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # Lustre without `flock`, NFS without its lock service
TRIES = 2  # of a run that fails
FREE_TO_CHANGE = ("repeats", "timeout", "launch.")  # when a study is resumed


def replace(path: Path, contents: str) -> None:
    """Writes aside, syncs, renames: under its name the file is whole, the old one or the new."""
    aside = path.with_name(f"{path.name}.tmp")
    aside.unlink(missing_ok=True)  # left by a study that was killed, or a link that somebody has put there
    try:
        with open(aside, "x", encoding="utf-8") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


class Folder:
    """Use as a context: the lock is held until its end."""

    def __init__(self, path: Path, job: Machine | None = None) -> None:
        """In a job, which has this machine, others may be at work in the folder: the lock is shared, the plan is only
        read, and each run's entry is a file of its own next to the run, which the study adopts."""
        self.path, self.job = path, job
        self.lock, self.locked = -1, False
        self.state: dict[str, Any] = {}
        self.earlier = 0  # runs that other calls have made

    @property
    def runs(self) -> list[dict[str, Any]]:
        return cast(list[dict[str, Any]], self.state["runs"])

    def __enter__(self) -> "Folder":
        try:
            (self.path / "runs").mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self.lock = os.open(self.path / LOCK, flags, 0o644)
            self.take_lock()
        except BlockingIOError as error:
            owner = printable(os.pread(self.lock, 200, 0).decode(errors="replace").strip())
            os.close(self.lock)
            raise self.error(f"another study is running in this folder{f' ({owner})' if owner else ''}; wait for it, or"
                             " -o another folder") from error
        except OSError as error:
            raise self.error(f"cannot be made or written: {error.strerror}") from error
        with contextlib.suppress(OSError):  # only tells who has it
            os.ftruncate(self.lock, 0)
            os.pwrite(self.lock, f"host {socket.gethostname()}, process {os.getpid()}\n".encode(), 0)
        return self

    def take_lock(self) -> None:
        try:
            if not _lock(self.lock, fcntl.LOCK_SH if self.job else fcntl.LOCK_EX):
                raise BlockingIOError
            self.locked = True
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            say(f"the file system of {self.path} has no locks (flock: {error.strerror}): run no other study in this"
                " folder")

    def share(self) -> None:
        """From now on jobs may be at work in the folder, and still no other study."""
        with contextlib.suppress(OSError):
            _lock(self.lock, fcntl.LOCK_SH)

    def __exit__(self, *_: object) -> None:
        os.close(self.lock)  # runs that are still ending keep it

    def error(self, message: str, code: int = 2) -> Failure:
        return Failure(f"{self.path}: {message}", code, "E-STUDY-FOLDER")

    def refuse_foreign(self, resume: bool) -> None:
        """Before anything is written."""
        path, is_study = self.path, os.path.exists(self.path / "study.json")
        if is_study and not resume:
            raise self.error("has a study already; --resume continues it, -o names another folder")
        if resume and not is_study:
            raise self.error("there is no study to resume: it has no study.json")
        if os.path.isdir(path) and not is_study:
            others = {name.name for name in path.iterdir()} - {"runs", "study.yaml", LOCK}
            if others or any((path / "runs").glob("*")):
                told = ", ".join(sorted(others)[:3]) or "runs"
                raise self.error(f"holds other files ({told}) and no study.json; -o names another folder")

    def refuse_other(self, study: Study, revision: str, machine: Machine | None) -> None:
        """The folder must be of this study, revision and machine. Says what differs."""
        before, told = self.state["values"], []
        for key in dict.fromkeys([*study.values, *before]):
            mine, its = study.values.get(key), before.get(key)
            if not key.startswith(FREE_TO_CHANGE) and mine != its and (key, mine) != ("seed", "auto"):
                told.append(f"{key} is {flow(mine)[:200]}, was {flow(its)[:200]}")
        sums = {name: deck["sha256"] for name, deck in self.state["decks"].items()}
        told += [f"{deck.path} has changed since" for deck in study.decks
                 if sums.get(deck.path, deck.sha256) != deck.sha256]
        if self.state["git_revision"] != revision:
            told.append(f"revision is {revision}, was {self.state['git_revision']}")
        known = self.state["machine"]
        told += differences(asdict(machine), known) if machine and known.get("hosts") else []
        if told:
            raise self.error("\n  ".join(["is the folder of another study; -o names another. In this study", *told]))

    def load(self) -> None:
        """Fails if the state cannot be understood."""
        try:
            state = json.loads((self.path / "study.json").read_text(encoding="utf-8"))
            if not isinstance(state, dict) or state.get("format") != FORMAT:
                raise self.error(f"study.json is not the state of a study of format {FORMAT}")
            self.state = state
        except (ValueError, RecursionError) as error:
            raise self.error(f"study.json is damaged: {str(error)[:200]}; runs are in {self.path / 'runs'}") from error

    def save(self) -> None:
        """Fails where it cannot be written; what it was before stays."""
        if self.job:
            entry = json.dumps({**self.runs[-1], "machine": asdict(self.job)}, indent=1)
            self.write(self.runs[-1]["log"].removesuffix(".log") + ENTRY, entry + "\n")
        else:
            self.write("study.json", json.dumps(self.state, indent=1) + "\n")

    def open_log(self, name: str) -> BinaryIO:
        """Of a run. A job locks it: another that was given the same runs stops there."""
        try:
            log = open(os.open(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666), "wb")
            if self.job and self.locked and not _lock(log.fileno(), fcntl.LOCK_EX):
                raise self.error(f"another job is at work on {name}; wait for it")
            log.truncate(0)
            return log
        except OSError as error:
            raise self.cannot_write(name, error) from error

    def write(self, name: str, contents: str) -> None:
        try:
            replace(self.path / name, contents)
        except OSError as error:
            raise self.cannot_write(name, error) from error

    def cannot_write(self, name: str, error: OSError) -> Failure:
        advice = "; free some space, then --resume" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else ""
        return self.error(f"{name} cannot be written: {error.strerror}; finished runs are kept in"
                          f" {self.path / 'runs'}{advice}", code=3)

    def adopt(self) -> None:
        """Adds the entries of jobs to the state in memory."""
        points = {point["id"] for point in self.state["points"]}
        for entry in entries_of_jobs(self.path, self.runs):
            machine = entry.pop("machine", None)
            if machine and not self.state["machine"].get("hosts"):
                self.state["machine"] = machine
            if entry.get("point") in points:
                self.runs.append(entry)
        self.earlier = len(self.runs)

    def attempts(self, point: str, repeat: int, begin: int = 0) -> list[dict[str, Any]]:
        return [run for run in self.runs[begin:] if run["point"] == point and run["repeat"] == repeat]

    def is_done(self, point: str, repeat: int) -> bool:
        """Passed, or failed so often in this call that it is not tried again."""
        attempts = self.attempts(point, repeat)
        failed = [run for run in self.attempts(point, repeat, self.earlier) if run["state"] == "failed"]
        passed = bool(attempts) and attempts[-1]["state"] == "passed"
        return passed or len(failed) >= TRIES or any(run["exit_code"] == 2 for run in failed)


def read_json(path: Path) -> dict[str, Any] | None:
    """None if it cannot be read, or is no object."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        read = json.loads(path.read_text(encoding="utf-8"))
        return read if isinstance(read, dict) else None
    return None


def _lock(file: int, how: int) -> bool:
    """Whether nobody else has the lock; OSError where there are none."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
