# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor predict: from its arguments to its exit code."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import yaml
from kontor.messages import Failure, say
from kontor.place import Place
from kontor.study.machine import describe_machine
from kontor.study.plan import Point, make_plan
from kontor.study.study import read_study

from . import cg, heat, matmul
from .compare import Row, measured_seconds, table
from .machine import Machine, read_machine
from .measured import machine_values, rates_of, read_records
from .prediction import Prediction
from .simulate import simulate

DESCRIPTION = "Predicts the times of a study's runs on a described machine by a model, and by simulation if requested."
EPILOG = """Exit codes: 0, 2 bad study, machine or usage, 3 a simulation failed. lab/model/README.md has the model,
its sources and its accuracy; lab/model/machines/ has machines."""
MODELS = {"heat": heat.predict, "cg": cg.predict, "matmul": matmul.predict}


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kontor predict", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("study", metavar="STUDY.yaml", nargs="?", help="the study with the decks and sizes")
    parser.add_argument("--machine", metavar="FILE", help="the machine: lab/model/machines/*.yaml, or a file of --write-machine")
    parser.add_argument("--ranks", metavar="N,N,...", help="numbers of ranks, instead of those of the study")
    parser.add_argument("--records", metavar="PATH", nargs="+", default=[],
                        help="records of runs on few ranks (JSON of --results, or a study's folder): times of kernels, instead of those in the machine's file")
    parser.add_argument("--up-to", metavar="RANKS", type=int, help="use times of kernels only from records of at most so many ranks")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="override a key of the study: --set set.solver.max_sweeps=10")
    parser.add_argument("--measured", metavar="FOLDER", help="a study's folder: adds its measured times to the table")
    parser.add_argument("--simulate", metavar="FOLDER", help="run the points under SimGrid as well (preset smpi); records go to FOLDER")
    parser.add_argument("--json", metavar="FILE", help="write the table as JSON")
    parser.add_argument("--write-machine", metavar="FILE", help="write the machine that the records were made on, and stop")
    arguments = parser.parse_args(words)
    if arguments.write_machine and not arguments.records:
        parser.error("--write-machine needs --records")
    if not arguments.write_machine and not (arguments.study and arguments.machine):
        parser.error("a study and --machine are needed")
    return arguments


def main(words: list[str]) -> int:
    """Returns the exit code."""
    try:
        return act(parse_arguments(words), Place.here())
    except Failure as error:
        say(str(error))
        return error.code
    except OSError as error:
        print(f"kontor: {error.filename}: {error.strerror}", file=sys.stderr)
        return 3


def act(arguments: argparse.Namespace, place: Place) -> int:
    records = read_records(arguments.records) if arguments.records else []
    if arguments.write_machine:
        write_machine(Path(arguments.write_machine), records, arguments.up_to)
        return 0
    machine = read_machine(arguments.machine)
    machine.rates.update(rates_of(records, arguments.up_to))
    study = read_study(arguments.study, [*arguments.set, *ranks_of(arguments.ranks)], place)
    decks = {deck.path: deck for deck in study.decks}
    for deck in study.decks:
        if deck.schema is None:
            raise Failure(f"{deck.app} is not built yet, so nobody knows the defaults of {deck.path}; run 'kontor build' first")
    points = make_plan(study, describe_machine(place))
    rows = []
    for point in points:
        deck = decks[point.deck]
        row = Row(point, predict(point, lambda key, deck=deck, point=point: deck.value(key, point.set), machine))
        if arguments.measured:
            row.measured = measured_seconds(Path(arguments.measured), point)
        if arguments.simulate:
            row.simulated = simulate(machine.for_ranks(point.ranks), point, deck, Path(arguments.simulate), place)
        rows.append(row)
    print(table(rows, machine, study["kind"] == "weak"))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"machine": machine.name, "study": study["study"], "points": [row.plain() for row in rows]}, indent=2) + "\n",
                                        encoding="utf-8")
    return 0


def ranks_of(text: str | None) -> list[str]:
    """As overrides of the study."""
    if text is None:
        return []
    words = text.split(",")
    if not all(word.strip().isdigit() and int(word) > 0 for word in words):
        raise Failure(f"--ranks is '{text}'; allowed are whole numbers from 1, as in --ranks 64,1024")
    return [f"ranks=[{text}]"]


def predict(point: Point, value: Any, machine: Machine) -> Prediction:
    machine.require_ranks(point.ranks)
    if point.app not in MODELS:
        raise Failure(f"{point.deck}: app '{point.app}' has no model; there are {', '.join(MODELS)}")
    found = MODELS[point.app](value, point.ranks, machine.for_ranks(point.ranks))
    if machine.ranks_of_core(point.ranks) > 1:
        found.remarks.append(f"oversubscribed: {point.ranks} ranks take turns on {machine.cores} cores of a node; what changing from one to "
                             "another takes is not in the model")
    return found


def write_machine(path: Path, records: list[dict[str, Any]], up_to: int | None) -> None:
    values = machine_values(records, path.stem, up_to)
    path.write_text(yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=120), encoding="utf-8")
    read_machine(str(path))
