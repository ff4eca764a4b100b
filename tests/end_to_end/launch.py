# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the mini-apps as a user does, several ranks under mpirun, and never waits for ever.

The environment may name another build (KONTOR_BUILD_DIR) and another launcher (KONTOR_MPIEXEC).
"""

import functools
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py
except ImportError:
    h5py = None

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/fault_injection"))

from fault_injection.mpirun import (  # noqa: E402, F401
    BUILD, ENVIRONMENT, FAULTS, MPIEXEC, Program, preload, sanitizers, state_of, wait_until,
)

HEAT, PINGPONG, CG, DYNAMICS = (str(BUILD / "bin" / name) for name in ("heat", "pingpong", "cg", "dynamics"))

PLATE = """\
app: heat
problem:
  cells: [13, 11]
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
solver: {tolerance: 0, max_sweeps: 5}
output: {file: plate.h5}
"""

@functools.cache
def starts_several_programs():
    """Whether `mpirun A : B` works: that of Debian 13, Open MPI 5.0.7, crashes."""
    command = [MPIEXEC, "-n", "1", "true", ":", "-n", "1", "true"]
    ended = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, stdin=subprocess.DEVNULL, capture_output=True)
    return ended.returncode == 0


def change(deck, *words):
    """The deck with the second of two words instead of the first, the fourth instead of the third and so on."""
    for old, new in zip(words[::2], words[1::2]):
        assert deck.count(old) == 1, f"{old!r} is in the deck {deck.count(old)} times"
        deck = deck.replace(old, new)
    return deck


def fault(call, **more):
    """The variables of ranks of which that call fails, or what `DO` says: tests/faults/arm.h."""
    return preload(FAULTS) | {f"KONTOR_FAULT_{name}": str(of) for name, of in {"CALL": call, **more}.items()}


def set_(*overrides):
    """The words of the command line for them."""
    return [word for override in overrides for word in ("--set", override)]


class Running(Program):
    """A program and its ranks. `variables` are set for the ranks, not for mpirun."""

    own_session = False

    def __init__(self, program, arguments, ranks, cwd, variables):
        if not os.path.exists(program):
            raise FileNotFoundError(f"{program} is not built; KONTOR_BUILD_DIR may name another build")
        of_ranks = [f"{key}={text}" for key, text in variables.items()]
        alone = ranks == 1 and ":" not in arguments  # needs no launcher, which takes longer to start than the program
        launcher = [] if alone else [MPIEXEC, "-n", ranks]
        self.session = tempfile.TemporaryDirectory()  # Open MPI 4 gives all programs without a launcher the same one
        super().__init__([*launcher, "env", *of_ranks, program, *arguments], cwd,
                         {"OMPI_MCA_orte_tmpdir_base": self.session.name} if alone else {})

    def finish(self, limit):
        """The result; AssertionError if it takes more than `limit` seconds."""
        result = super().finish(limit)
        self.session.cleanup()
        if result.code is None:
            raise AssertionError(f"{self.command}\nstill ran after {limit} s: {self.hung}\n{result}")
        return result

    def ranks(self):
        """The process of each rank that is alive."""
        return {process.rank: process.pid for process in self.processes() if process.rank is not None}


def wait_for(what, condition, limit=60):
    if not wait_until(condition, limit):
        raise AssertionError(f"{what} did not happen within {limit} s")


class ProgramTest(unittest.TestCase):
    """A test in an empty folder of its own."""

    program = HEAT
    calibrates = False  # runs that are given a deck measure the machine, which takes most of the time of a short one
    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kontor-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def start(self, *arguments, ranks=1, variables={}):
        """Runs the program in the test's folder."""
        has_deck = ":" not in arguments and any(str(argument).endswith(".yaml") for argument in arguments)
        if has_deck and not self.calibrates:
            arguments = (*arguments, "--set", "measure.calibrate=false")
        running = Running(self.program, arguments, ranks, self.folder, variables)
        self.addCleanup(running.kill)
        return running

    def ends(self, code, *arguments, limit=60, **others):
        """The result of a run that must end with this exit code."""
        result = self.start(*arguments, **others).finish(limit)
        self.assertEqual(result.code, code, result)
        return result

    def passes(self, *arguments, **others):
        """A run that must be verified."""
        return self.ends(0, *arguments, **others)

    def names(self, message, error_id, *facts, lines=1):
        """That an error of so many lines has this id at the end of the first, and tells all of the facts."""
        self.assertRegex(message, rf"\A.*[^ ] \[{error_id}\]\n")
        self.assertEqual(message.count("\n"), lines, message)
        for fact in facts:
            self.assertIn(fact, message)

    def refused(self, error_id, *facts, words=(), deck=PLATE, first=("deck.yaml",), lines=1, code=2, **others):
        """What holds for every mistake of the user's in `deck.yaml` and more words: id and facts of the message, exit
        code 2, nothing lost. Facts are place and key, as in "deck.yaml:3:3: problem.cells", the value found, and what
        else the user must learn. What one rank alone finds must be told on several. Gives the message."""
        with self.subTest(id=error_id, facts=facts, words=words):
            self.write("deck.yaml", deck)
            self.write("plate.h5", "what an earlier run left")
            before = self.contents()
            result = self.ends(code, *first, *words, **others)
            self.names(result.err, error_id, *facts, lines=lines or result.err.count("\n"))
            self.assertEqual((result.out, self.contents()), ("", before))
            return result.err

    def temporary(self, name):
        """The file that a run writes aside for `name`, or None."""
        return next(self.folder.glob(f"{name}.????????.tmp"), None)

    def files(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))

    def contents(self):
        """The bytes of each file by its name; None of a folder."""
        return {name: path.read_bytes() if (path := self.folder / name).is_file() else None for name in self.files()}

    def checkpoints(self):
        """Their names, in the order of their steps."""
        return sorted(path.name for path in self.folder.glob("*-checkpoint-*.h5"))

    def record(self, name="record.json"):
        """What --results has written."""
        return json.loads((self.folder / name).read_text())


