# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor compare: times every method on the exchange of a deck, then whole runs by the best of them, in turns."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
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
    add("--trial", type=float, default=1.0, metavar="SECONDS", help="time that an exchange tries methods (default: 1)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of the deck")
    add("-o", "--output", metavar="FOLDER", help="where results go (default: compare-<deck>, here)")
    add("--plot", metavar="OUT.svg", help="the chart, as a picture")
    found = parser.parse_args(words)
    if found.rounds < 1 or found.ranks is not None and found.ranks < 1 or not found.trial > 0:
        parser.error("-n and --rounds are whole numbers from 1, --trial is above 0")
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
            from ..report.draw import chart_svg, plot_charts
            if arguments.plot.endswith(".svg"):
                Path(arguments.plot).write_bytes(chart_svg(found.chart))
            else:
                plot_charts(found.chart.title, [found.chart], arguments.plot)
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
    folder = Path(arguments.output or f"compare-{Path(deck).stem}")
    refuse_other(arguments, folder)
    trial = folder / "trial.json"
    if not trial.exists():
        say(f"compare: one run that tries all methods ({shown(folder / 'trial.log')})")
        code = run_trial(arguments, place, trial)
        if code:
            return None, code
    record = read_record(str(trial))
    exchanges = timed(json.loads(trial.read_text(encoding="utf-8")).get("candidates", []))
    own = own_method(arguments, place, record.app)
    if not exchanges:
        raise Failure(f"{deck}: one method alone is possible here ({own.words}); with more ranks there may be others",
                      error_id="E-COMM-BACKEND")
    methods = to_run(own, exchanges)
    write_study(arguments, folder / "study.yaml", record, methods)
    runs = folder / "runs"
    code = study([str(folder / "study.yaml"), "-o", str(runs), *(["--resume"] if runs.exists() else [])])
    if code not in (0, 1) or not (runs / "study.json").exists():
        return None, code
    found = result(deck, record, exchanges, own, str(runs))
    found.write(folder / "compare.json")
    return found, code


def refuse_other(arguments: argparse.Namespace, folder: Path) -> None:
    """A trial that the folder has must be of the same request, which is kept there."""
    asked = {"deck": Path(arguments.deck).read_text(encoding="utf-8", errors="replace"), "ranks": arguments.ranks,
             "set": arguments.set, "trial": arguments.trial}
    request = folder / "request.json"
    if not (folder / "trial.json").exists():
        if folder.exists() and any(file.stem not in ("request", "trial", "trial.part") for file in folder.iterdir()):
            raise Failure(f"{folder}: holds other files, and no comparison; -o names another folder")
        folder.mkdir(parents=True, exist_ok=True)
        request.write_text(json.dumps(asked, indent=1) + "\n", encoding="utf-8")
    try:
        before = json.loads(request.read_text(encoding="utf-8"))
    except ValueError:
        before = {}
    if other := [name for name, value in asked.items() if before.get(name) != value]:
        raise Failure(f"{folder}: holds a comparison with another value of {', '.join(other)}; -o names another folder")


def run_trial(arguments: argparse.Namespace, place: Place, results: Path) -> int:
    words = [str(place.kontor), "run", arguments.deck, *(["-n", str(arguments.ranks)] if arguments.ranks else [])]
    settings = [*arguments.set, *(f"comm.{key}=auto" for key in KEYS), f"comm.trial={arguments.trial}",
                "output.fields=none"]
    words += [*(f"--set={each}" for each in settings), "--results", str(results.with_suffix(".part.json")), "-o",
              str(results.with_suffix(".h5"))]
    with open(results.with_suffix(".log"), "wb") as log:
        done = subprocess.run(words, stdout=log, check=False)
    if done.returncode == 0:
        results.with_suffix(".part.json").rename(results)
    else:
        sys.stdout.write(results.with_suffix(".log").read_text(encoding="utf-8", errors="replace"))
    return exit_code(done.returncode)


def own_method(arguments: argparse.Namespace, place: Place, app: str) -> Method:
    """What the deck says, with every default."""
    words = [str(place.program(app)), arguments.deck, "--print-deck", *(f"--set={each}" for each in arguments.set)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{arguments.deck}: {done.stderr.strip()}")
    return Method.of(yaml.safe_load(done.stdout)["comm"])


def write_study(arguments: argparse.Namespace, path: Path, record: Record, methods: list[Method]) -> None:
    columns: dict[str, list[str]] = {key: [method.settings[key] for method in methods] for key in methods[0].settings}
    overrides: dict[str, Any] = {}
    for each in arguments.set:
        key, _, value = each.partition("=")
        if not key.startswith("comm.") or key.removeprefix("comm.") not in KEYS:
            overrides[key] = yaml.safe_load(value)
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
