# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each kernel is broken once: the deck that measures it must fail its verification."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from mutate import OTHERS, mutate

APP = Path(__file__).resolve().parents[1]
ROOT = APP.parents[1]


def deck(name, mutation):
    """The exit code and the output of a deck on two ranks."""
    path = ROOT / "inputs/kernels" / f"{name}.yaml"
    options = next(line[8:] for line in path.read_text().splitlines() if line.startswith("# test: "))
    command = [os.environ["KONTOR_MPIEXEC"], "-n", "2", os.environ["KONTOR_MUTANT"], str(path), "--quiet", *options.split(),
               "--set", "problem.warm_up=1", "--set", "measure.calibrate=false"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, env={**os.environ, "KONTOR_MUTATION": mutation}, capture_output=True,
                              text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


class Mutations(unittest.TestCase):
    def test_each_mistake_is_found(self):
        found = set()
        for path in sorted((ROOT / "inputs/kernels").glob("*.yaml")):
            names = mutate((APP / f"{path.stem.replace('-', '_')}.cpp").read_text())[1]
            self.assertTrue(names, path)
            found.update(names)
            for name in ["", *names]:
                with self.subTest(deck=path.stem, mutation=name):
                    code, out = deck(path.stem, name)
                    self.assertEqual(code, 1 if name else 0, out)
                    self.assertEqual("VERIFICATION FAILED" in out, bool(name), out)
        self.assertLess(set(OTHERS), found)
        self.assertGreater(len(found), 20)
