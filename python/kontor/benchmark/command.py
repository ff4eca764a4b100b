# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor benchmark: runs ten decks as a study and packs records, report and a description of the machine."""

from __future__ import annotations

import argparse
import csv
import os
import platform
import re
import subprocess
import tarfile
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from ..messages import said
from ..place import Place
from ..report.parts import Section, Table
from ..report.study import Point, read_study
from ..report.text import percent, quantity, text
from ..study.command import main as study
from ..study.machine import describe_machine

STUDY = "inputs/studies/benchmark.yaml"
HEAD = ["deck", "figure", "unit", "median", "least", "most", "fraction", "runs"]
KEPT = ("study.yaml", "study.json", "study.csv", "benchmark.csv", "report.md", "machine.txt")
SAY = (("uname", "-a"), ("lscpu",), ("free", "-b"), ("numactl", "--hardware"), ("nvidia-smi",), ("rocm-smi",),
       ("mpirun", "--version"), ("ompi_info", "--parsable"))
SETTINGS = re.compile("(CUDA|FI|HIP|KOKKOS|KONTOR|MPICH|NCCL|OMP|OMPI|ROCR|SLURM|UCX)_")  # names of variables to tell
EPILOG = """The decks are the study inputs/studies/benchmark.yaml; docs/benchmark.md describes them. FOLDER keeps the
runs, and FOLDER.tar.gz is what to send. The same command makes the missing runs of an interrupted benchmark. Exit
codes: as those of `kontor study`."""


def parse_arguments(words: list[str], names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kontor benchmark", epilog=EPILOG, allow_abbrev=False,
                                     description="Runs the benchmark's decks and packs their results.")
    add = parser.add_argument
    add("decks", metavar="DECK", nargs="*", help=f"only these decks: {' '.join(names)}")
    add("-n", "--ranks", type=int, metavar="RANKS", help="number of ranks, from 2 (default: the cores; of a build for"
        " GPUs, the GPUs)")
    add("--rounds", type=int, metavar="N", help="runs of each deck, in shuffled turns (default: 5)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of the study")
    add("--reduced", action="store_true", help="tiny sizes, to try the command; the figures mean nothing")
    add("--submit", action="store_true", help="write and submit job scripts; once the jobs have ended, the same "
        "command without this option packs the results")
    add("-o", "--output", metavar="FOLDER", help="where results go (default: benchmark-<host>, here)")
    found = parser.parse_args(words)
    if unknown := sorted(set(found.decks) - set(names)):
        parser.error(f"{unknown[0]} is no deck of the benchmark; there are {' '.join(names)}")
    if found.ranks is not None and found.ranks < 2 or found.rounds is not None and found.rounds < 1:
        parser.error("-n is a whole number from 2, --rounds one from 1")
    return found


def main(words: list[str]) -> int:
    """Returns the exit code."""
    place = Place.here()
    decks = {Path(deck).stem: deck for deck in yaml.safe_load((place.root / STUDY).read_text("utf-8"))["deck"]}
    arguments = parse_arguments(words, list(decks))
    folder = Path(arguments.output or f"benchmark-{platform.node()}")
    code = study(study_words(arguments, decks, folder, place))
    if arguments.submit or code not in (0, 1, 3) or not (folder / "study.json").exists():
        return code
    found = read_study(str(folder))
    table = write_table(found.points, folder / "benchmark.csv")
    print(text(Section(f"Benchmark in {folder}", [table, *filter(None, [found.disturbed])])), end="")
    describe(folder, place)
    print(f"{pack(folder)} has records, report and machine")
    return code


def study_words(arguments: argparse.Namespace, decks: dict[str, str], folder: Path, place: Place) -> list[str]:
    """Of `kontor study`, which resumes what is in the folder."""
    settings = [*([f"repeats={arguments.rounds}"] if arguments.rounds else []), *arguments.set]
    options = ["--submit"] if arguments.submit else []
    if arguments.decks:
        options += [f"--only=deck={decks[name]}" for name in arguments.decks]
    if (folder / "study.json").exists():
        return [str(folder), "--resume", *(f"--set={each}" for each in settings), *options]
    machine = describe_machine(place)
    on_gpus = machine.gpus and place.setting("KONTOR_REQUIRE_CUDA") == "ON"
    ranks = arguments.ranks or max(2, len(machine.gpus) if on_gpus else machine.cores)
    settings = [f"ranks={ranks}", *(["gpus_per_rank=1"] if on_gpus else []), *settings]
    if arguments.reduced:
        options.append("--reduced")
    return [str(place.root / STUDY), "-o", str(folder), *(f"--set={each}" for each in settings), *options]


def write_table(points: list[Point], path: Path) -> Table:
    """The first figure of each deck: its values over the runs, in the file in base units."""
    rows: list[list[Any]] = []
    for point in points:
        if not point.runs:  # of a deck that is not selected
            continue
        name = Path(str(point.factors["deck"])).stem if "deck" in point.factors else point.id
        runs = f"{len(point.records)} of {len(point.runs)}"
        figures = [record.figures[0] for record in point.records if record.figures]
        if not figures:
            rows.append([name, *[None] * 6, runs])
            continue
        values = [figure["value"] for figure in figures]
        fractions = [figure["fraction"] for figure in figures if "fraction" in figure]
        rows.append([name, figures[0]["name"], figures[0].get("unit", ""), median(values), min(values), max(values),
                     median(fractions) if fractions else None, runs])
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *rows])
    return Table(["deck", "figure", "median", "least", "most", "of attainable", "runs passed"],
                 [[name, figure, *(f"{value:.3f}" if unit == "1" else quantity(value, unit) for value in found),
                   percent(fraction), runs] for name, figure, unit, *found, fraction, runs in rows])


def describe(folder: Path, place: Place) -> None:
    """The machine and the report, beside the runs."""
    told = "".join(f"$ {' '.join(words)}\n{output}\n" for words in SAY if (output := said(*words, seconds=20)))
    told += "".join(f"{name}={value}\n" for name, value in sorted(os.environ.items()) if SETTINGS.match(name))
    (folder / "machine.txt").write_text(told, encoding="utf-8")
    with (folder / "report.md").open("wb") as file:
        subprocess.run([place.kontor, "report", str(folder)], stdout=file, check=False)


def pack(folder: Path) -> Path:
    """Results of fields and HDF5 files stay in the folder."""
    archive = folder.with_name(f"{folder.name}.tar.gz")
    with tarfile.open(archive, "w:gz") as file:
        runs = [path for path in sorted(folder.glob("runs/*")) if path.suffix in (".json", ".log")]
        for path in [*(folder / name for name in KEPT), *runs]:
            if path.exists():
                file.add(path, f"{folder.name}/{path.relative_to(folder)}")
    return archive
