# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: making the runs of a study, here and as jobs. The mini-app, the launcher and schedulers are fakes."""

import csv
import shlex
import shutil
import subprocess

from study_case import ALL, ONE, STUDY, StudyTest

from kontor.study.table import no_formula


class Made(StudyTest):
    def table(self):
        with open(self.folder / "small/study.csv", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_a_whole_study(self):
        """Every point in each repeat, once, in an order of the seed; state and table agree; then nothing is left."""
        done = self.succeeds("study", "study.yaml")
        self.assertIn("8 runs of 4 points: 8 passed", done.stdout)
        self.assertIn("[8/8]", done.stderr)
        made = self.names()
        self.assertEqual(sorted(made, key=lambda name: name[-1] + name), ALL)
        self.assertEqual({name[-1] for name in made[:4]}, {"1"}, "one repeat after the other")
        self.assertNotEqual([name[:4] for name in made[:4]], [name[:4] for name in made[4:]], "shuffled anew")
        state = self.state()
        self.assertEqual([state[key] for key in ("format", "study", "kind", "app", "seed", "git_revision")],
                         [2, "small", "strong", "heat", 7, "abc"])
        self.assertEqual(state["machine"]["cores"], 2)
        rows = self.table()
        self.assertEqual(len(rows), 8)
        row = next(row for row in rows if row["point"] == "p003")
        self.assertEqual([row[key] for key in ("ranks", "set.comm.backend", "repeat.median", "run.verification.error",
                                               "run.figures_of_merit.cell_updates.value", "run.git_revision")],
                         ["2", "view", "0.5", "0.5", "2000000000.0", "abc"])
        again = self.kontor("study", "small", "--resume")
        self.assertEqual((again.returncode, len(self.made())), (0, 8), again.stderr)

    def test_no_cell_is_a_formula(self):
        for text in "=1+1", "@SUM(A1)", "+1", "-1", "\t=1":
            self.assertEqual(no_formula(text), f"'{text}")
        for value in "raw", "1", "", -1, -0.5, None:
            self.assertEqual(no_formula(value), value)

    def test_dry_run_and_only(self):
        for words, *facts in (
            (["--only", "ranks=2", "--set", "gpus_per_rank=1"], "p002", "p003", "cannot run here: needs 2 GPUs;",
             "2 points, 2 of them cannot run here"),
            ([], "OMP_NUM_THREADS=1", "run plate.yaml -n 2 --set output.fields=none --set comm.backend=view",
             "-o small/runs/p003-r1.h5", "4 points; 2 repeats: 8 runs"),
        ):
            said = self.passes("--dry-run", *words).stdout
            self.assertEqual([fact for fact in facts if fact not in said], [], said)
        self.assertEqual((self.made(), (self.folder / "small").exists()), ([], False))
        self.passes("--only", "ranks=2", "--only", "comm.backend=raw", "--set", "repeats=1")
        self.assertEqual(self.names(), ["p002-r1"])
        self.passes("--resume", "--set", "repeats=2")
        self.assertEqual(len(self.made()), 8)

    def test_points_that_cannot_run_here_are_told(self):
        done = self.passes("--set", "ranks_per_node=1", "--set", "repeats=1")
        self.assertEqual(len(self.made()), 2)
        self.assertIn("p002 (2 ranks, raw) cannot run here: needs 2 nodes;", done.stderr)
        self.assertEqual([bool(point["skipped"]) for point in self.state()["points"]], [False, False, True, True])
        self.assert_fails(self.study("-o", "other", "--set", "gpus_per_rank=8"), "none of the points")


class Failures(StudyTest):
    TEXT = ONE.replace("[raw]", "[raw, view]")

    def test_failures(self):
        """How often a failed run is tried, and the exit code; the rest is made, and --resume tries again."""
        early = """echo '{"ended_early": true, "end_signal": "walltime"}' >"$record"; exit 4"""
        for script, code, tries, fact in (
            ("exit 3", 3, 2, "exit code 3, no output"),
            ("passed=0", 1, 2, "verification failed: 0.5, tolerance 0.25"),
            ("echo 'plate.yaml:3:1: too many cells' >&2; exit 2", 2, 1, "too many cells"),
            (r"printf 'a\0b'; exit 3", 3, 2, r"exit code 3, a\x00b"),
            ("exit 1", 3, 2, "exit code 1"),
            ("exit 0", 3, 2, "no record"),
            ("exit 137", 3, 2, "exit code 137"),
            ("revision=other", 2, 1, "revision other"),
            (early, 2, 1, "checkpoint.walltime"),
        ):
            with self.subTest(script):
                shutil.rmtree(self.folder / "small", ignore_errors=True)
                self.write("obey", f"if [[ $settings == *raw* ]]; then {script}; fi")
                done = self.study()
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(fact, done.stdout)
                self.assertEqual(self.states(), {"p000-r1": ["failed"] * tries, "p001-r1": ["passed"]})
        (self.folder / "obey").unlink()
        self.assertIn(f"{tries} failed at first", self.passes("--resume").stdout)
        self.assertEqual(self.states(), {"p000-r1": ["failed", "passed"], "p001-r1": ["passed"]})
        for file in "p000-r1.log", "p000-r1-a2.json":
            self.assertTrue((self.folder / "small/runs" / file).exists())

    def test_a_run_that_takes_too_long(self):
        self.write("study.yaml", ONE + "timeout: 1\n")
        self.obey_once("exec sleep 60")
        self.assertIn("timeout", self.passes().stderr)
        self.assertEqual(self.states(), {"p000-r1": ["failed", "passed"]})

    def test_absent_launchers(self):
        self.write("build/CMakeCache.txt", "MPIEXEC_EXECUTABLE:FILEPATH=/nowhere/mpiexec\n")
        done = self.kontor("study", "study.yaml")
        self.assertIn("no /nowhere/mpiexec here", done.stdout)
        self.assertEqual(done.returncode, 2)

    def test_runs_that_end_early(self):
        """Told by the scheduler, say: the study ends too, and --resume makes the run again."""
        self.write("obey", """if [[ $record == *p000* ]]; then
                      echo '{"ended_early": true, "end_signal": "TERM"}' >"$record"; exit 4; fi""")
        self.assert_fails(self.study(), "--resume", code=143)
        self.assertEqual(self.states()["p000-r1"], ["ended early"])
        (self.folder / "obey").unlink()
        self.passes("--resume")
        self.assertEqual(self.states(), {"p000-r1": ["ended early", "passed"], "p001-r1": ["passed"]})


class Submitted(StudyTest):
    def fake_slurm(self):
        """Begins each script at once; its job may begin before the study has submitted the next."""
        self.fake("sbatch", 'exec 3>&1 >/dev/null 2>&1; echo "17;cluster" >&3; exec 3>&-\n'
                            '(bash "$2" >>"$HOME/jobs.log" 2>&1; echo >>"$HOME/ended") & ')
        self.fake("squeue", "exit 1")

    def wait_for_jobs(self, count):
        self.wait_until(lambda: len(self.lines("ended")) >= count, "the jobs have not ended")

    def test_a_folder_with_an_odd_name(self):
        """Its scripts are bash's to run, and a command that is told can be pasted."""
        self.fake_slurm()
        self.write("study.yaml", ONE)
        name = "it's \"$my\" {{study}}; 50%j"
        self.assertIn(shlex.quote(name), self.passes("--submit", "-o", name).stderr)
        self.wait_for_jobs(1)
        self.assertEqual(len(self.made()), 1, (self.folder / "jobs.log").read_text())
        for name in "two\nlines", "back\\slash":
            self.assert_fails(self.study("--submit", "-o", name), "-o names another folder")

    def test_submitted(self):
        self.fake_slurm()
        self.obey_once("echo 'no room for this' >&2; exit 3", of="raw")
        self.passes("--submit", "--set", "gpus_per_rank=0")
        self.assertEqual([(job["id"], job["name"]) for job in self.state()["jobs"]], [("17", "r1"), ("17", "r2")])
        self.wait_for_jobs(2)
        self.assertEqual(len(self.made()), 9, (self.folder / "jobs.log").read_text())
        self.assertEqual(self.state()["runs"], [])
        self.assertIn("4 points of heat, 8 runs", self.succeeds("report", "small").stdout)
        self.fake("squeue", "echo 17")
        self.assert_fails(self.study("--resume"), "jobs of this study wait or run: 17")
        self.fake("squeue", "exit 1")
        done = self.succeeds("study", "small", "--resume", "--submit")
        self.assertIn("8 passed, 1 failed at first", done.stdout)
        self.assertEqual(sum(map(len, self.states().values())), 9)
        self.assertEqual(self.state()["machine"]["cores"], 2)
        self.assertEqual(len(self.made()), 9, "there was nothing to submit")
        self.assertEqual(len((self.folder / "small/study.csv").read_text().splitlines()), 10)
        self.fake("sbatch", "echo 'sbatch: error: invalid partition specified: debg' >&2; exit 1")
        self.assert_fails(self.study("--submit", "-o", "x"), "sbatch", "exit code 1", "invalid partition", code=3)

    def test_what_shares_a_job(self):
        for how, names in (("point", ["p000", "p001", "p002", "p003"]), ("size", ["r1", "r2"]), ("study", ["all"])):
            shutil.rmtree(self.folder / "small", ignore_errors=True)
            done = self.passes("--submit", "--set", f"launch.jobs={how}", "--set", "launch.scheduler=flux")
            found = sorted(path.name for path in (self.folder / "small/jobs").iterdir())
            self.assertEqual(found, [f"{name}.flux" for name in names])
        self.assertIn("flux is not here", done.stderr)
        self.assertEqual(self.made(), [])
        self.succeeds("study", "small", "--job")
        self.assertEqual(len(self.made()), 8)

    def test_jobs_beside_each_other(self):
        """They share the folder with each other and with nothing else, and none makes what another is making."""
        self.passes("--submit", "--set", "launch.scheduler=flux")
        self.write("obey", """if [[ $record == *p000* ]]; then
                      echo $$ >>"$HOME/asleep"
                      for i in {1..200}; do [[ -e $HOME/may_end ]] && break; sleep 0.1; done; fi""")
        first = self.start("study", "small", "--job", "--only", "point=p000")
        self.wait_until(lambda: self.lines("asleep"), "the first job has not begun")
        self.assert_fails(self.study("--resume"), "another study is running")
        self.succeeds("study", "small", "--job", "--only", "ranks=2")
        self.assert_fails(self.kontor("study", "small", "--job", "--only", "point=p000"), "another job", "p000-r1.log")
        self.write("may_end", "")
        self.assertEqual(first.wait(30), 0)
        self.assertEqual(sorted(self.names()), sorted(name for name in ALL if "p001" not in name))
        self.passes("--resume")
        self.assertEqual(len(self.made()), 8)
        self.assert_fails(self.kontor("study", "small", "--job", "--set", "repeats=3"), "--job takes the study")

    def test_a_template(self):
        self.write("study.yaml", STUDY.replace("[1, 2]", "[4, 8]")
                   + "ranks_per_node: 4\nlaunch: {minutes: 90, setup: [':']}\n")
        self.write("job.sh", "#!/bin/sh\n#PBS -N {name}\n"
                   "#PBS -l select={nodes}:mpiprocs={ranks_per_node}:ncpus={threads}:ngpus={gpus_per_node}\n"
                   "#PBS -l walltime={time}\n# {minutes} {ranks} {gpus} ${HOME} { any }\n{command}\n")
        done = self.passes("--submit", "--job-template", "job.sh", "--set", "gpus_per_rank=1")
        self.assertIn("submit the scripts", done.stderr)
        self.assertEqual(self.state()["jobs"], [])
        script = (self.folder / "small/jobs/n2-r8-g8.sh").read_text()
        head, _, tail = script.partition("export KONTOR_NODES=2\n:\n")
        self.assertEqual(head, "#!/bin/sh\n#PBS -N small-n2-r8-g8\n#PBS -l select=2:mpiprocs=4:ncpus=1:ngpus=4\n"
                               "#PBS -l walltime=01:30:00\n# 90 8 8 ${HOME} { any }\n")
        self.assertTrue(tail.endswith("--job --only=point=p002 --only=point=p003\n"), tail)
        self.passes("--submit", "--job-template", "job.sh", "-o", "cpus")
        done = subprocess.run(["sh", self.folder / "cpus/jobs/n2-r8.sh"], env=self.environment, capture_output=True,
                              text=True, check=False)
        self.assertIn("4 runs of 2 points: 4 passed", done.stdout, done.stderr)
        self.write("wrong.sh", "#!/bin/sh\nsrun -n {rank}\n")
        for words, *facts in (
            (["--submit", "--job-template", "none.sh"], "none.sh: cannot read", "E-FILE-READ"),
            (["--job-template", "job.sh"], "--submit"),
            (["--submit", "--job-template", "wrong.sh"], "wrong.sh:2:9: {rank} is not known", "did you mean ranks?",
             "wrong.sh:1:1:"),
        ):
            self.assert_fails(self.study(*words, "-o", "x"), *facts)
        self.assertFalse((self.folder / "x").exists())
