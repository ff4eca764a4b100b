# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The studies of inputs/studies and lab: each is planned as it is, and made small, as its line `# test:` says."""

import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest.mock import patch

from command import BUILD, ROOT

from kontor.study.command import main

STUDIES = sorted([*ROOT.glob("inputs/studies/*.yaml"), *ROOT.glob("lab/*/studies/*.yaml")])
ENVIRONMENT = {"KONTOR_BUILT": "1", "KONTOR_BUILD_DIR": str(BUILD)}


class Studies(unittest.TestCase):
    def study(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with patch.dict(os.environ, ENVIRONMENT), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(words))
        self.assertEqual(code, 0, out.getvalue() + err.getvalue())
        return out.getvalue()

    def test_what_an_app_refuses(self):
        words = [f"--set=set.solver.{each}" for each in ("max_sweps=1", "check_every=-1")]
        with (patch.dict(os.environ, ENVIRONMENT), contextlib.redirect_stderr(io.StringIO()) as told,
              self.assertRaises(SystemExit)):
            main([str(ROOT / "inputs/studies/heat-strong.yaml"), "--dry-run", *words])
        for fact in "max_sweeps?", "E-DECK-KEY", "solver.check_every: found", "--set set.solver.check_every":
            self.assertIn(fact, told.getvalue())

    def test_all(self):
        self.assertTrue(STUDIES)
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-studies-"))
        for study in STUDIES:
            with self.subTest(study.name):
                lines = study.read_text(encoding="utf-8").splitlines()
                self.assertTrue(lines[0].startswith("# ") and lines[1].startswith("# test: "), "what it shows, and how it is made small")
                self.assertIn(f"study: {study.stem}", lines)
                words = ["--reduced"] if study.stem.startswith("gpu-") else []  # a build without GPUs refuses their backends
                self.assertIn("p000 ", self.study(str(study), "--dry-run", *words))
                self.study(str(study), "--reduced", "--set", "set.measure.calibrate=false", "-o", f"{folder}/{study.stem}")
                state = json.loads(Path(folder, study.stem, "study.json").read_text(encoding="utf-8"))
                self.assertEqual({run["state"] for run in state["runs"]}, {"passed"})
                self.assertEqual(len(state["runs"]), len(state["points"]))