@unittest.skipIf(h5py is None, "this python has no h5py")
class RecordTest(ProgramTest):
    """Runs whose HDF5 file h5py reads."""

    PLATE = """\
app: heat
problem:
  cells: [26, 22]
  domain: {upper: [1, 0.5]}
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
  exact: "sin(pi*x)*sinh(pi*y)/sinh(pi/2)"
solver: {tolerance: 1.0e-9, check_every: 50}
measure: {repeats: 2}
output: {file: plate.h5}
"""

    def run_deck(self, text, name, *arguments, ranks=2, **overrides):
        """Runs the deck; its file, open until the test ends. `said`: the run's result."""
        self.write("deck.yaml", text)
        keys = set_(*(f"{key.replace('__', '.')}={value}" for key, value in overrides.items()))
        self.said = self.passes("deck.yaml", "-o", name, *arguments, *keys, ranks=ranks)
        return self.open(name)

    def open(self, name):
        """The file, open until the test ends."""
        file = h5py.File(self.folder / name)
        self.addCleanup(file.close)
        return file

    def run_of(self, *arguments, **options):
        """The record of a run as run_deck() makes it."""
        return json.loads(self.run_deck(*arguments, **options)["run"][()])

    def numbers_of(self, item):
        """Those of a data item of XDMF, which are as it says; an image's have all extents in one."""
        name, path = item.text.split(":")
        data = self.open(name)[path]
        self.assertEqual(data.size, math.prod(int(n) for n in item.get("Dimensions").split()))
        kind = item.get("NumberType")[0].lower(), int(item.get("Precision"))
        self.assertEqual((data.dtype.kind, data.dtype.itemsize), kind)
        return data[...]
