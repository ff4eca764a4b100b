# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: making the runs of a study, what ends it, and going on. The mini-app and the launcher are fakes."""

import csv
import errno
import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
import unittest
from unittest.mock import patch

from study_case import STUDY, StudyTest

from kontor_study.folder import replace
from kontor_study.table import no_formula

ALL = [f"p00{point}-r{repeat}" for repeat in (1, 2) for point in range(4)]
ONE = STUDY.replace("[1, 2]", "[1]").replace("[raw, view]", "[raw]").replace("repeats: 2", "repeats: 1")


class Made(StudyTest):
    def test_a_whole_study(self):
        """Every point in each repeat, once, in an order of the seed; state, table and index agree; again there is nothing to do."""
        done = self.kontor("study", "study.yaml", PYTHONPATH="", KONTOR_LAUNCHER="")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("8 runs of 4 points: 8 passed", done.stdout)
        self.assertIn("[8/8]", done.stderr)
        made = [line.split()[0] for line in self.made()]
        self.assertEqual(sorted(made, key=lambda name: name[-1] + name), ALL)
        self.assertEqual({name[-1] for name in made[:4]}, {"1"}, "one repeat after the other")
        self.assertNotEqual([name[:4] for name in made[:4]], [name[:4] for name in made[4:]], "shuffled anew")
        self.assertIn("comm.backend=view", next(line for line in self.made() if line.startswith("p003")))
        state = self.state()
        self.assertEqual((state["format"], state["study"], state["kind"], state["app"], state["seed"], state["git_revision"]),
                         (1, "small", "strong", "heat", 7, "abc"))
        self.assertEqual(state["machine"]["cores"], 2)
        self.assertEqual(set(state["runs"][0]), {"point", "repeat", "attempt", "state", "exit_code", "message", "record", "result", "log", "started", "seconds"})
        with open(self.folder / "small/study.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 8)
        row = next(row for row in rows if row["point"] == "p003")
        self.assertEqual([row[key] for key in ("ranks", "set.comm.backend", "repeat.median", "fom.cell_updates", "calibration.triad_bandwidth", "run.git_revision")],
                         ["2", "view", "0.5", "2000000000.0", "10000000000.0", "abc"])
        self.index(rows)
        again = self.kontor("study", "small", "--resume", KONTOR_LAUNCHER="")
        self.assertEqual((again.returncode, len(self.made())), (0, 8), again.stderr)

    def index(self, rows):
        try:
            import h5py
        except ImportError:
            return
        with h5py.File(self.folder / "small/study.h5") as file:
            self.assertEqual(set(file["table"]), set(rows[0]))
            self.assertEqual(list(file["table/fom.cell_updates"]), [2e9] * 8)
            self.assertEqual(file["table/set.comm.backend"].asstr()[...].tolist(), [row["set.comm.backend"] for row in rows])
            self.assertIn("seed: 7", file.attrs["study_yaml"])
            self.assertEqual(file["runs"].get("p003-r2", getlink=True).filename, "runs/p003-r2.h5")

    def test_dry_run_only_and_print(self):
        done = self.study("--dry-run", "--only", "ranks==2", "--set", "gpus=ranks-1")
        self.assertEqual((done.returncode, self.made()), (0, []), done.stderr)
        for fact in ("p002", "p003", "cannot run here: needs 1 GPU;", "2 points, 2 of them cannot run here"):
            self.assertIn(fact, done.stdout)
        done = self.study("--dry-run")
        for fact in ("OMP_NUM_THREADS=1", "run plate.yaml -n 2 --set comm.backend=view", "-o small/runs/p003-r1.h5", "about", "assumed", "8 runs"):
            self.assertIn(fact, done.stdout)
        self.assertIn("repeats: 2\n", self.study("--print").stdout)
        self.assertFalse((self.folder / "small").exists())
        done = self.study("--only", "ranks==2 and comm.backend==raw", "--set", "repeats=1")
        self.assertEqual((done.returncode, [line.split()[0] for line in self.made()]), (0, ["p002-r1"]), done.stderr)
        done = self.study("--resume", "--set", "repeats=2")
        self.assertEqual((done.returncode, len(self.made())), (0, 8), done.stderr)

    def test_points_that_cannot_run_here_are_told(self):
        done = self.study("--set", "gpus=ranks-1", "--set", "repeats=1")
        self.assertEqual((done.returncode, len(self.made())), (0, 2), done.stderr)
        self.assertIn("p002 (2 ranks, raw) cannot run here: needs 1 GPU;", done.stderr)
        self.assertEqual([bool(point["skipped"]) for point in self.state()["points"]], [False, False, True, True])
        self.assert_fails(self.study("-o", "other", "--set", "gpus=8"), "none of the points")


class Failures(StudyTest):
    def setUp(self):
        super().setUp()
        self.write("study.yaml", ONE.replace("[raw]", "[raw, view]"))

    def test_a_failed_run_is_tried_once_more_and_does_not_stop_the_rest(self):
        self.obey('if [[ $settings == *raw* && ! -e $HOME/failed ]]; then touch "$HOME/failed"; echo "no room for this" >&2; exit 3; fi')
        done = self.study()
        self.assertEqual((done.returncode, self.states()), (0, {"p000-r1": ["failed", "passed"], "p001-r1": ["passed"]}), done.stderr)
        self.assertIn("no room for this", done.stderr)
        self.assertIn("1 failed at first", done.stdout)
        entry = next(run for run in self.state()["runs"] if run["state"] == "failed")
        self.assertEqual((entry["exit_code"], entry["record"]), (3, None))
        self.assertTrue((self.folder / "small/runs/p000-r1.log").exists() and (self.folder / "small/runs/p000-r1-a2.json").exists())

    def test_exit_codes(self):
        """Of what failed twice; the deck that a mini-app refuses is not tried again."""
        for script, code, tries, fact in (("exit 3", 3, 2, "exit code 3"), ("passed=0", 1, 2, "verification failed: 0.5, tolerance 0.25"),
                                          ("echo 'plate.yaml:3:1: too many cells' >&2; exit 2", 2, 1, "too many cells"),
                                          ("exit 1", 3, 2, "exit code 1"), ("exit 0", 3, 2, "no record"), ("kill -KILL $$", 3, 2, "KILL"),
                                          ("revision=other", 2, 1, "revision other")):
            with self.subTest(script):
                shutil.rmtree(self.folder / "small", ignore_errors=True)
                self.obey(f"if [[ $settings == *raw* ]]; then {script}; fi")
                done = self.study()
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(fact, done.stdout)
                self.assertEqual(self.states(), {"p000-r1": ["failed"] * tries, "p001-r1": ["passed"]})
        (self.folder / "obey").unlink()
        before = len(self.made())
        self.assertEqual(self.study("--resume").returncode, 2)
        self.assertEqual(len(self.made()), before, "what has failed is there")
        self.assertEqual(self.study("--resume", "--retry-failed").returncode, 0)
        self.assertEqual(self.states(), {"p000-r1": ["failed", "passed"], "p001-r1": ["passed"]})

    def test_a_run_that_takes_too_long(self):
        self.write("study.yaml", ONE + "timeout: 1\n")
        self.obey('if [[ ! -e $HOME/slept ]]; then touch "$HOME/slept"; sleep 60; fi')
        done = self.study()
        self.assertEqual((done.returncode, self.states()), (0, {"p000-r1": ["failed", "passed"]}), done.stderr)
        self.assertIn("timeout", done.stderr)

    def test_absent_launchers(self):
        done = self.study(KONTOR_LAUNCHER="no-such-launcher --fast")
        self.assert_fails(done, "KONTOR_LAUNCHER", "no-such-launcher")
        self.write("build/CMakeCache.txt", "MPIEXEC_EXECUTABLE:FILEPATH=/nowhere/mpiexec\n")
        self.assert_fails(self.study(KONTOR_LAUNCHER=""), "no /nowhere/mpiexec here")
        self.assertFalse((self.folder / "small").exists())

    def test_a_run_that_was_told_to_end(self):
        """By the scheduler, say: the study ends too, and --resume makes the run again."""
        self.obey('if [[ ! -e $HOME/early ]]; then touch "$HOME/early"; echo \'{"ended_early": true, "end_signal": "TERM"}\' >"$record"; exit 4; fi')
        done = self.study()
        self.assert_fails(done, "ended early", "TERM", "--resume", code=143)
        self.assertEqual([run["state"] for run in self.state()["runs"]], ["ended early"])
        self.assertEqual(self.study("--resume").returncode, 0)
        self.assertEqual(sorted(map(tuple, self.states().values())), [("ended early", "passed"), ("passed",)])

    def test_a_run_that_its_walltime_has_ended(self):
        """It has failed at once, and the others are made."""
        self.obey('if [[ $record == *p000* ]]; then echo \'{"ended_early": true, "end_signal": "walltime"}\' >"$record"; exit 4; fi')
        done = self.study()
        self.assert_fails(done, "checkpoint.walltime", code=2)
        self.assertEqual(sorted(map(tuple, self.states().values())), [("failed",), ("passed",)])


class Ends(StudyTest):
    """What ends a study, and --resume."""

    def begin(self, *arguments, how="exec sleep 60"):
        """A study whose third run does not end."""
        self.obey(f'if (($(wc -l <"$HOME/made") == 3)); then echo $$ >"$HOME/asleep"; {how}; fi')
        running = self.start("study", "study.yaml", *arguments)
        end = time.monotonic() + 30
        while time.monotonic() < end and not ((self.folder / "asleep").exists() and (self.folder / "asleep").read_text()):
            time.sleep(0.02)
        return running, int((self.folder / "asleep").read_text())

    def locked(self):
        with open(self.folder / "small/.kontor-study-lock", "r+", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def goes_on(self, again):
        (self.folder / "obey").unlink()
        done = self.study("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        made = [line.split()[0].removesuffix("-a2") for line in self.made()]
        self.assertEqual(sorted(set(made), key=lambda name: name[-1] + name), ALL)
        self.assertEqual(len(made), len(ALL) + again, "only the run under way is made again")
        self.assertIn("8 passed", done.stdout)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                running, process = self.begin("-o", "small")
                running.send_signal(number)
                _, err = running.communicate(timeout=30)
                self.assertEqual(running.returncode, 128 + number, err)
                self.assertIn("--resume", err)
                self.assert_ends(process)
                self.assertEqual([run["state"] for run in self.state()["runs"]], ["passed", "passed", "ended early"])
                self.assertTrue((self.folder / "small/study.csv").exists())
                self.goes_on(again=1)
                for name in ("small", "made", "asleep"):
                    path = self.folder / name
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def test_kill(self):
        running, process = self.begin(how="trap 'until [[ -e $HOME/may_end ]]; do sleep 0.05; done; exit 3' TERM; sleep 60 & wait")
        self.assert_fails(self.study("--resume"), "another study is running", f"process {running.pid}")
        running.kill()
        running.wait()
        self.assert_fails(self.study("--resume"), "another study is running")
        self.write("may_end", "")
        self.assert_ends(process)
        while self.locked():
            time.sleep(0.05)
        # What it had made but could not tell of is taken up.
        state = self.state()
        lost = state["runs"].pop()
        self.write("small/study.json", json.dumps(state))
        # And what killed ones have left goes, but for what others hold or have put there.
        left = [self.write(f"small/{name}", text) for name, text in (
            ("study.json.123.0a.tmp", "{"), ("runs/.p000-r1-a9.h5.kontor-lock", "kontor: process 1 on host a,\np000-r1-a9.h5.0123abcd.tmp\n../../mine\n"),
            ("runs/p000-r1-a9.h5.0123abcd.tmp", ""))]
        others = [self.write(name, text) for name, text in (
            ("mine", ""), ("small/runs/.x.kontor-lock", "theirs"), ("small/runs/.y.kontor-lock", "kontor: process 2,\ny.0123abcd.tmp"), ("small/runs/y.0123abcd.tmp", ""))]
        held = os.open(self.folder / others[2], os.O_RDWR)
        fcntl.flock(held, fcntl.LOCK_EX)
        self.addCleanup(os.close, held)
        self.goes_on(again=1)
        self.assertEqual(self.states()[f"{lost['point']}-r{lost['repeat']}"], ["passed"])
        self.assertEqual([name for name in left if (self.folder / name).exists()], [])
        self.assertEqual([name for name in others if not (self.folder / name).exists()], [])

    def test_a_folder_in_use(self):
        (self.folder / "small").mkdir()
        with open(self.folder / "small/.kontor-study-lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assert_fails(self.study(), "small", "another study is running")
        self.assertEqual(self.study().returncode, 0)

    def test_links_that_others_have_put_there(self):
        """Neither is what they name changed, nor is it written to."""
        mine = self.folder / self.write("mine.txt", "mine")
        (self.folder / "small").mkdir()
        lock = self.folder / "small/.kontor-study-lock"
        lock.symlink_to(mine)
        self.assert_fails(self.study(), "small", "cannot be made or written")
        lock.unlink()
        with patch("secrets.token_hex", return_value="0"):
            aside = self.folder / f"small/study.json.{os.getpid()}.0.tmp"
            aside.symlink_to(mine)
            with self.assertRaises(FileExistsError):
                replace(self.folder / "small/study.json", "{}")
            self.assertTrue(aside.is_symlink())
        self.assertEqual(mine.read_text(), "mine")

    def test_names_without_end(self):
        self.assert_fails(self.study("--dry-run", "--set", f"deck={'x' * 5000}"), "no file can be called so", code=2)
        self.assert_fails(self.study("-o", "x" * 5000), "no folder can be called so", code=2)
        self.assert_fails(self.kontor("study", "x" * 5000), "cannot read the study: File name too long", code=2)

    def test_no_cell_is_a_formula(self):
        for text in "=1+1", "@SUM(A1)", "+1", "-1", "\t=1":
            self.assertEqual(no_formula(text), f"'{text}")
        for value in "raw", "1", "", -1, -0.5, None:
            self.assertEqual(no_formula(value), value)

    def test_folders_of_others(self):
        self.write("mine/thesis.tex", "")
        self.assert_fails(self.study("-o", "mine"), "mine", "thesis.tex", "no study")
        self.assert_fails(self.study("-o", "plate.yaml"), "plate.yaml", "not a folder")
        self.assert_fails(self.study("--resume"), "small", "no study to resume")
        self.write("study.yaml", ONE)
        self.assertEqual(self.study().returncode, 0)
        self.assert_fails(self.study(), "has a study already", "--resume")
        for change, facts in ((["--set", "ranks=[1,2]"], ["ranks is [1,2], was [1]"]), (["--set", "study=large"], ["study is large, was small"]),
                              (["--set", "seed=8"], ["seed is 8, was 7"]), (["--set", "set.solver.tolerance=1"], ["set is {solver.tolerance: 1}, was {}"])):
            self.assert_fails(self.study("--resume", "-o", "small", *change), "another study", *facts)
        self.write("plate.yaml", "app: heat\n# changed\n")
        self.assert_fails(self.study("--resume"), "plate.yaml has changed")
        self.write("small/study.json", "{")
        self.assert_fails(self.study("--resume"), "study.json", "damaged")

    def test_other_revisions_and_machines(self):
        self.write("study.yaml", ONE)
        self.assertEqual(self.study().returncode, 0)
        self.write("revision", "def")
        self.assert_fails(self.study("--resume", "--set", "repeats=2", KONTOR_STUDY_CORES="1"), "--allow-mixed", "revision def, was abc", "cores 1, was 2")
        done = self.study("--resume", "--set", "repeats=2", "--allow-mixed", KONTOR_STUDY_CORES="1")
        self.assertEqual((done.returncode, self.states()), (0, {"p000-r1": ["passed"], "p000-r2": ["passed"]}), done.stderr)
        self.assertIn("revision def, was abc", self.state()["mixed"])


class Disks(StudyTest):
    def test_a_table_that_cannot_be_written(self):
        """The runs are kept, and the next try writes it."""
        self.write("study.yaml", ONE)
        self.obey('mkdir "$(dirname "$(dirname "$record")")/study.csv"')
        done = self.study()
        self.assert_fails(done, "study.csv cannot be written", "runs are kept", code=3)
        self.assertEqual(self.states(), {"p000-r1": ["passed"]})
        (self.folder / "small/study.csv").rmdir()
        done = self.study("--resume")
        self.assertEqual((done.returncode, len(self.made())), (0, 1), done.stderr)
        self.assertEqual(list((self.folder / "small").glob("*.tmp")), [])

    def test_a_file_system_without_locks(self):
        """As Lustre's without the mount option `flock`: the study runs, and tells."""
        self.write("study.yaml", ONE)
        with patch("fcntl.flock", side_effect=OSError(errno.ENOSYS, "Function not implemented")):
            done = self.study()
        self.assertEqual((done.returncode, self.states()), (0, {"p000-r1": ["passed"]}), done.stderr)
        self.assertIn("small has no locks (flock: Function not implemented)", done.stderr)
        with patch("fcntl.flock", side_effect=OSError(errno.EIO, "Input/output error")):
            self.assert_fails(self.study("--resume"), "cannot be made or written: Input/output error")

    def test_writing_that_is_interrupted(self):
        """State, table and index are the old ones or the new ones, and nothing else is left."""
        self.write("study.yaml", ONE)
        self.assertEqual(self.study().returncode, 0)
        small = self.folder / "small"
        before = {path.name: path.read_bytes() for path in small.iterdir() if path.is_file()}
        full = OSError(errno.ENOSPC, "No space left on device")
        for what in "os.fsync", "os.replace":
            with patch(what, side_effect=full):
                self.assert_fails(self.study("--resume", "--set", "repeats=2"), "cannot be written: No space left", "--resume", code=3)
            self.assertEqual({path.name: path.read_bytes() for path in small.iterdir() if path.is_file()}, before)
        self.assertEqual(self.study("--resume", "--set", "repeats=2").returncode, 0)
        self.assertEqual(len(self.made()), 2)

    def test_a_full_disk(self):
        """What is finished is kept; after making room --resume goes on."""
        small = self.folder / "small"
        small.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "kontor", str(small)], capture_output=True, check=False)
        if mount.returncode != 0:
            self.skipTest("no tmpfs can be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=False)
        # What is left would do for the state, so that it is the failed run that tells.
        self.obey(f"""if (($(wc -l <"$HOME/made") == 3)); then
                        head -c 1000000 /dev/zero >"{small}/runs/ballast" 2>/dev/null; truncate -s -40K "{small}/runs/ballast"; exit 3
                      fi""")
        done = self.study()
        self.assert_fails(done, "No space left", "finished runs are kept in small/runs; free", "--resume", code=3)
        finished = [f"{run['point']}-r{run['repeat']}" for run in self.state()["runs"]]
        self.assertGreaterEqual(len(finished), 2)
        self.assertEqual({run["state"] for run in self.state()["runs"]}, {"passed"})
        (small / "runs/ballast").unlink()
        (self.folder / "obey").unlink()
        done = self.study("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(map(tuple, self.states().values())), {("passed",)})
        made = [line.split()[0] for line in self.made()]
        self.assertTrue(all(made.count(name) == 1 for name in finished), made)


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
        done = self.study("--submit", "-o", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(shlex.quote(name), done.stderr)
        self.assertEqual(len(self.made()), 1, (self.folder / "jobs.log").read_text())
        for name in "two\nlines", "back\\slash":
            self.assert_fails(self.study("--submit", "-o", name), "-o names another folder", code=2)

    def test_written_where_there_is_no_scheduler(self):
        self.write("study.yaml", STUDY + "launch: {scheduler: pbs}\n")
        done = self.study("--submit")
        self.assertEqual((done.returncode, self.made()), (0, []), done.stderr)
        self.assertIn("qsub is not here", done.stderr)
        self.assertEqual(sorted(path.name for path in (self.folder / "small/jobs").iterdir()), ["r1.pbs", "r2.pbs"])

    def test_submitted_and_collected(self):
        self.fake_slurm()
        self.obey('if [[ $settings == *raw* && ! -e $HOME/failed ]]; then touch "$HOME/failed"; echo "no room for this" >&2; exit 3; fi')
        done = self.study("--submit", "--set", "gpus=0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.made()), 9, (self.folder / "jobs.log").read_text())
        self.assertEqual(self.state()["runs"], [])
        self.assertEqual([(job["id"], job["part"], job["repeats"]) for job in self.state()["jobs"]], [("17", "r1", [1, 2]), ("17", "r2", [1, 2])])
        self.fake("squeue", "echo 17")
        self.assert_fails(self.study("--resume"), "jobs of this study wait or run: 17")
        self.fake("squeue", "exit 1")
        done = self.kontor("study", "small", "--collect")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("8 passed, 1 failed at first", done.stdout)
        self.assertEqual(sum(map(len, self.states().values())), 9)
        self.assertEqual(self.state()["machine"]["cores"], 2)
        self.assertEqual(self.kontor("study", "small", "--resume", "--submit").returncode, 0)
        self.assertEqual(len(self.made()), 9, "there was nothing to submit")

    def test_a_scheduler_that_refuses(self):
        self.fake("sbatch", "echo 'sbatch: error: invalid partition specified: debg' >&2; exit 1")
        self.assert_fails(self.study("--submit"), "sbatch", "exit code 1", "invalid partition", code=3)


if __name__ == "__main__":
    unittest.main()
