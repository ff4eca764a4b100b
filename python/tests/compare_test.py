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
SHM, VIEW = Method("shm", "nonblocking", "kernel", "auto"), Method("view", "persistent", "datatype", "auto")
PLAIN_VIEW = Method("view", "nonblocking", "kernel", "auto")
CANDIDATES = [{**method._asdict(), "path": "host", "seconds": seconds}
              for method, seconds in ((PLAIN_VIEW, 4e-6), (SHM, 2e-6), (VIEW, 3e-6))]
TEN, EIGHT = [10.0, 10.1, 9.9, 10.0], [8.0, 8.1, 7.9, 8.0]


def comparison(own, shm, view=()):
    """Of whole runs that took these seconds."""
    methods = [Timed(RAW._asdict(), 4e-6, own, 0.4), Timed(SHM._asdict(), 2e-6, shm, 0.3),
               Timed(VIEW._asdict(), 3e-6, list(view))]
    return Comparison("halo.yaml", "heat", 2, ["here"], "2026-12-01T00:00:00Z", "abc", "", methods)


class Methods(unittest.TestCase):
    def test_order_and_choice(self):
        exchanges = timed(CANDIDATES)
        self.assertEqual(list(exchanges), [SHM, VIEW, PLAIN_VIEW])
        self.assertEqual(to_run(RAW, exchanges), [RAW, SHM, VIEW])
        self.assertEqual(to_run(SHM, exchanges), [SHM, VIEW])
        for method, seconds in (RAW, 4e-6), (VIEW._replace(packing="auto"), 3e-6), (RAW._replace(pattern="rma"), None):
            self.assertEqual(exchange_of(method, exchanges), seconds)

    def test_deck(self):
        self.assertEqual(SHM.yaml, "comm: {backend: shm, packing: kernel}")
        self.assertEqual(VIEW.yaml, "comm: {backend: view, pattern: persistent, packing: datatype}")
        self.assertEqual(VIEW.settings["comm.path"], "auto")

    def test_advice(self):
        """A method must be faster in whole runs, of which there are at least four, and not by chance."""
        found = comparison(TEN, EIGHT)
        self.assertIn(f"`{SHM.yaml}`", found.sentence)
        self.assertIn("20.0 % [", found.sentence)
        self.assertAlmostEqual(found.gain(found.methods[1]).value, 0.2)
        for own, shm in ((TEN, [10.2, 9.8, 10.1, 9.9]), (TEN, [12.0, 12.1, 12.2, 12.3]), (TEN, [8.0]), (TEN, []),
                         ([10.0] * 3, [8.0] * 3)):
            self.assertTrue(comparison(own, shm).sentence.startswith("Keep"), shm)
        chance = comparison([*TEN, 10.0], [*EIGHT, 8.0], [7.0, 7.5, 13.0, 12.0, 7.2])
        self.assertIs(chance.best, chance.methods[1])


class Runs(KontorTest):
    def test_files(self):
        path = self.folder / "compare.json"
        comparison([2.0] * 4, [1.0] * 4).write(path)
        self.assertIn("Put this into the deck", self.succeeds("compare", str(path), "--plot", "chart.svg").stdout)
        self.assertIn("shm, kernel", (self.folder / "chart.svg").read_text(encoding="utf-8"))
        path.write_text(json.dumps({"deck": "plate.yaml"}), encoding="utf-8")
        with self.assertRaises(Failure):
            Comparison.read(str(path))

    def test_refused(self):
        for app in "pingpong", "kernels":
            deck = self.write(f"{app}.yaml", f"app: {app}\n")
            self.assert_fails(self.kontor("compare", deck, KONTOR_BUILT="1"), "E-USAGE-OPTION")
        self.assert_fails(self.kontor("compare", "absent.yaml", KONTOR_BUILT="1"), "E-FILE-READ")


@unittest.skipUnless((BUILD / "bin/heat").exists(), "heat is not built")
class OfHeat(unittest.TestCase):
    def compare(self, *words, settings=()):
        given = ("problem.cells=[12,13,14]", "solver.max_sweeps=20", "verification.tolerance=1e9",
                 "measure.calibrate=false", "comm.trial=0.05", *settings)
        command = [SCRIPTS / "kontor", "compare", ROOT / "inputs/heat/cube.yaml", "--rounds", "1", "-o", "found"]
        return subprocess.run([*command, *(f"--set={each}" for each in given), *words], cwd=self.folder,
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "KONTOR_BUILT": "1", "KONTOR_BUILD_DIR": str(BUILD)})

    def test_once_and_again(self):
        """What is done is not done again; after a mistake the folder may be used without it."""
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-compare-")))
        done = self.compare("-n", "2", settings=["solver.max_sweep=1"])
        self.assertEqual(done.returncode, 2, done.stderr)
        said, trial = [], self.folder / "found/trial.json"
        for _ in range(2):
            done = self.compare("-n", "2")
            self.assertEqual(done.returncode, 0, done.stderr)
            said.append((done.stdout.partition("Methods")[2], trial.stat().st_mtime_ns))
        self.assertEqual(said[0], said[1])
        for ranks, settings in ("3", []), ("2", ["comm.overlap=false"]):
            done = self.compare("-n", ranks, settings=settings)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("found: holds a comparison of another deck, --set or -n", done.stderr)
        found = Comparison.read(str(self.folder / "found/compare.json"))
        self.assertEqual((found.app, found.ranks, found.own.name.backend), ("heat", 2, "raw"))
        self.assertLessEqual({"raw", "view"}, {each.name.backend for each in found.methods if each.runs})
        self.assertTrue(all(each.exchange > 0 for each in found.methods))


if __name__ == "__main__":
    unittest.main()
