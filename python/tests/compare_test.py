# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor compare: what it advises of given times, and a small comparison of heat."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BUILD, ROOT, SCRIPTS, KontorTest

from kontor.compare.methods import Method, exchange_of, timed, to_run
from kontor.compare.result import Comparison, Timed
from kontor.messages import Failure

RAW = Method("raw", "nonblocking", "auto", "auto")
CANDIDATES = [{"backend": backend, "pattern": pattern, "packing": packing, "path": "host", "seconds": seconds}
              for backend, pattern, packing, seconds in (
                  ("view", "nonblocking", "kernel", 4e-6), ("shm", "nonblocking", "kernel", 2e-6),
                  ("view", "persistent", "datatype", 3e-6))]
SHM, VIEW = Method("shm", "nonblocking", "kernel", "auto"), Method("view", "persistent", "datatype", "auto")


def comparison(own, shm):
    """Of whole runs that took these seconds."""
    methods = [Timed(RAW._asdict(), 4e-6, own, 0.4), Timed(SHM._asdict(), 2e-6, shm, 0.3),
               Timed(VIEW._asdict(), 3e-6)]
    return Comparison("halo.yaml", "heat", 2, ["here"], "2026-12-01T00:00:00Z", "abc", "", methods)


class Methods(unittest.TestCase):
    def test_order_and_choice(self):
        exchanges = timed(CANDIDATES)
        self.assertEqual(list(exchanges), [SHM, VIEW, VIEW._replace(pattern="nonblocking", packing="kernel")])
        self.assertEqual(to_run(RAW, exchanges), [RAW, SHM, VIEW])
        self.assertEqual(to_run(SHM, exchanges), [SHM, VIEW])
        self.assertEqual(exchange_of(RAW, exchanges), 4e-6)
        self.assertEqual(exchange_of(VIEW._replace(packing="auto"), exchanges), 3e-6)
        self.assertIsNone(exchange_of(RAW._replace(pattern="rma"), exchanges))

    def test_deck(self):
        self.assertEqual(SHM.yaml, "comm: {backend: shm, packing: kernel}")
        self.assertEqual(VIEW.yaml, "comm: {backend: view, pattern: persistent, packing: datatype}")
        self.assertEqual(VIEW.settings["comm.path"], "auto")


class Advice(unittest.TestCase):
    def test_gain(self):
        found = comparison([10.0, 10.1, 9.9, 10.0], [8.0, 8.1, 7.9, 8.0])
        self.assertIn(f"`{SHM.yaml}`", found.sentence)
        self.assertIn("20.0 % [", found.sentence)
        self.assertAlmostEqual(found.gain(found.methods[1]).value, 0.2)

    def test_no_gain(self):
        for shm in ([10.2, 9.8, 10.1, 9.9], [12.0, 12.1, 12.2, 12.3], [8.0], []):
            found = comparison([10.0, 10.1, 9.9, 10.0], shm)
            self.assertTrue(found.sentence.startswith("Keep"), found.sentence)

    def test_faster_by_chance_is_not_best(self):
        found = comparison([10.0, 10.1, 9.9, 10.0, 10.0], [8.0, 8.1, 7.9, 8.0, 8.0])
        found.methods[2].runs = [7.0, 7.5, 13.0, 12.0, 7.2]
        self.assertIs(found.best, found.methods[1])

    def test_three_runs_show_nothing(self):
        self.assertTrue(comparison([10.0] * 3, [8.0] * 3).sentence.startswith("Keep"))


class Runs(KontorTest):
    def test_files(self):
        path = self.folder / "compare.json"
        comparison([2.0] * 4, [1.0] * 4).write(path)
        shown = self.script("compare", str(path), "--plot", "chart.svg")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("Put this into the deck", shown.stdout)
        self.assertIn("shm, kernel", (self.folder / "chart.svg").read_text(encoding="utf-8"))
        path.write_text(json.dumps({"deck": "plate.yaml"}), encoding="utf-8")
        with self.assertRaises(Failure):
            Comparison.read(str(path))

    def test_refused(self):
        for name, app in ("pingpong", "pingpong"), ("kernels", "kernels"):
            deck = self.write(f"{name}.yaml", f"app: {app}\n")
            done = self.script("compare", deck, KONTOR_BUILT="1")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("E-USAGE-OPTION", done.stderr)
        self.assertEqual(self.script("compare", "absent.yaml", KONTOR_BUILT="1").returncode, 2)


@unittest.skipUnless((BUILD / "bin/heat").exists(), "heat is not built")
class OfHeat(unittest.TestCase):
    def test_once_and_again(self):
        """What is done is not done again."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-compare-")))
        words = [str(SCRIPTS / "kontor"), "compare", str(ROOT / "inputs/heat/cube.yaml"), "-n", "2", "--rounds", "1",
                 "--set", "comm.trial=0.05", "--set", "problem.cells=[12,13,14]", "--set", "solver.max_sweeps=20",
                 "--set", "verification.tolerance=1e9", "--set",
                 "measure.calibrate=false", "-o", "found"]
        environment = {**os.environ, "KONTOR_BUILT": "1", "KONTOR_BUILD_DIR": str(BUILD)}
        done = subprocess.run([*words, "--set=solver.max_sweep=1"], cwd=folder, env=environment, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)  # and the folder may be used without the mistake
        said, trial = [], folder / "found/trial.json"
        for _ in range(2):
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            said.append((done.stdout.partition("Methods")[2], trial.stat().st_mtime_ns))
        self.assertEqual(said[0], said[1])
        for other in ["-n", "3"], ["-n", "2", "--set=comm.overlap=false"]:
            done = subprocess.run([*words[:3], *other, *words[5:]], cwd=folder, env=environment, capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("found: holds a comparison of another deck, --set or -n", done.stderr)
        found = Comparison.read(str(folder / "found/compare.json"))
        self.assertEqual((found.app, found.ranks, found.own.name.backend), ("heat", 2, "raw"))
        self.assertLessEqual({"raw", "view"}, {each.name.backend for each in found.methods if each.runs})
        for each in found.methods:
            self.assertGreater(each.exchange, 0)


if __name__ == "__main__":
    unittest.main()
