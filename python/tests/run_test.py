# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor run: which command it makes of a deck and a machine, and what it tells of the program's end."""

import importlib.util
import json
import os
import pty
import re
import signal
import subprocess
import unittest

from command import DECK_READER, ROOT, SCRIPTS, DryRunTest, KontorTest

from kontor.messages import SHARED_CORES

H5PY = importlib.util.find_spec("h5py")


def write_result(path, name="run", **members):
    """A file with this record, and no more. Returns its name."""
    import h5py
    import numpy as np

    with h5py.File(path, "w") as file:
        file[name] = np.bytes_(json.dumps(members).encode())
    return path.name


class Command(DryRunTest):
    def test_options_in_every_form_that_the_app_takes(self):
        for words, shown in (
            (["-o", "my run.h5"], "-o 'my run.h5'"), (["-ox.h5"], "-o x.h5"), (["-qox.h5"], "-q -o x.h5"),
            (["--output=x.h5"], "--output x.h5"), (["--results", "-"], "--results -"),
            (["--set=a=[1, 2]", "-q", "--set", "b=-1"], "--set 'a=[1, 2]' -q --set b=-1"),
            (["--kokkos-device-id=0", "--print-deck"], "--kokkos-device-id=0 --print-deck"),
        ):
            self.assert_starts(f"plate.yaml {shown}", *words, "plate.yaml")
        self.assert_starts("plate.yaml -q -o x", "-qo", "x", "--", "plate.yaml")

    @unittest.skipUnless(DECK_READER.with_name("heat").exists(), "heat is not built")
    def test_every_option_of_the_apps_that_takes_a_value_is_known(self):
        said = subprocess.run([DECK_READER.with_name("heat"), "--help"], capture_output=True, text=True, check=True,
                              timeout=60, env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout
        options = re.findall(r"(?m)^ +((?:-\w, *)?--[\w-]+) (?:TEXT|INT|UINT|FLOAT|\[)", said)
        self.assertGreaterEqual(len(options), 4, said)
        names = re.findall(r"[\w-]+", " ".join(options))
        self.assert_refused(*((["plate.yaml", name], ": expected one argument") for name in names
                              if name != "--restart"))  # of a checkpoint, which may stand elsewhere

    @unittest.skipUnless(H5PY, "no h5py")
    def test_restart(self):
        """The app and the ranks are in the checkpoint."""
        for name, number, ranks, app in (("c-000000200", 1, 5, "heat"), ("c-000000100", 2, 7, "heat"),  # of a later run
                                         ("blank-000000100", 1, 5, "a b")):
            write_result(self.folder / f"{name}.h5", "checkpoint", app=app, number=number, ranks=ranks)
        write_result(self.folder / "result.h5")
        self.write("c-000000300.h5", "damaged")
        (self.folder / "gone-000000100.h5").symlink_to("nothing")
        self.assert_starts("--restart c-000000200.h5", "c-000000200.h5", "--restart", ranks=5)
        self.assert_starts("--restart c.h5 --set a=b", "c.h5", "--restart", "--set", "a=b", ranks=7)
        self.assert_starts("plate.yaml --restart c.h5", "plate.yaml", "--restart=c.h5", "-n", "3", ranks=3)
        self.assert_refused(
            (["--restart"], "kontor: run: --restart needs a checkpoint"),
            (["d.h5", "--restart"], "kontor: d.h5: there is no checkpoint of that name that can be read"),
            (["gone.h5", "--restart"], "gone-000000100.h5: "),
            (["blank-000000100.h5", "--restart"], "blank-000000100.h5: app 'a b' is unknown"),
            (["result.h5", "--restart"], "result.h5: not a Kontor file: it has no text /checkpoint"),
            (["c.h5"], "kontor: c.h5: there are checkpoints of that name; add --restart"),
            (["c-000000200.h5"], "a checkpoint, which has no results; `kontor run c-000000200.h5 --restart` resumes"),
            (["c.h5", "d.h5", "--restart"], "kontor: run: two checkpoints, 'c.h5' and 'd.h5'"),
        )


class Refusals(KontorTest):
    def test_messages(self):
        self.write("none.yaml", "problem:\n  app: heat\n")
        self.write("other.yaml", "app: heet\n")
        cannot, count = "cannot read the deck: ", "allowed is a whole number"
        around = "kontor: run: {0} has started 'kontor run' 3 times, which starts the ranks itself: leave out {0}"
        self.assert_refused(
            ([], "kontor: run: no deck given; there are "),
            (["heat/plat.yaml"], f"{cannot}No such file or directory; did you mean {ROOT}/inputs/heat/plate.yaml?"),
            (["no-such-deck-at-all.yaml"], f"{cannot}No such file or directory; 'kontor run' lists those of Kontor"),
            (["/dev/stdin"], "/dev/stdin: the file is empty"), (["/tmp"], f"/tmp: {cannot}it is a directory"),
            (["none.yaml"], "none.yaml: app is missing; it names the mini-app, as in app: heat"),
            (["other.yaml"], "kontor: other.yaml: app 'heet' is unknown; allowed are: "),
            (["plate.yaml", "-n0"], f"kontor: run: -n is '0'; {count} from 1"),
            (["plate.yaml", "-n", "9999999999"], f"kontor: run: -n is '9999999999'; {count}"),
            (["plate.yaml", "--set"], "kontor: run: argument --set: expected one argument"),
            (["plate.yaml", "other.yaml"], "kontor: run: two inputs, 'plate.yaml' and 'other.yaml'"),
            *((["plate.yaml"], f"run: OMP_NUM_THREADS is '{value}'; {count} from 1", {"OMP_NUM_THREADS": value})
              for value in ("abc", "0", "-1", "2,", "9999999")),
            (["plate.yaml"], f"KONTOR_END_SECONDS is 'soon'; {count} of seconds", {"KONTOR_END_SECONDS": "soon"}),
            # A launcher around it would start it, with all its ranks, by each of its own.
            (["plate.yaml"], around.format("mpirun"), {"OMPI_COMM_WORLD_SIZE": "3"}),
            (["plate.yaml"], around.format("mpirun"), {"PMI_SIZE": "3"}),
            (["plate.yaml"], around.format("srun"), {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "3"}),
            (["plate.yaml"], around.format("flux run"), {"FLUX_TASK_RANK": "0", "FLUX_JOB_SIZE": "3"}),
            (["none.yaml"], "app is missing", {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1"}),  # srun --pty bash
        )
        self.assert_fails(self.kontor("lint", "--fix", "words"), "'words' is neither --fix nor a check; there are ")
        self.assert_fails(self.kontor("rum"), "kontor: 'rum' is not a command; there are run, compare, ")

    def test_set_up_that_fails_is_no_failed_verification(self):
        """Nothing has run: exit code 2. Ranks need a folder, and so does the deck of a result."""
        inputs = [write_result(self.folder / "result.h5", deck="app: heat\n", ranks=1)] if H5PY else []
        built = {"KONTOR_BUILT": "1", "TMPDIR": str(self.folder / "nothing")}
        below = {"KONTOR_BUILD_DIR": str(self.folder / self.write("file", "") / "build")}
        self.assert_refused(
            *(([name], f"kontor: no folder can be made in {self.folder}/nothing; ", built)
              for name in [*inputs, "plate.yaml"]),
            (["plate.yaml"], "kontor: run: nothing was run, because this failed: ", below))

    def test_programs_that_are_not_built(self):
        """A dry run says so; the first run builds what reads decks, then the app of the deck."""
        reader = self.folder / "build/bin/kontor-deck"
        reader.unlink()
        message = "kontor: plate.yaml: build/bin/kontor-deck is not built: run 'kontor build' [E-BUILD-FAILED]"
        self.assert_fails(self.kontor("run", "plate.yaml", "--dry-run"), message)
        self.write("build/build.ninja", "")
        self.fake("cmake", f'echo "$*" >>"$HOME/cmake"; ln -sf "{DECK_READER}" "{reader}"')
        self.kontor("run", "plate.yaml")
        self.assertEqual([line.partition("--target ")[2].split()[0] for line in self.lines("cmake")],
                         ["kontor_deck", "heat"])

    def test_help(self):
        for command in ("run", "report", "study", "app", "test", "build", "lint"):
            self.assertIn(f"kontor {command}", self.succeeds(command, "--help").stdout)
        self.assertIn("Exit codes: 0 verified", self.kontor("help").stdout)


SAID = "kontor: {} [E-LAUNCH-DIED]\n"
MAKE = "touch $KONTOR_RUN_FOLDER/"
# What the program does, then the exit code and what is said of it, which is all if it ends a line. The launcher's exit
# code is that of the program.
ENDS = (
    ("exit 139", 139, "kontor: heat was ended by signal SEGV"), ("exit 132", 132, "kontor: heat was ended by signal ILL: "),
    (f"{MAKE}started; exit 1", 3, SAID.format("mpirun ended with code 1 before heat was done, as after a signal to it")),
    (f"{MAKE}started; exit 5", 3, SAID.format("mpirun ended with code 5 while heat ran: a host or its daemon was lost")),
    ("cd $KONTOR_RUN_FOLDER; touch started done; exit 1", 1, ""),
    # As Open MPI's launcher when a rank is killed in MPI_Finalize, or a host has vanished.
    (f"{MAKE}done; sleep 60 & echo $! >log; wait", 3, "kontor: the ranks were done, and mpirun had not ended 1 s later"),
    (f"{MAKE}failed; sleep 60 & echo $! >log; wait", 3, "kontor: a rank failed, and mpirun had not ended 1 s later"),
    *(("[[ $1 == --list-backends ]] && exit; echo err >&2; exit " + str(code), code, "err\n") for code in (0, 1, 2, 3)),
)


class End(KontorTest):
    """What the user sees when the program is over."""

    def setUp(self):
        super().setUp()
        self.environment |= {"KONTOR_BUILT": "1", "KONTOR_FINISH_SECONDS": "1", "KONTOR_ABORT_SECONDS": "1"}

    def run_app(self, script, *arguments, **environment):
        self.program("build/bin/heat", script)
        return self.kontor("run", "plate.yaml", *arguments, **environment)

    def test_ends(self):
        for script, code, says in ENDS:
            with self.subTest(script):
                done = self.run_app(script)
                self.assertEqual((done.returncode, done.stdout), (code, ""))
                if says.endswith("\n") or not says:
                    self.assertEqual(done.stderr, says)
                else:
                    self.assertRegex(done.stderr, rf"\A{re.escape(says)}.* \[E-LAUNCH-DIED\]\n\Z")
                for process in self.lines("log"):
                    self.assert_ends(int(process))

    def test_what_ends_others_by_a_signal(self):
        """The reader of decks, and the launcher, whose own fault it is; a launcher that starts nothing, and says why."""
        self.program("build/bin/kontor-deck", "kill -ILL $$")
        self.assert_fails(self.run_app("exit 0"), "kontor-deck was ended by signal ILL: ", "-DKONTOR_NATIVE=OFF", code=3)
        self.program("build/bin/kontor-deck", "echo heat")
        self.fake("mpirun", "[[ $1 == --version ]] || kill -SEGV $$")
        self.assert_fails(self.run_app("exit 0"), "kontor: mpirun itself was ended by signal SEGV, and heat with it",
                          " [E-LAUNCH-DIED]\n", code=3)
        self.fake("mpirun", """if [[ $1 == --version ]]; then echo "mpirun (Open MPI) 4.1.4"; exit; fi
                               [[ $* == *--quiet* ]] || echo "There are not enough slots"; exit 1""")
        self.assert_fails(self.run_app("exit 0"), "kontor: the program could not be started: mpirun -n 2",
                          " [E-LAUNCH-COMMAND]\nThere are not enough slots", code=3)

    def test_words_and_environment_of_the_program(self):
        """By scripts/kontor, too; a name that stdout cannot show, and a home."""
        script = r"printf '<%s>' $OMP_NUM_THREADS ${HOME:+home} " + '"$@"'
        self.assertRegex(self.run_app(script, HOME="").stdout, "<1><home>")
        said = self.script("run", "plate.yaml", "--set", "a=[1, 2]").stdout
        self.assertEqual(said, "<1><home><plate.yaml><--set><a=[1, 2]>")
        name = os.fsdecode(b"\xfc.yaml")
        (self.folder / "plate.yaml").rename(self.folder / name)
        self.assertIn(r"\udcfc.yaml", self.script("run", name, "--dry-run").stdout)

    def test_two_at_once_are_not_bound_to_the_same_cores(self):
        self.program("build/bin/heat", "echo x >>log; while [[ ! -e end ]]; do sleep 0.05; done")
        runs = []
        for count in (1, 2):
            runs.append(self.start("run", "plate.yaml"))
            self.wait_for_lines(count)
        self.write("end", "")
        told = f"{SHARED_CORES}another run is under way on CPUs 0-3"  # which kontor report looks for
        self.assertEqual([run.communicate(timeout=60)[1].count(told) for run in runs], [0, 1])
        self.kontor("run", "plate.yaml")
        words = [line.partition("--bind-to ")[2].split()[0] for line in self.lines("launched")]
        self.assertEqual(words, ["core", "none", "core"])

    def test_streams(self):
        """Those that are closed or full; the rest of a script is not read."""
        self.program("build/bin/heat", "echo out; cat; echo err >&2")
        run = f"{SCRIPTS}/kontor run plate.yaml"
        full = "kontor: [Errno 28] No space left on device [E-FILE-WRITE]\n"
        for command, ends in ((f"{run} 2>&-", (0, "out\n", "")), (f"{run} >&-", (0, "", "err\n")),
                              (f"{run} >file; cat file", (0, "out\n", "err\n")),
                              (f"{SCRIPTS}/kontor --version >/dev/full", (3, "", full)),
                              (f"bash <<<$'{run}\necho second'", (0, "out\nsecond\n", "err\n"))):
            with self.subTest(command):
                done = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True,
                                      check=False, timeout=60, env=self.environment)
                self.assertEqual((done.returncode, done.stdout, done.stderr), ends)

    def test_an_interrupt_while_python_starts(self):
        self.patch(user=1000, more="if sys.orig_argv[-1] == 'help':\n    os.kill(os.getpid(), 2)")
        running = self.start("help")
        self.assertEqual((*running.communicate(timeout=20), running.returncode), ("", "", -signal.SIGINT))

    def test_a_terminal_that_stops_what_writes_in_the_background(self):
        """After stty tostop."""
        self.program("build/bin/heat", "echo out; echo err >&2")
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            command = f"stty tostop; exec {SCRIPTS}/kontor run plate.yaml"
            os.execve("/bin/bash", ["bash", "-c", command], self.environment)
        self.addCleanup(os.close, terminal)
        self.addCleanup(subprocess.run, ["pkill", "-KILL", "-s", str(process)], check=False)
        self.wait_until(lambda: os.waitpid(process, os.WNOHANG)[0], "it has stopped", seconds=20)
        self.assertEqual(sorted(os.read(terminal, 999).split()), [b"err", b"out"])

    def test_signals(self):
        """TERM and USR1 ask the program to end, by a signal that launchers pass on, and it ends in its own way; a second
        one ends it at once, HUP and INT soon, and any if it does not end within its time."""
        sleeps, waits = "echo $$ >log; exec sleep 60", "echo $$ >log; while true; do read -rt 1 <> <(:); done"
        interrupted = "kontor: heat was interrupted by signal {}\n"
        early = "kontor: heat ended early, as signal {} asked; its record says how far it came\n"
        for how, script, times, variables, code, said in (
            ("TERM INT HUP", sleeps, 1, {}, None, interrupted),
            ("TERM", f"trap 'echo asked >>log' USR1; {waits}", 2, {}, None, interrupted),
            ("TERM", f"trap '' USR1; {sleeps}", 1, {"KONTOR_END_SECONDS": "1"}, None, interrupted),
            ("TERM USR1", f"trap 'exit 4' USR1; {waits}", 1, {}, 4, early),
            *(("TERM", f"trap 'echo why >&2; exit {code}' USR1; {waits}", 1, {}, code, "why\n") for code in (0, 2, 3)),
        ):
            for name in how.split():
                with self.subTest(script, signal=name):
                    number = signal.Signals[f"SIG{name}"]
                    (self.folder / "log").unlink(missing_ok=True)
                    self.program("build/bin/heat", script)
                    running = self.start("run", "plate.yaml", **variables)
                    for count in range(times):
                        process = int(self.wait_for_lines(count + 1)[0])
                        running.send_signal(number)
                    told = running.communicate(timeout=20)
                    self.assertEqual((running.returncode, *told),
                                     (128 + number if code is None else code, "", said.format(name)))
                    self.assert_ends(process)

    def wait_for_lines(self, count):
        """Of the file `log`."""
        return self.wait_until(lambda: lines if len(lines := self.lines("log")) >= count else None,
                               "the program did not get so far")
