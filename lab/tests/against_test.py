# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report --against: finds runs that are 10 % slower, and no others, in records with noise of 2 to 3 %."""

import json
import random
import re
import sys
import unittest
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(LAB), str(LAB.parent / "python/tests")]

from report_case import ReportTest
from sample_study import record

from against import SLOWER, change

NOISE = (0.02, 0.025, 0.03)
RUNS = [f"run{number}" for number in range(10)]


def rounds(random, seconds, noise, number=5):
    return [seconds * random.gauss(1, noise) for _ in range(number)]


class Decision(unittest.TestCase):
    """What is told of single runs, over many: 100 with each noise."""

    def told(self, factor, noise):
        numbers = random.Random(7)
        found = [change("run", rounds(numbers, 1, noise), rounds(numbers, factor, noise)).verdict for _ in range(100)]
        return {verdict: found.count(verdict) / len(found) for verdict in ("slower", "faster")}

    def test_a_tenth_is_found(self):
        for noise in NOISE:
            with self.subTest(noise=noise):
                self.assertGreaterEqual(self.told(1.1, noise)["slower"], 0.9)
                self.assertGreaterEqual(self.told(1 / 1.1, noise)["faster"], 0.9)

    def test_nothing_is_found_where_nothing_is(self):
        for noise in NOISE:
            with self.subTest(noise=noise):
                self.assertLessEqual(max(self.told(1.0, noise).values()), 0.02)

    def test_verdicts(self):
        before = [1.0, 1.01, 1.02, 1.03]
        self.assertEqual(change("", before, [value * 1.1 for value in before]).verdict, "slower")
        self.assertEqual(change("", before, [value / 1.1 for value in before]).verdict, "faster")
        self.assertEqual(change("", before, [value * (SLOWER - 0.01) for value in before]).verdict, "-", "too small to be told")
        self.assertEqual(change("", before, [1.2, 1.01, 1.2, 1.0]).verdict, "-", "ranks that overlap")
        self.assertEqual(change("", before[:3], [2.0, 2.1, 2.2]).verdict, "too few rounds")


class Against(ReportTest):
    def make_set(self, name, factor=1.0, seed=1, change=None, without=()):
        """A study of ten decks in five rounds, each of its own length; `factor` is that of run3, `change(name, record)` alters
        a record."""
        numbers = random.Random(seed)
        (self.folder / name / "runs").mkdir(parents=True)
        points = [{"id": run, "ranks": 2, "factors": {"deck": f"inputs/benchmark/{run}.yaml"}} for run in RUNS if run not in without]
        runs = []
        for place, run in enumerate(RUNS):
            for turn, seconds in enumerate(rounds(numbers, (place + 1) * (factor if run == "run3" else 1), 0.025), 1):
                made = record("raw", 2, seconds)
                made["repeats"] = [seconds * 3, seconds, seconds * 1.5]  # the fastest counts
                if change:
                    change(run, made)
                path = f"runs/{run}-r{turn}.json"
                (self.folder / name / path).write_text(json.dumps(made))
                runs.append({"point": run, "repeat": turn, "state": "passed", "record": path})
        study = {"study": "benchmark", "kind": "sweep", "points": points, "runs": [run for run in runs if run["point"] not in without]}
        (self.folder / name / "study.json").write_text(json.dumps(study))

    def against(self, before, after):
        done = self.reported("--against", before, after)
        verdicts = dict(re.findall(r"^  (run\d) +5 .* (\S+)$", done.stdout, re.MULTILINE))
        return done, {run for run in RUNS if verdicts.get(run) == "slower"}

    def test_a_slower_run_is_named(self):
        self.make_set("old")
        self.make_set("new", factor=1.1, seed=2)
        self.make_set("same", seed=3)
        done, slower = self.against("old", "new")
        self.assertEqual((done.returncode, slower), (1, {"run3"}), done.stdout)
        done, slower = self.against("old", "same")
        self.assertEqual((done.returncode, slower), (0, set()), done.stdout)
        done, slower = self.against("old", str(self.folder / "new"))
        self.assertEqual(done.returncode, 1, "a name is looked for next to the other folder")

    def test_series_of_curves(self):
        def curves(factor):
            def change(run, made):
                if run == "run3":
                    made["curves"] = [{"curve": "line", "series": series, "size": size, "bytes": 8 * size, "min": size * min(made["repeats"]) * slow}
                                      for size in (1, 2) for series, slow in (("raw", 1), ("view", factor))]
            return change

        self.make_set("old", change=curves(1))
        self.make_set("new", seed=2, change=curves(1.1))
        done = self.reported("--against", "old", "new")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"run3: line, view +5 .* slower")
        self.assertRegex(done.stdout, r"run3: line, raw +5 .* -\n")

    def test_what_is_not_the_same_is_named(self):
        def other(run, made):
            if run == "run1":
                made["deck"] = made["deck"].replace("40", "41")
            if run == "run2":
                made["verification"]["passed"] = False
            if run == "run4":
                made["deck"] += "output: {file: other.h5}\nsolver: {key_of_today: 1}\n"

        self.make_set("old")
        self.make_set("new", seed=2, change=other, without=["run5"])
        done, slower = self.against("old", "new")
        self.assertEqual((done.returncode, slower), (1, set()), done.stdout)
        for run, words in {"run1": "problem.cells", "run2": "5 of 5", "run5": "missing"}.items():
            self.assertRegex(done.stdout, f"{run}: .*{words}")
        self.assertNotRegex(done.stdout, "run4: ")

    def test_folders_that_are_no_sets(self):
        self.make_set("old")
        (self.folder / "empty").mkdir()
        for before, after, named in (("absent", "old", "absent"), ("empty", "old", "empty"), ("old", "absent", "absent")):
            done = self.reported("--against", before, after)
            self.assertEqual(done.returncode, 2)
            self.assertIn(named, done.stderr)


if __name__ == "__main__":
    unittest.main()
