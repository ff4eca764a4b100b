# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: what ends it, and going on. The mini-app and the launcher are fakes."""

import errno
import fcntl
import json
import shutil
import signal
import subprocess
from unittest.mock import patch

from study_case import ALL, ONE, StudyTest


class Ends(StudyTest):
    """What ends a study, and --resume."""

    def begin(self, *arguments, how="exec sleep 60"):
        """A study whose third run does not end."""
        self.write("obey", f'if (($(wc -l <"$HOME/made") == 3)); then echo $$ >"$HOME/asleep"; {how}; fi')
        running = self.start("study", "study.yaml", *arguments)
        return running, int(self.wait_until(lambda: self.lines("asleep"), "the third run has not begun")[0])

    def locked(self):
        with open(self.folder / "small/.kontor-study-lock", "r+", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def goes_on(self, again):
        (self.folder / "obey").unlink()
        done = self.passes("--resume")
        made = [name.removesuffix("-a2") for name in self.names()]
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
        self.wait_until(lambda: not self.locked(), "the lock is held")
        # What it had made but could not tell of is taken up.
        state = self.state()
        lost = state["runs"].pop()
        self.write("small/study.json", json.dumps(state))
        self.goes_on(again=1)
        self.assertEqual(self.states()[f"{lost['point']}-r{lost['repeat']}"], ["passed"])

    def test_links_that_others_have_put_there(self):
        """Neither is what they name changed, nor is it written to."""
        mine = self.folder / self.write("mine.txt", "mine")
        (self.folder / "small").mkdir()
        lock = self.folder / "small/.kontor-study-lock"
        lock.symlink_to(mine)
        self.assert_fails(self.study(), "small", "cannot be made or written")
        lock.unlink()
        self.write("study.yaml", ONE)
        self.passes()
        (self.folder / "small/study.json.tmp").symlink_to(mine)
        self.passes("--resume")
        self.assertEqual(mine.read_text(), "mine")
        self.assertEqual(list((self.folder / "small").glob("*.tmp")), [])

    def test_folders_of_others(self):
        self.write("mine/thesis.tex", "")
        self.assert_fails(self.study("-o", "mine"), "mine", "thesis.tex", "no study")
        self.assert_fails(self.study("-o", "plate.yaml"), "plate.yaml", "not a folder")
        self.assert_fails(self.study("-o", "x" * 5000), "File name too long", "E-STUDY-FOLDER")
        self.assert_fails(self.study("--resume"), "small", "no study to resume")
        self.write("study.yaml", ONE)
        self.passes()
        self.assert_fails(self.study(), "has a study already", "--resume")
        for change, facts in ((["--set", "ranks=[1,2]"], ["ranks is [1,2], was [1]"]), (["--set", "study=large"], ["study is large, was small"]),
                              (["--set", "seed=8"], ["seed is 8, was 7"]), (["--set", "set.solver.tolerance=1"], ["set is {solver.tolerance: 1}, was {}"])):
            self.assert_fails(self.study("--resume", "-o", "small", *change), "another study", *facts)
        self.write("plate.yaml", "app: heat\n# changed\n")
        self.assert_fails(self.study("--resume"), "plate.yaml has changed")

    def test_a_damaged_state(self):
        self.write("study.yaml", ONE)
        self.passes()
        for text, fact in (("{", "is damaged"), ("[" * 100_000, "is damaged"), ('{"format": 1}', "of format 2")):
            self.write("small/study.json", text)
            self.assert_fails(self.study("--resume"), "study.json is", fact, "E-STUDY-FOLDER")
        self.passes("--dry-run")

    def test_other_revisions_and_machines(self):
        self.write("study.yaml", ONE)
        self.passes()
        self.write("revision", "def")
        self.assert_fails(self.study("--resume", "--set", "repeats=2", SLURM_CPUS_ON_NODE="1"), "another study",
                          "revision is def, was abc", "cores is 1, was 2")


class Disks(StudyTest):
    def test_a_table_that_cannot_be_written(self):
        """The runs are kept, and the next try writes it."""
        self.write("study.yaml", ONE)
        self.write("obey", 'mkdir "$(dirname "$(dirname "$record")")/study.csv"')
        self.assert_fails(self.study(), "study.csv cannot be written", "runs are kept", code=3)
        self.assertEqual(self.states(), {"p000-r1": ["passed"]})
        (self.folder / "small/study.csv").rmdir()
        self.passes("--resume")
        self.assertEqual(len(self.made()), 1)
        self.assertEqual(list((self.folder / "small").glob("*.tmp")), [])

    def test_a_file_system_without_locks(self):
        """As Lustre's without the mount option `flock`: the study runs, and tells."""
        self.write("study.yaml", ONE)
        with patch("fcntl.flock", side_effect=OSError(errno.ENOSYS, "Function not implemented")):
            done = self.passes()
        self.assertEqual(self.states(), {"p000-r1": ["passed"]})
        self.assertIn("small has no locks (flock: Function not implemented)", done.stderr)
        with patch("fcntl.flock", side_effect=OSError(errno.EIO, "Input/output error")):
            self.assert_fails(self.study("--resume"), "cannot be made or written: Input/output error")

    def test_writing_that_is_interrupted(self):
        """State, table and index are the old ones or the new ones, and nothing else is left."""
        self.write("study.yaml", ONE)
        self.passes()
        small = self.folder / "small"
        before = {path.name: path.read_bytes() for path in small.iterdir() if path.is_file()}
        full = OSError(errno.ENOSPC, "No space left on device")
        for what in "os.fsync", "os.replace":
            with patch(what, side_effect=full):
                self.assert_fails(self.study("--resume", "--set", "repeats=2"), "cannot be written: No space left", "--resume", code=3)
            self.assertEqual({path.name: path.read_bytes() for path in small.iterdir() if path.is_file()}, before)
        self.passes("--resume", "--set", "repeats=2")
        self.assertEqual(len(self.made()), 2)

    def test_a_full_disk(self):
        """What is finished is kept; after making room --resume makes the rest."""
        small = self.folder / "small"
        small.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "kontor", str(small)], capture_output=True, check=False)
        if mount.returncode != 0:
            self.skipTest("no tmpfs can be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=False)
        self.write("obey", f"""if (($(wc -l <"$HOME/made") == 3)); then
                        head -c 1000000 /dev/zero >"{small}/runs/ballast" 2>/dev/null; exit 3
                      fi""")
        self.assert_fails(self.study(), "No space left", "finished runs are kept in small/runs; free", "--resume", code=3)
        finished = [f"{run['point']}-r{run['repeat']}" for run in self.state()["runs"]]
        self.assertGreaterEqual(len(finished), 2)
        self.assertEqual({run["state"] for run in self.state()["runs"]}, {"passed"})
        (small / "runs/ballast").unlink()
        (self.folder / "obey").unlink()
        self.passes("--resume")
        self.assertEqual(set(map(tuple, self.states().values())), {("passed",)})
        made = self.names()
        self.assertTrue(all(made.count(name) == 1 for name in finished), made)
