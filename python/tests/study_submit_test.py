# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study --submit with schedulers that are fakes."""

import shlex
import unittest

from study_case import ONE, STUDY, StudyTest


class Submitted(StudyTest):
    def fake_slurm(self):
        """Runs each script at once, all tasks of an array."""
        self.fake("sbatch", """
          script=$2
          tasks=$(sed -n 's/^#SBATCH --array=\\([0-9]*\\)-\\([0-9]*\\).*/seq \\1 \\2/p' "$script")
          for task in $(${tasks:-echo 1}); do SLURM_ARRAY_TASK_ID=$task bash "$script" >>"$HOME/jobs.log" 2>&1; done
          echo "17;cluster" """)
        self.fake("squeue", 'exit 1')

    def test_a_folder_with_an_odd_name(self):
        """Its scripts are bash's to run, and a command that is told can be pasted."""
        self.fake_slurm()
        self.write("study.yaml", ONE)
        name = "it's \"$my\" study; 50%j"
        done = self.passes("--submit", "-o", name)
        self.assertIn(shlex.quote(name), done.stderr)
        self.assertEqual(len(self.made()), 1, (self.folder / "jobs.log").read_text())
        for name in "two\nlines", "back\\slash":
            self.assert_fails(self.study("--submit", "-o", name), "-o names another folder", code=2)

    def test_written_where_there_is_no_scheduler(self):
        self.write("study.yaml", STUDY + "launch: {scheduler: pbs}\n")
        done = self.passes("--submit")
        self.assertEqual(self.made(), [])
        self.assertIn("qsub is not here", done.stderr)
        self.assertEqual(sorted(path.name for path in (self.folder / "small/jobs").iterdir()), ["r1.pbs", "r2.pbs"])

    def test_submitted_and_collected(self):
        self.fake_slurm()
        self.obey('if [[ $settings == *raw* && ! -e $HOME/failed ]]; then touch "$HOME/failed"; echo "no room for this" >&2; exit 3; fi')
        self.passes("--submit", "--set", "gpus=0")
        self.assertEqual(len(self.made()), 9, (self.folder / "jobs.log").read_text())
        self.assertEqual(self.state()["runs"], [])
        self.assertEqual([(job["id"], job["part"], job["repeats"]) for job in self.state()["jobs"]], [("17", "r1", [1, 2]), ("17", "r2", [1, 2])])
        self.fake("squeue", "echo 17")
        self.assert_fails(self.study("--resume"), "jobs of this study wait or run: 17")
        self.fake("squeue", "exit 1")
        done = self.succeeds("study", "small", "--collect")
        self.assertIn("8 passed, 1 failed at first", done.stdout)
        self.assertEqual(sum(map(len, self.states().values())), 9)
        self.assertEqual(self.state()["machine"]["cores"], 2)
        self.succeeds("study", "small", "--resume", "--submit")
        self.assertEqual(len(self.made()), 9, "there was nothing to submit")

    def test_a_scheduler_that_refuses(self):
        self.fake("sbatch", "echo 'sbatch: error: invalid partition specified: debg' >&2; exit 1")
        self.assert_fails(self.study("--submit"), "sbatch", "exit code 1", "invalid partition", code=3)


if __name__ == "__main__":
    unittest.main()
