# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: what ends it, and --resume. The mini-app and the launcher are fakes."""

import errno
import fcntl
import json
import shutil
import signal
import subprocess
from unittest.mock import patch

from study_case import ALL, ONE, StudyTest


class Ends(StudyTest):
    def begin(self, how="exec sleep 60"):
        """A study whose third run does not end."""
        self.write("obey", f'if (($(wc -l <"$HOME/made") == 3)); then echo $$ >"$HOME/asleep"; {how}; fi')
        running = self.start("study", "study.yaml")
        return running, int(self.wait_until(lambda: self.lines("asleep"), "the third run has not begun")[0])

    def locked(self):
        with open(self.folder / "small/.kontor-study-lock", "r+", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def resumes(self):
        """Only the run under way is made again."""
        (self.folder / "obey").unlink()
        self.assertIn("8 passed", self.passes("--resume").stdout)
        made = [name.removesuffix("-a2") for name in self.names()]
        self.assertEqual(sorted(set(made), key=lambda name: name[-1] + name), ALL)
        self.assertEqual(len(made), len(ALL) + 1)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                running, process = self.begin()
                running.send_signal(number)
                _, err = running.communicate(timeout=30)
                self.assertEqual(running.returncode, 128 + number, err)
                self.assertIn("--resume", err)
                self.assert_ends(process)
                self.assertEqual([run["state"] for run in self.state()["runs"]], ["passed", "passed", "ended early"])
                self.assertTrue((self.folder / "small/study.csv").exists())
                self.resumes()
                shutil.rmtree(self.folder / "small")
                for name in "made", "asleep":
                    (self.folder / name).unlink()

    def test_kill(self):
        """The folder is locked until its run has ended; a run that the study could not tell of is taken up."""
        how = "trap 'until [[ -e $HOME/may_end ]]; do sleep 0.05; done; exit 3' TERM USR1; while :; do sleep 0.05; done"
        running, process = self.begin(how)
        self.assert_fails(self.study("--resume"), "another study is running", f"process {running.pid}")
        running.kill()
        running.wait()
        self.assert_fails(self.study("--resume"), "another study is running")
        self.write("may_end", "")
        self.assert_ends(process)
        self.wait_until(lambda: not self.locked(), "the lock is held")
        state = self.state()
        lost = state["runs"].pop()
        self.write("small/study.json", json.dumps(state))
        self.resumes()
        self.assertEqual(self.states()[f"{lost['point']}-r{lost['repeat']}"], ["passed"])


class Folders(StudyTest):
    TEXT = ONE

    def test_folders_of_others(self):
        self.write("mine/thesis.tex", "")
        for words, fact in ((["-o", "mine"], "thesis.tex"), (["-o", "plate.yaml"], "Not a directory"),
                            (["-o", "x" * 5000], "File name too long"), (["--resume"], "no study to resume")):
            self.assert_fails(self.study(*words), fact, "E-STUDY-FOLDER")

    def test_links_that_others_have_put_there(self):
        """Neither is what they name changed, nor is it written to."""
        mine = self.folder / self.write("mine.txt", "mine")
        (self.folder / "small").mkdir()
        lock = self.folder / "small/.kontor-study-lock"
        lock.symlink_to(mine)
        self.assert_fails(self.study(), "small", "cannot be made or written")
        lock.unlink()
        self.passes()
        (self.folder / "small/study.json.tmp").symlink_to(mine)
        self.passes("--resume")
        self.assertEqual(mine.read_text(), "mine")
        self.assertEqual(list((self.folder / "small").glob("*.tmp")), [])

    def test_what_does_not_resume(self):
        """Another study, deck, revision or machine; a damaged state."""
        self.passes()
        self.assert_fails(self.study(), "has a study already", "--resume")
        for key, fact in (("ranks=[1,2]", "ranks is [1,2], was [1]"), ("study=large", "study is large, was small"),
                          ("seed=8", "seed is 8, was 7"), ("set.a.b=1", "set is {a.b: 1}, was {}")):
            self.assert_fails(self.study("--resume", "-o", "small", "--set", key), "another study", fact)
        self.write("revision", "def")
        self.assert_fails(self.study("--resume", "--set", "repeats=2", SLURM_CPUS_ON_NODE="1"), "another study",
                          "revision is def, was abc", "cores is 1, was 2")
        self.write("plate.yaml", "app: heat\n# changed\n")
        self.assert_fails(self.study("--resume"), "plate.yaml has changed")
        for text, fact in ("{", "is damaged"), ("[" * 100_000, "is damaged"), ('{"format": 1}', "of format 2"):
            self.write("small/study.json", text)
            self.assert_fails(self.study("--resume"), "study.json is", fact, "E-STUDY-FOLDER")


class Disks(StudyTest):
    TEXT = ONE

    def test_a_table_that_cannot_be_written(self):
        """The runs are kept, and the next try writes it."""
        self.write("obey", 'mkdir "$(dirname "$(dirname "$record")")/study.csv"')
        self.assert_fails(self.study(), "study.csv cannot be written", "runs are kept", code=3)
        self.assertEqual(self.states(), {"p000-r1": ["passed"]})
        (self.folder / "small/study.csv").rmdir()
        self.passes("--resume")
        self.assertEqual(len(self.made()), 1)

    def test_a_file_system_without_locks(self):
        """As Lustre's without the mount option `flock`: the study runs, and tells."""
        with patch("fcntl.flock", side_effect=OSError(errno.ENOSYS, "Function not implemented")):
            done = self.passes()
        self.assertEqual(self.states(), {"p000-r1": ["passed"]})
        self.assertIn("small has no locks (flock: Function not implemented)", done.stderr)
        with patch("fcntl.flock", side_effect=OSError(errno.EIO, "Input/output error")):
            self.assert_fails(self.study("--resume"), "cannot be made or written: Input/output error")

    def test_writing_that_is_interrupted(self):
        """State and table are the old ones or the new ones, and nothing else is left."""
        self.passes()

        def files():
            return {path.name: path.read_bytes() for path in (self.folder / "small").iterdir() if path.is_file()}
        before = files()
        for what in "os.fsync", "os.replace":
            with patch(what, side_effect=OSError(errno.ENOSPC, "No space left on device")):
                done = self.study("--resume", "--set", "repeats=2")
            self.assert_fails(done, "cannot be written: No space left", "--resume", code=3)
            self.assertEqual(files(), before)
        self.passes("--resume", "--set", "repeats=2")
        self.assertEqual(len(self.made()), 2)

    def test_a_full_disk(self):
        """What is finished is kept; after making room --resume makes the rest."""
        small = self.folder / "small"
        small.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "kontor", small]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipTest("no tmpfs can be mounted here")
        self.addCleanup(subprocess.run, ["umount", small], check=False)
        self.write("obey", f"""if (($(wc -l <"$HOME/made") == 3)); then
                        head -c 1000000 /dev/zero >"{small}/runs/ballast" 2>/dev/null; exit 3
                      fi""")
        self.assert_fails(self.study("--set", "repeats=6"), "No space left", "runs are kept", "--resume", code=3)
        finished = [f"{run['point']}-r{run['repeat']}" for run in self.state()["runs"]]
        self.assertGreaterEqual(len(finished), 2)
        self.assertEqual({run["state"] for run in self.state()["runs"]}, {"passed"})
        (small / "runs/ballast").unlink()
        (self.folder / "obey").unlink()
        self.passes("--resume", "--set", "repeats=6")
        self.assertEqual(set(map(tuple, self.states().values())), {("passed",)})
        self.assertTrue(all(self.names().count(name) == 1 for name in finished), self.names())
