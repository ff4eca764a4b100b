# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Making the runs of a plan one after another, by `kontor run`, and keeping what came of each."""

import contextlib
import os
import shlex
import signal
import statistics
import subprocess
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from kontor.report.text import printable

from ..messages import exit_code, say, shown, signal_name
from ..place import Place
from ..run.supervise import die_with
from .folder import Folder, read_json
from .plan import Point
from .study import Deck, Study, flow

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
KEEP = 400  # characters of a message
ENDED_EARLY = 4  # exit code of a mini-app that a signal ended early
WALLTIME = "walltime"  # what a run that has ended itself gives as its signal
Record = dict[str, Any]


def now() -> str:
    """The time, as records have it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")


def command_of(point: Point, deck: Deck, place: Place, base: str) -> list[str]:
    """The words that make a run; its files are BASE.h5 and BASE.json."""
    settings = [word for key, value in point.set.items() for word in ("--set", f"{key}={flow(value)}")]
    return [shown(place.kontor), "run", shown(deck.file), "-n", str(point.ranks), *settings,
            "-o", f"{base}.h5", "--results", f"{base}.json"]


def variables_of(point: Point) -> dict[str, str]:
    """What the launcher is told by the environment."""
    per_node = {"KONTOR_RANKS_PER_NODE": str(point.ranks_per_node)} if point.ranks_per_node else {}
    return {"OMP_NUM_THREADS": str(point.threads), **per_node}


def shown_command(point: Point, deck: Deck, place: Place, base: str) -> str:
    variables = " ".join(f"{name}={value}" for name, value in variables_of(point).items())
    return f"{variables} {shlex.join(command_of(point, deck, place, base))}"


class Interrupted(Exception):
    """A signal has ended the study."""

    def __init__(self, number: int) -> None:
        super().__init__(signal_name(128 + number))
        self.number = number


class Maker:
    """Use as a context: signals are passed on to the run under way, which is then "ended early"."""

    def __init__(self, folder: Folder, study: Study, place: Place) -> None:
        self.folder, self.decks, self.place = folder, study.decks_by_path, place
        self.timeout = study["timeout"]
        self.child: subprocess.Popen[bytes] | None = None
        self.caught = 0
        self.before: dict[int, Any] = {}

    def __enter__(self) -> "Maker":
        self.before = {number: signal.signal(number, self.pass_on) for number in SIGNALS}
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
        """Raises Interrupted after a signal, and fails if the state cannot be kept."""
        times: list[float] = []
        for number, (point, repeat) in enumerate(order, 1):
            left = timedelta(seconds=round(statistics.mean(times) * (len(order) - number))) if times else "unknown"
            while not self.folder.is_done(point.id, repeat):
                if self.caught:
                    raise Interrupted(self.caught)
                attempt = 1 + len(self.folder.attempts(point.id, repeat))
                which = f"{point.id} repeat {repeat}{f' attempt {attempt}' if attempt > 1 else ''} ({point.words()})"
                run = self.one(point, repeat, attempt)
                self.folder.runs.append(run)
                self.folder.save()
                times += [run["seconds"]] if run["state"] == "passed" else []
                again = run["state"] == "failed" and not self.folder.is_done(point.id, repeat)
                why = f", exit code {run['exit_code']}" if run["state"] == "failed" else ""
                why += (f": {run['message']}" if run["message"] else "") + ("; once more" if again else "")
                say(f"[{number}/{len(order)}] {which}: {run['state']}, {run['seconds']:.1f} s{why}; time left: {left}")
        if self.caught:
            raise Interrupted(self.caught)

    def one(self, point: Point, repeat: int, attempt: int) -> dict[str, Any]:
        name = f"runs/{point.id}-r{repeat}{f'-a{attempt}' if attempt > 1 else ''}"
        base = self.folder.path / name
        result, log = Path(f"{base}.h5"), Path(f"{base}.log")
        code, late, started, seconds = self.found(base) or self.launch(point, base)
        record = read_json(Path(f"{base}.json"))
        run = {"point": point.id, "repeat": repeat, "attempt": attempt, "state": "failed", "exit_code": code,
               "message": "", "record": f"{name}.json" if record is not None else None,
               "result": f"{name}.h5" if result.exists() else None, "log": f"{name}.log", "started": started,
               "seconds": round(seconds, 3)}
        run.update(self.outcome(code, record, log, late))
        return run

    def found(self, base: Path) -> tuple[int, bool, str, float] | None:
        """Of a run that has left its whole record, and whose study was killed before it could tell of the run: as
        launch() returns it."""
        file = Path(f"{base}.json")
        record = read_json(file) or {}
        if record.get("ended_early") or record.get("git_revision") != self.folder.state["git_revision"]:
            return None
        failed, started, seconds = record.get("verification", {}).get("passed") in (0, False), now(), 0.0
        with contextlib.suppress(KeyError, ValueError):
            begin = datetime.fromisoformat(record["started"].replace("Z", "+00:00"))
            started, seconds = record["started"], file.stat().st_mtime - begin.timestamp()
        return int(failed), False, started, seconds

    def launch(self, point: Point, base: Path) -> tuple[int, bool, str, float]:
        """The exit code, whether the time was up, when it began, and seconds."""
        words = command_of(point, self.decks[point.deck], self.place, str(base))
        started, late = now(), False
        with self.folder.open_log(f"runs/{base.name}.log") as log:
            for suffix in "json", "h5":
                Path(f"{base}.{suffix}").unlink(missing_ok=True)
            begin = time.monotonic()
            environment = {**os.environ, "KONTOR_BUILT": "1", **variables_of(point)}  # built before the first run
            self.child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                          env=environment, preexec_fn=die_with(os.getpid()),
                                          pass_fds=(self.folder.lock,))
            if self.caught:
                self.end_child(signal.SIGINT)
            try:
                self.child.wait(self.timeout)
            except subprocess.TimeoutExpired:
                late = True
                self.end_child(signal.SIGINT)
            code, seconds = self.child.wait(), time.monotonic() - begin
        self.child = None
        return exit_code(code), late, started, seconds

    def outcome(self, code: int, record: Record | None, log: Path, late: bool) -> dict[str, Any]:
        """The state of a run if it has not failed, its exit code if that is another, and why it is so."""
        known = record or {}
        revision, its = self.folder.state["git_revision"], known.get("git_revision")
        if late:
            return {"message": f"took longer than timeout, {self.timeout} s"}
        if code == ENDED_EARLY and known.get("end_signal") == WALLTIME:  # and the rest of the study is not
            return {"exit_code": 2, "message": "ended by its deck's checkpoint.walltime before the last repeat; "
                                               "raise or remove it: a study times whole repeats"}
        if code == ENDED_EARLY or known.get("ended_early"):
            self.caught = self.caught or signal.SIGTERM  # so will be all that follow
            return {"state": "ended early", "message": f"ended by signal {known.get('end_signal', 'TERM')}"}
        if code == 0 and record is not None and its != revision:
            return {"exit_code": 2, "message": f"the program is of revision {its}, the study of {revision}"}
        if code == 0 and record is not None:
            return {"state": "passed"}
        if self.caught and code != 1:
            return {"state": "ended early", "message": f"ended by signal {signal_name(128 + self.caught)}"}
        if code == 1 and record is not None:
            verification = record.get("verification", {})
            if not verification.get("conclusive", True):
                return {"message": f"verification inconclusive: {verification.get('remark')}"}
            return {"message": f"verification failed: {verification.get('error')}, "
                               f"tolerance {verification.get('tolerance')}"}
        return {"exit_code": code or 3, "message": last_words(log) if code else f"left no record; {last_words(log)}"}


def last_words(log: Path) -> str:
    """What a failed program said at last, in one line."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    said = [printable(line.strip()) for line in text.split("\n") if line.strip() and not line.startswith("---")]
    return " / ".join(said[-3:])[-KEEP:] or "no output"
