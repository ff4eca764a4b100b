#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor bench: how near heat comes to the machine's own speed, and what each choice costs.

All are ratios of runs that alternate (A B C A B C ...), so that what else the machine does touches all alike.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BANDWIDTH = "inputs/heat/bandwidth.yaml"  # far larger than the caches
PLATE = "inputs/heat/plate.yaml"  # the first deck a user runs


class BenchError(Exception):
    """A run that gave no record."""


class Measure:
    """One line of the table: values by round, and what they should be: at least or at most `target`.

    `best` is the same figure of the fastest repeats of all rounds: what is left when a neighbour on a shared machine
    has slowed some rounds and not others.
    """

    def __init__(self, name, values, unit="", at_least=None, at_most=None, best=None):
        self.name, self.unit, self.at_least, self.at_most, self.best = name, unit, at_least, at_most, best
        self.values = [value for value in values if value is not None]
        self.median = statistics.median(self.values) if self.values else None

    def target(self):
        if self.at_least is not None:
            return f">= {self.at_least:g}"
        return f"<= {self.at_most:g}" if self.at_most is not None else ""

    def verdict(self):
        if self.median is None or not self.target():
            return "" if self.values else "no value"
        short = self.median < self.at_least if self.at_least is not None else self.median > self.at_most
        return "short" if short else "met"

    def row(self):
        if self.median is None:
            return [self.name, "-", "", "", self.target(), self.verdict()]
        low, high = min(self.values), max(self.values)
        return [f"{self.name}{f' [{self.unit}]' if self.unit else ''}", f"{self.median:.3f}", f"[{low:.3f} .. {high:.3f}]",
                "" if self.best is None else f"{self.best:.3f}", self.target(), self.verdict()]

    def as_json(self):
        return {"name": self.name, "unit": self.unit, "median": self.median, "values": self.values, "best": self.best,
                "target": self.target(), "verdict": self.verdict()}


class Runner:
    """Starts decks as a user does, by `kontor run`, and keeps whether all of them verified."""

    def __init__(self, folder):
        self.folder = folder
        self.unverified = []

    def __call__(self, deck, ranks, settings, must_verify=True):
        results = self.folder / "results.json"
        results.unlink(missing_ok=True)
        command = [str(ROOT / "scripts/kontor"), "run", str(ROOT / deck), "-n", str(ranks), "--quiet",
                   "-o", str(self.folder / "run.h5"), "--results", str(results)]
        for setting in settings:
            command += ["--set", setting]
        begin = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall = time.monotonic() - begin
        if done.returncode not in (0, 1) or not results.exists():
            raise BenchError(f"exit code {done.returncode} of: {' '.join(command)}\n{done.stdout}{done.stderr}".rstrip())
        record = json.loads(results.read_text())
        record["wall"] = wall
        if must_verify and done.returncode != 0:
            self.unverified.append(" ".join(command[1:]))
        return record


def seconds(record):
    return statistics.median(record["repeats"])


def fraction_of_triad(record):
    figures = record.get("figures_of_merit", {})
    figures = figures.values() if isinstance(figures, dict) else figures
    return next((figure["fraction"] for figure in figures if figure.get("fraction") is not None), None)


def ratio(above, below):
    return above / below if above and below else None


def measure(run, rounds, ranks, quick):
    size = ["problem.cells=[1024,1024]"] if quick else []
    base = [*size, "output.fields=none", "comm.backend=view", "comm.overlap=true"]
    variants = {
        "base": (BANDWIDTH, ranks, base),
        "one rank": (BANDWIDTH, 1, base),
        "raw": (BANDWIDTH, ranks, [*base, "comm.backend=raw"]),
        "no overlap": (BANDWIDTH, ranks, [*base, "comm.overlap=false"]),
        "start": (PLATE, ranks, ["solver.max_sweeps=1"]),
    }
    records = []
    for number in range(rounds):
        print(f"kontor: bench: round {number + 1} of {rounds}", file=sys.stderr)
        # One sweep does not converge: that run is only for its start.
        records.append({name: run(*variant, must_verify=name != "start") for name, variant in variants.items()})

    def each(value):
        return [value(record) for record in records]

    def time_ratio(above, below):
        return each(lambda r: ratio(seconds(r[above]), seconds(r[below])))

    def best_ratio(above, below):
        return ratio(*(min(min(record[name]["repeats"]) for record in records) for name in (above, below)))

    def triad_growth(r):
        return ratio(*(r[name].get("calibration", {}).get("triad_bandwidth") for name in ("base", "one rank")))

    speed_up = time_ratio("one rank", "base")
    return [
        Measure("bandwidth / triad of the same job", each(lambda r: fraction_of_triad(r["base"])), at_least=0.62),
        Measure(f"speed-up, 1 to {ranks} ranks", speed_up, at_least=0.925 * ranks,
                best=best_ratio("one rank", "base")),
        Measure("the same / that of triad", map(ratio, speed_up, each(triad_growth))),
        Measure("time, view / raw", time_ratio("base", "raw"), at_most=1.02, best=best_ratio("base", "raw")),
        Measure("time, overlap on / off", time_ratio("base", "no overlap"), at_most=1.01,
                best=best_ratio("base", "no overlap")),
        Measure("start to first sweep", each(lambda r: r["start"].get("start_to_first_step")), "s", at_most=0.5),
        Measure("run of one sweep, launcher included", each(lambda r: r["start"]["wall"]), "s"),
        Measure("peak memory / two fields with halos",
                each(lambda r: ratio(r["base"].get("peak_memory"), r["base"].get("field_memory"))), at_most=1.1),
    ]


def table(measures):
    rows = [["measure", "median", "range", "best", "target", "verdict"], *(measure.row() for measure in measures)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="kontor bench",
        description="Runs heat in several ways by turns and prints ratios; takes ten minutes or so. Targets are informational.",
        epilog="Exit codes: 0 all runs verified, 1 one did not, 2 bad usage, 3 a run failed.",
    )
    default = Path(os.environ.get("KONTOR_BUILD_DIR", ROOT / "build")) / "bench.json"
    parser.add_argument("-o", metavar="FILE.json", dest="output", type=Path, default=default, help="default: build/bench.json")
    parser.add_argument("-n", "--ranks", type=int, default=2, help="ranks to compare with one (default: 2)")
    parser.add_argument("--rounds", type=int, default=5, help="how often all runs take their turn (default: 5)")
    parser.add_argument("--quick", action="store_true", help="a small problem (1024 x 1024): to try things, not to publish")
    arguments = parser.parse_args()
    if arguments.rounds < 1 or arguments.ranks < 2:
        parser.error("--rounds is at least 1, --ranks at least 2")
    return arguments


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the run under way, too
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="kontor-bench-") as folder:
        run = Runner(Path(folder))
        try:
            measures = measure(run, arguments.rounds, arguments.ranks, arguments.quick)
        except BenchError as error:
            print(f"kontor: bench: {error}", file=sys.stderr)
            return 3
    print(table(measures))
    summary = {"rounds": arguments.rounds, "ranks": arguments.ranks, "quick": arguments.quick,
               "measures": [measure.as_json() for measure in measures], "unverified": run.unverified}
    arguments.output.write_text(json.dumps(summary, indent=2) + "\n")
    print(f"kontor: written to {arguments.output}", file=sys.stderr)
    for command in run.unverified:
        print(f"kontor: bench: not verified: {command}", file=sys.stderr)
    return 1 if run.unverified else 0


if __name__ == "__main__":
    sys.exit(main())
