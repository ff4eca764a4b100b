# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/kontor study --submit on a real Slurm: jobs on one and two nodes, and what they leave."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import hosts
import slurm

ROOT = Path(__file__).resolve().parents[2]
STUDY = """\
study: jobs
deck: deck.yaml
kind: strong
ranks: [2, 4]
ranks_per_node: 2
vary: {comm.backend: [view]}
repeats: 2
launch: {scheduler: slurm, exclusive: false, minutes: 5}
"""


def setUpModule():
    slurm.start()


class Submitted(unittest.TestCase):
    def setUp(self):
        parent = self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-"))
        self.folder = Path(parent) / """it's "$my" study: 50%j"""
        self.folder.mkdir()
        (self.folder / "deck.yaml").write_text(slurm.DECK.replace("max_sweeps: 20", "max_sweeps: 20, check_every: 0"))
        (self.folder / "study.yaml").write_text(STUDY)

    def study(self, *words):
        done = subprocess.run([ROOT / "scripts/kontor", "study", *words], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + self.told())
        return done.stdout

    def told(self):
        """By the jobs and their runs."""
        files = [*sorted(self.folder.glob("jobs/jobs/*.out")), *sorted(self.folder.glob("jobs/runs/*.log"))]
        return "".join(f"--- {file.name}\n{file.read_text()}" for file in files)

    def wait(self):
        """Until no job is left."""
        slurm.wait_for(lambda: not subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=False).stdout.strip(), "the jobs", 90)

    def state(self):
        return json.loads((self.folder / "jobs/study.json").read_text())

    def test_jobs_on_one_and_two_nodes(self):
        self.study("study.yaml", "--submit")
        self.assertEqual(self.state()["runs"], [])
        self.wait()
        self.assertIn("4 passed", self.study("jobs", "--resume", "--submit") + self.told())
        state = self.state()
        found = {(run["point"], run["repeat"], run["state"]) for run in state["runs"]}
        self.assertEqual(found, {(f"p00{point}", repeat, "passed") for point in range(2) for repeat in (1, 2)}, self.told())
        self.assertEqual(len(list(self.folder.glob("jobs/jobs/*.out"))), 2)
        for run in state["runs"]:
            record = json.loads((self.folder / "jobs" / run["record"]).read_text())
            self.assertEqual((record["ranks"], len(record["hosts"])), {"p000": (2, 1)}.get(run["point"], (4, 2)))
        self.assertTrue(state["machine"]["job"].startswith("Slurm "), state["machine"])
        self.assertEqual(len(state["jobs"]), 2, "there was nothing to submit")


if __name__ == "__main__":
    hosts.isolate()
    unittest.main()
