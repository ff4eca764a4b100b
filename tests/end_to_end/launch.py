# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the mini-apps as a user does, several ranks under mpirun, and never waits for ever.

The environment may name another build (KONTOR_BUILD_DIR) and another launcher (KONTOR_MPIEXEC).
"""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/fault_injection"), str(ROOT / "python")]

from fault_injection.launch import BUILD, FAULTS, preload, sanitizers  # noqa: E402, F401
from fault_injection.mpirun import ENVIRONMENT, MPIEXEC, Program, wait_until  # noqa: E402

HEAT, PINGPONG, CG, DYNAMICS = (str(BUILD / "bin" / name) for name in ("heat", "pingpong", "cg", "dynamics"))


# What the launcher of Open MPI 6 says of each exit code, and cannot be told to leave out.
OF_LAUNCHER = re.compile(r"(?ms)^-{70,}\n+prterun detected that one or more processes exited with non-zero.*?^-{70,}\n")


@functools.cache
def starts_several_programs():
    """Whether `mpirun A : B` works: that of Debian 13, Open MPI 5.0.7, crashes."""
    command = [MPIEXEC, "-n", "1", "true", ":", "-n", "1", "true"]
    ended = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, stdin=subprocess.DEVNULL, capture_output=True)
    return ended.returncode == 0


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
        if result.code is None:
            raise AssertionError(f"{self.command}\nstill ran after {limit} s: {self.hung} {self.stacks}\n{result}")
        return result._replace(err=OF_LAUNCHER.sub("", result.err))

    def ranks(self):
        """The process of each rank that is alive."""
        return {process.rank: process.pid for process in self.processes() if process.rank is not None}


def wait_for(what, condition, limit=60):
    if not wait_until(condition, limit):
        raise AssertionError(f"{what} did not happen within {limit} s")


class HeatTest(unittest.TestCase):
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
        if not self.calibrates and ":" not in arguments and any(str(argument).endswith(".yaml") for argument in arguments):
            arguments = (*arguments, "--set", "measure.calibrate=false")
        running = Running(self.program, arguments, ranks, self.folder, variables)
        self.addCleanup(running.kill)
        return running

    def heat(self, *arguments, ranks=1, limit=30, **others):
        return self.start(*arguments, ranks=ranks, **others).finish(limit)

    def ends(self, code, *arguments, **others):
        """The result of a run that must end with this exit code."""
        result = self.heat(*arguments, **others)
        self.assertEqual(result.code, code, result)
        return result

    def names(self, message, error_id, *facts, lines=1):
        """That an error of so many lines has this id at the end of the first, and tells all of the facts."""
        self.assertRegex(message, rf"\A.*[^ ] \[{error_id}\]\n")
        self.assertEqual(message.count("\n"), lines, message)
        for fact in facts:
            self.assertIn(fact, message)

    def passes(self, *arguments, **others):
        """A run that must be verified."""
        return self.ends(0, *arguments, **others)

    def temporary(self, name):
        """The file that a run writes aside for `name`, or None."""
        return next(self.folder.glob(f"{name}.????????.tmp"), None)

    def files(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))

    def checkpoints(self):
        """Their names, in the order of their steps."""
        return sorted(path.name for path in self.folder.glob("*-checkpoint-*.h5"))

    def record(self, name="record.json"):
        """What --results has written."""
        return json.loads((self.folder / name).read_text())

    def contents(self):
        """The bytes of each file by its name; None of a folder."""
        return {name: path.read_bytes() if (path := self.folder / name).is_file() else None for name in self.files()}
