# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes, one at a time, each of which must fail the verification of every deck that has the ingredient.

KONTOR_MUTANTS is an app's program of mutants. By hand: KONTOR_MUTANT begins the names of those that are wanted.
"""

import os
import re
import subprocess
import tempfile
import tomllib
import unittest
from pathlib import Path
from typing import NamedTuple

from mutate import ROOT, mutants_in, number_of

PROGRAM = os.environ["KONTOR_MUTANTS"]
APP = Path(PROGRAM).name.removesuffix("_mutants")
FIXED = ["--quiet"]
FIXED += [f"--set=measure.{text}" for text in ("repeats=1", "calibrate=false", "sample_seed=1")]


class Deck:
    def __init__(self, path):
        self.name, self.path, self.text = path.stem, str(path), path.read_text(encoding="utf-8")
        self.options = self.line("test").split()
        if "backend: shm" not in self.text:
            self.options.append("--set=comm.backend=view")
        self.ranks = int(self.line("ranks", "2").split()[-1])

    def line(self, key, default=""):
        found = re.search(f"(?m)^# {key}: (.*)$", self.text)
        return found[1] if found else default

    def cut(self, axis):
        """Two ranks along that axis of heat's cells."""
        axes = re.search(r"\n  cells: \[(.*)\]", self.text)
        if axis == " " or not axes or APP == "fft":  # whose process grid has no x
            return []
        parts = ["2" if "xyz"[a] == axis else "1" for a in range(axes[1].count(",") + 1)]
        return [f"--set=decomposition.process_grid=[{','.join(parts)}]"]


class Run(NamedTuple):
    mutant: str  # empty: the right program
    variant: str  # a number
    deck: Deck
    options: list
    restart: int  # 0, or the steps after which it resumes

    def lines(self, number):
        """The arguments, of which a restart has two."""
        fixed = [*FIXED, *self.deck.options, *self.options, self.deck.path, f"-o{number}.h5"]
        if not self.restart:
            return [fixed]
        first = [*fixed[:-1], f"--set=checkpoint.every={self.restart}", f"-o{number}-first.h5"]
        return [first, [*fixed, f"--restart={number}-first-checkpoint.h5"]]


class Result(NamedTuple):
    code: int | None = 0  # none: the process has ended
    reached: bool = False
    out: str = ""

    def rejects(self):
        verdict = re.search(r"(?m)^VERIFICATION (FAILED|INCONCLUSIVE): ", self.out)
        return self.code == 1 and verdict and "FOM" not in self.out


def run_all(runs):
    """The result of each run; those on as many ranks in one process group, which begins again after one that dies."""
    results = [Result()] * len(runs)
    for ranks in sorted({run.deck.ranks for run in runs}):
        left = [(n, words) for n, run in enumerate(runs) if run.deck.ranks == ranks for words in run.lines(n)]
        with tempfile.TemporaryDirectory(prefix="kontor-") as folder:
            while left:
                lines = [[f"{number_of(runs[n].mutant)} {runs[n].variant}", *words] for n, words in left]
                Path(folder, "lines").write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
                command = [os.environ.get("KONTOR_MPIEXEC", "mpirun"), "-n", str(ranks), PROGRAM, "lines"]
                done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      errors="replace", check=False)
                *parts, rest = re.split(r"(?m)^run (\d+) ([01])\n", done.stdout)
                ends = [(int(code), int(reached), out) for out, code, reached in zip(*[iter(parts)] * 3)]
                for code, reached, out in [*ends, (None, 1, rest)][: len(left)]:
                    n, _ = left.pop(0)
                    if results[n].code == 0:  # else a run has not come as far as its restart
                        results[n] = Result(code, bool(reached or results[n].reached), out)
    return results


def read(table):
    return mutants_in(tomllib.loads(Path(__file__).with_name(f"{table}.toml").read_text(encoding="utf-8")))


COMMON = {} if APP in ("graph", "kernels") else read("common")  # which have neither steps nor fields
MUTANTS = {name: mutant for name, mutant in (COMMON | read(APP)).items() if APP not in mutant.get("not_in", "").split()
           and name.startswith(os.environ.get("KONTOR_MUTANT", ""))}
DECKS = [Deck(path) for path in sorted((ROOT / "inputs" / APP).glob("*.yaml"))]


def decks_in(mutant, key):
    """The decks that an entry names, each "deck" or "app/deck", with "@variant" or of all variants; "all"."""
    named = mutant.get(key, "")
    words = [word.rpartition("/") for word in " ".join(named if isinstance(named, dict) else [named]).split()]
    return {deck for app, _, deck in words if app in ("", APP)}


def all_runs():
    """Those of the right program too, with the same options."""
    found = {}
    for name, mutant in MUTANTS.items():
        options = [f"--set={text}" for text in mutant.get("options", "").split()]
        without, only = decks_in(mutant, "without"), decks_in(mutant, "only")
        for variant in mutant.get("variants", "0").split():
            for deck in (deck for deck in DECKS if deck.name in (only or [deck.name])):
                for axis in mutant.get("cut", " ") if not without & {deck.name, f"{deck.name}@{variant}"} else "":
                    same = (deck, [*deck.cut(axis), *options], mutant.get("restart", 0))
                    found |= {str(run): run for run in (Run("", "0", *same), Run(name, variant, *same))}
    return list(found.values())


class Mutations(unittest.TestCase):
    def test_names(self):
        for name, mutant in MUTANTS.items():
            named = {word.partition("@")[0] for key in ("only", "without", "passes") for word in decks_in(mutant, key)}
            self.assertLessEqual(named, {"all", *(deck.name for deck in DECKS)}, name)

    def test_mutants(self):
        runs = all_runs()
        for run, result in zip(runs, run_all(runs)):
            with self.subTest(mutant=run.mutant, variant=run.variant, deck=run.deck.name, options=run.options):
                passing = decks_in(MUTANTS[run.mutant], "passes") if run.mutant else {"all"}
                if passing & {"all", run.deck.name, f"{run.deck.name}@{run.variant}"}:
                    self.assertEqual(result.code, 0, result)
                else:
                    self.assertTrue(result.reached, "the mistake is not reached")
                    self.assertTrue(result.rejects(), result)
