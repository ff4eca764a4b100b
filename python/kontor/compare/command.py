# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor compare: times every method on the exchange of a deck, then whole runs by the best of them, in turns."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from ..build.setup import Build
from ..messages import Failure, exit_code, say, shown
from ..place import Place
from ..report.record import Record, read_record
from ..report.study import read_study
from ..run.inputs import app_of
from ..study.command import main as study
from .methods import KEYS, Method, exchange_of, timed, to_run
from .result import Comparison, Timed

NO_EXCHANGE = {"pingpong": "it measures methods itself", "kernels": "it has no exchange"}
EPILOG = """The trial is one run with comm.backend, pattern, packing and path on auto. The deck's own method and the
fastest of each backend then run whole, in an order that is shuffled for each round. FOLDER keeps the runs, and
compare.json; the same command resumes what was interrupted. Exit codes: as those of `kontor study`."""


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kontor compare", epilog=EPILOG, allow_abbrev=False,
                                     description="Finds the communication method that suits a deck on this machine.")
    add = parser.add_argument
    add("deck", metavar="DECK.yaml", help="the deck; or the compare.json of an earlier call, to show it again")
    add("-n", "--ranks", type=int, metavar="RANKS", help="number of ranks (default: as of kontor run)")
    add("--rounds", type=int, default=5, metavar="N", help="whole runs of each method (default: 5; at least 4 show a "
        "significant difference)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of the deck; "
        "--set comm.trial=SECONDS: time that an exchange tries methods (default here: 1)")
    add("-o", "--output", metavar="FOLDER", help="where results go (default: compare-<deck>, here)")
    add("--plot", metavar="OUT.svg", help="the chart, as SVG")
    found = parser.parse_args(words)
    if found.rounds < 1 or found.ranks is not None and found.ranks < 1:
        parser.error("-n and --rounds are whole numbers from 1")
    return found


def main(words: list[str]) -> int:
    """Returns the exit code."""
    arguments, code = parse_arguments(words), 0
    found: Comparison | None = None
    if arguments.deck.endswith(".json"):
        found = Comparison.read(arguments.deck)
    else:
        found, code = compare(arguments, Place.here())
    if found:
        print(found.text, end="")
        if arguments.plot:
            from ..report.draw import chart_svg
            Path(arguments.plot).write_bytes(chart_svg(found.chart))
    return code


def compare(arguments: argparse.Namespace, place: Place) -> tuple[Comparison | None, int]:
    """The result, or none if runs failed, and the exit code."""
    deck = arguments.deck
    if not os.path.isfile(deck):
        raise Failure(f"{deck}: cannot read the deck: no such file", error_id="E-FILE-READ")
    Build(place, os.environ).ensure("kontor_deck")
    app = app_of(deck, place)
    if app in NO_EXCHANGE:
        raise Failure(f"{deck}: {app} cannot be compared by its methods: {NO_EXCHANGE[app]}")
    Build(place, os.environ).ensure(app)
    folder = Path(arguments.output or f"compare-{Path(deck).stem}")
    trial, runs = folder / "trial.json", folder / "runs"
    own, asked = resolved(place, app, deck, arguments.set), resolved(place, app, deck, trial_of(arguments.set))
    if not trial.exists():
        if code := run_trial(arguments, place, trial):
            return None, code
    record = read_record(str(trial))
    if comparable(record.deck) != asked or arguments.ranks not in (None, record.run["ranks"]):
        raise Failure(f"{folder}: holds a comparison of another deck, --set or -n; -o names another folder")
    exchanges = timed(json.loads(trial.read_text(encoding="utf-8")).get("candidates", []))
    method = Method.of(own["comm"])
    if not exchanges:
        raise Failure(f"{deck}: one method alone is possible here ({method.words}); with more ranks there may be"
                      " others", error_id="E-COMM-BACKEND")
    write_study(arguments, folder / "study.yaml", record, to_run(method, exchanges))
    code = study([str(folder / "study.yaml"), "-o", str(runs), *(["--resume"] if runs.exists() else [])])
    if code not in (0, 1) or not (runs / "study.json").exists():
        return None, code
    found = result(deck, record, exchanges, method, str(runs))
    found.write(folder / "compare.json")
    return found, code


def trial_of(settings: list[str]) -> list[str]:
    """These, and those by which a run tries all methods."""
    return ["comm.trial=1", *settings, *(f"comm.{key}=auto" for key in KEYS), "output.fields=none"]


def resolved(place: Place, app: str, deck: str, settings: list[str]) -> dict[str, Any]:
    """The deck with these settings and every default."""
    words = [str(place.program(app)), deck, "--print-deck", *(f"--set={each}" for each in settings)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{deck}: {done.stderr.strip()}")
    return comparable(done.stdout)


def comparable(deck: str) -> dict[str, Any]:
    """Without the names of files."""
    return {key: value for key, value in yaml.safe_load(deck).items() if key != "output"}


def run_trial(arguments: argparse.Namespace, place: Place, trial: Path) -> int:
    """One run that tries all methods, whose record is there when it has ended well. Returns the exit code."""
    folder, log = trial.parent, trial.with_suffix(".log")
    if folder.exists() and any(not file.name.startswith("trial.") for file in folder.iterdir()):
        raise Failure(f"{folder}: holds other files, and no comparison; -o names another folder")
    folder.mkdir(parents=True, exist_ok=True)
    say(f"compare: one run that tries all methods ({shown(log)})")
    part = trial.with_suffix(".part.json")
    ranks = ["-n", str(arguments.ranks)] if arguments.ranks else []
    settings = [f"--set={each}" for each in trial_of(arguments.set)]
    words = [str(place.kontor), "run", arguments.deck, *ranks, *settings, "-o", str(trial.with_suffix(".h5")),
             "--results", str(part)]
    with open(log, "wb") as file:
        done = subprocess.run(words, stdout=file, check=False)
    if done.returncode == 0:
        part.rename(trial)
    elif lines := log.read_text(encoding="utf-8", errors="replace").strip().splitlines():
        say(f"compare: that run failed: {lines[-1]}")
    return exit_code(done.returncode)


def write_study(arguments: argparse.Namespace, path: Path, record: Record, methods: list[Method]) -> None:
    columns = {key: [method.settings[key] for method in methods] for key in methods[0].settings}
    given = (each.partition("=") for each in arguments.set)
    overrides = {key: yaml.safe_load(value) for key, _, value in given if key not in columns}
    values = {"study": "compare", "deck": os.path.abspath(arguments.deck), "kind": "compare",
              "ranks": record.run["ranks"], "set": overrides, "zip": columns, "repeats": arguments.rounds,
              "baseline": methods[0].settings}
    path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")


def result(deck: str, record: Record, exchanges: dict[Method, float], own: Method, runs: str) -> Comparison:
    made = read_study(runs)
    points = {Method.of({key: point.factors[f"comm.{key}"] for key in KEYS}): point for point in made.measured}
    found = []
    for method in dict.fromkeys([own, *exchanges]):
        point = points.get(method)
        records = point.records if point else []
        shares = [each.exchange_share for each in records if each.exchange_share is not None]
        found.append(Timed(method._asdict(), exchange_of(method, exchanges), point.sample if point else [],
                           sorted(shares)[len(shares) // 2] if shares else None))
    return Comparison(deck, record.app, int(record.run["ranks"]), record.hosts, str(record.run.get("started", "")),
                      str(record.run.get("git_revision", "")), made.disturbed, found)
