# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong while a run is under way: killed ranks, a full disk, a wrong answer."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from launch import HEAT, PINGPONG, HeatTest, Running, wait_until

ENOSPC = os.environ.get("KONTOR_ENOSPC", "")  # output/tests/enospc.c as a shared library

ENDLESS = """\
app: heat
problem:
  cells: [24, 24]
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
solver: {tolerance: 0, max_sweeps: 1000000000, check_every: 1000}
output: {file: plate.h5, every: 100}
"""

SHORT = """\
app: heat
problem:
  cells: [96, 80]
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
  exact: "sin(pi*x)*sinh(pi*y)/sinh(pi)"
solver: {tolerance: 0, max_sweeps: 20}
verification: {tolerance: 10}
output: {file: plate.h5}
"""

EARLIER = b"what an earlier run left"


class FaultTest(HeatTest):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "plate.h5"
        self.output.write_bytes(EARLIER)

    def assert_intact(self):
        self.assertEqual(self.output.read_bytes(), EARLIER)
        self.assertNotIn("plate.xmf", self.files())


class Killed(FaultTest):
    def start_endless(self, ranks=3):
        """A run that has made so many sweeps that it has written several fields of its series."""
        self.write("endless.yaml", ENDLESS)
        running = self.start("endless.yaml", ranks=ranks)
        size = lambda file: file.stat().st_size if file else 0
        wait_until(lambda: size(self.temporary("plate.h5")) > 50_000, "a series of fields")
        self.assertEqual(sorted(running.ranks()), list(range(ranks)))
        return running

    def assert_ended(self, running):
        result = running.finish(limit=20)
        self.assertNotEqual(result.code, 0, result)
        self.assertNotIn("VERIFICATION", result.out)
        wait_until(lambda: not running.ranks(), "the end of all ranks")
        self.assert_intact()

    def remove_left(self):
        for name in self.files():
            if name.endswith((".tmp", ".kontor-lock")):
                (self.folder / name).unlink()

    def test_a_killed_rank_ends_the_run(self):
        for victim in 0, 2:
            with self.subTest(rank=victim):
                running = self.start_endless()
                os.kill(running.ranks()[victim], signal.SIGKILL)
                self.assert_ended(running)
                self.remove_left()

    def test_ending_mpirun_ends_the_run(self):
        for how in signal.SIGTERM, signal.SIGINT:
            with self.subTest(signal=how.name):
                running = self.start_endless()
                running.process.send_signal(how)
                self.assert_ended(running)
                self.remove_left()

    def test_the_next_run_removes_what_a_killed_one_left(self):
        self.write("plate.h5.tmp", "the user's")
        running = self.start_endless()
        os.kill(running.ranks()[0], signal.SIGKILL)
        self.assert_ended(running)
        for left in "plate.h5", "plate.xmf":
            self.assertIsNotNone(self.temporary(left))
            self.assertIn(f".{left}.kontor-lock", self.files())
        self.write("short.yaml", SHORT)
        self.passes("short.yaml", ranks=3)
        self.assertEqual(self.files(), ["endless.yaml", "plate.h5", "plate.h5.tmp", "plate.xmf", "short.yaml"])
        self.assertEqual((self.folder / "plate.h5.tmp").read_text(), "the user's")


class ToldToEnd(FaultTest):
    """By a signal, as before a time limit: all ranks end, and leave a record that says so."""

    def assert_ended_early(self, result, signal, repeats, figures):
        self.assertEqual(result.code, 4, result)
        self.assertRegex(result.out, rf"(?m)^ENDED EARLY: .*\b{signal}\b after {repeats} of \d+ repeats$")
        self.assertEqual("FOM" in result.out, figures, result.out)
        record = json.loads((self.folder / "record.json").read_text())
        self.assertEqual((record["ended_early"], record["end_signal"]), (True, signal))
        self.assertEqual("figures_of_merit" in record, figures)
        self.assertEqual(record["verification"].get("passed", False), figures)
        self.assertEqual(self.output.read_bytes()[:4], b"\x89HDF")
        self.assertIsNone(self.temporary("plate.h5"))
        return record

    def wait_for_series(self, size):
        written = lambda: self.temporary("plate.h5") and self.temporary("plate.h5").stat().st_size > size
        wait_until(written, "a series of fields")

    def test_within_a_repeat_one_rank_is_told(self):
        self.write("endless.yaml", ENDLESS)
        running = self.start("endless.yaml", "--quiet", "--results", "record.json", ranks=3)
        self.addCleanup(running.end)
        self.wait_for_series(50_000)
        os.kill(running.ranks()[2], signal.SIGUSR1)
        record = self.assert_ended_early(running.finish(limit=20), "USR1", "0", figures=False)
        self.assertEqual(record["repeats"], [])
        self.assertGreater(record["sweeps"], 0)
        self.assertNotIn("plate.xmf", self.files())

    def test_between_repeats(self):
        """Those that are complete are verified, and have figures."""
        self.write("short.yaml", SHORT)
        many = ("--set", "measure.repeats=1000", "--set", "solver.max_sweeps=3000", "--set", "output.every=200")
        running = self.start("short.yaml", *many, "--quiet", "--results", "record.json", ranks=2)
        self.addCleanup(running.end)
        self.wait_for_series(800_000)
        running.process.send_signal(signal.SIGUSR1)  # mpirun passes it on
        record = self.assert_ended_early(running.finish(limit=20), "USR1", r"\d+", figures=True)
        self.assertGreater(len(record["repeats"]), 0)

    def test_by_kontor_run(self):
        self.write("endless.yaml", ENDLESS)
        running = Script("endless.yaml", "-n", "3", "--quiet", "--results", "record.json", cwd=self.folder)
        self.addCleanup(running.end)
        self.addCleanup(running.process.stdout.close)
        self.addCleanup(running.process.stderr.close)
        self.wait_for_series(50_000)
        running.process.terminate()
        result = running.finish(limit=20)
        self.assert_ended_early(result, "USR1", "0", figures=False)
        self.assertRegex(result.err, r"\Akontor: heat ended early, as signal TERM asked\b.*\n\Z")
        if importlib.util.find_spec("h5py"):
            report = Path(__file__).resolve().parents[2] / "scripts/report.py"
            shown = subprocess.run([sys.executable, report, self.output], capture_output=True, text=True, check=True).stdout
            self.assertRegex(shown, r"not verified\n.*ended early.*\bUSR1\b")


class Checkpoints(FaultTest):
    """A run that is stopped goes on from a checkpoint, on other ranks, with the same bits."""

    DECK = ENDLESS.replace("check_every: 1000}", "check_every: 10}").replace(", every: 100}", "}") + "checkpoint: {file: c.h5}\n"
    LIMIT = ("--set", "solver.max_sweeps=2000")

    def setUp(self):
        super().setUp()
        self.write("deck.yaml", self.DECK)

    def checkpoints(self):
        return sorted(path.name for path in self.folder.glob("c-*.h5"))

    def norms(self, *arguments, ranks):
        self.passes(*arguments, *self.LIMIT, "--quiet", "--results", "record.json", ranks=ranks)
        record = json.loads((self.folder / "record.json").read_text())
        return record["history"]["iteration"], record["history"]["norm"], record

    def wait_for_checkpoints(self, count):
        wait_until(lambda: len(self.checkpoints()) >= count, "a checkpoint")

    def test_after_a_signal_and_after_a_kill(self):
        expected = self.norms("deck.yaml", ranks=1)
        running = self.start("deck.yaml", "--set", "checkpoint.every=300", "--set", "checkpoint.keep=1000", ranks=3)
        self.addCleanup(running.end)
        self.wait_for_checkpoints(1)
        os.kill(running.ranks()[2], signal.SIGUSR1)
        result = running.finish(limit=30)
        self.assertEqual(result.code, 4, result)
        newest = self.checkpoints()[-1]
        self.assertRegex(result.out, rf"(?m)^ENDED EARLY: .*\bUSR1\b.*: scripts/kontor run {newest} --restart$")
        *_, record = self.norms("--restart", "c-000000300.h5", "--set", "comm.backend=view", ranks=2)
        self.assertEqual((record["checkpoint"]["restarted_from"], record["checkpoint"]["at_step"]), ("c-000000300.h5", 300))
        self.assertEqual((record["history"]["iteration"], record["history"]["norm"]), expected[:2])
        for path in self.folder.glob("c-*.h5"):
            path.unlink()

        running = self.start("deck.yaml", "--set", "checkpoint.every=100", "--set", "checkpoint.keep=1000", ranks=2)
        self.addCleanup(running.end)
        self.wait_for_checkpoints(3)
        os.kill(running.ranks()[0], signal.SIGKILL)
        self.assertNotEqual(running.finish(limit=30).code, 0)
        kept = [name for name in self.checkpoints() if name > "c-000000300.h5"]
        for name in kept:  # beyond the limit below
            (self.folder / name).unlink()
        newest = self.folder / self.checkpoints()[-1]
        damaged = bytearray(newest.read_bytes())
        damaged[3000] ^= 1
        newest.write_bytes(damaged)
        *_, record = self.norms("deck.yaml", "--restart", "c.h5", ranks=3)
        self.assertEqual(record["checkpoint"]["at_step"], 200)
        self.assertEqual((record["history"]["iteration"], record["history"]["norm"]), expected[:2])
        self.assertEqual([name for name in self.files() if name.endswith((".tmp", ".kontor-lock"))], [])

    def test_in_time_before_the_limit(self):
        result = self.heat("deck.yaml", "--set", "checkpoint.walltime=0:12", "--quiet", ranks=2, limit=60)
        self.assertEqual(result.code, 4, result)
        self.assertRegex(result.out, r"(?m)^ENDED EARLY: told to end by checkpoint\.walltime after 0 of 1 repeats; .*\bc-\d{9,}\.h5\b")
        self.assertGreater(len(self.checkpoints()), 0)

    def test_what_is_refused(self):
        self.norms("deck.yaml", "--set", "checkpoint.every=1500", ranks=1)
        name = self.checkpoints()[0]
        other = {
            ("problem.cells=[24,25]",): r"problem\.cells is \[24, 25\]; in c-000001500\.h5 it is \[24, 24\]",
            ("problem.precision=float",): r"problem\.precision is float; in c-000001500\.h5 it is double",
            ("solver.max_sweeps=1500",): r"1500 sweeps are to be made, .*c-000001500\.h5 are 1500",
            ("checkpoint.walltime=1:99",): r"checkpoint\.walltime is '1:99'; allowed are HH:MM:SS",
            ("output.file=c.h5", "checkpoint.file=c.h5"): r"c\.h5 cannot be both",
        }
        for settings, said in other.items():
            with self.subTest(settings):
                arguments = [word for setting in settings for word in ("--set", setting)]
                result = self.heat("deck.yaml", "--restart", name, *arguments)
                self.assertEqual(result.code, 2, result)
                self.assertRegex(result.err, said)
        result = self.heat("--restart", "none.h5", ranks=2)
        self.assertEqual(result.code, 2, result)
        self.assertIn("none.h5", result.err)
        self.write("pingpong.yaml", "app: pingpong\ncheckpoint: {seconds: 5}\n")
        self.program = PINGPONG
        result = self.heat("pingpong.yaml")
        self.assertEqual(result.code, 2, result)
        self.assertRegex(result.err, r"pingpong\.yaml:2:\d+: checkpoint\.seconds is 5, but pingpong writes no checkpoints")

    def test_files_elsewhere_are_named_by_the_command_line_only(self):
        """A deck in a checkpoint may come from anybody."""
        (self.folder / "there").mkdir()
        once = ("deck.yaml", "--set", "checkpoint.every=1500", "--quiet")
        self.norms(*once, "-o", "there/plate.h5", ranks=1)
        result = self.heat("--restart", "c-000001500.h5", ranks=2)
        self.assertEqual(result.code, 2, result)
        self.assertRegex(result.err, r"output\.file is there/plate\.h5, neither in this folder nor in that of the checkpoint; say -o FILE, .*/there\n")
        self.norms("--restart", "c-000001500.h5", "-o", "there/plate.h5", ranks=1)
        (self.folder / "c-000001500.h5").rename(self.folder / "there/c-000001500.h5")
        self.norms("--restart", "there/c-000001500.h5", ranks=1)  # beside the checkpoint
        self.norms(*once, "--set", "checkpoint.file=there/c.h5", ranks=1)
        (self.folder / "there/c-000001500.h5").rename(self.folder / "c-000001500.h5")
        result = self.heat("--restart", "c-000001500.h5", "-o", "plate.h5")
        self.assertEqual(result.code, 2, result)
        self.assertRegex(result.err, r"checkpoint\.file is there/c\.h5, neither .*; say --set checkpoint\.file=FILE, .*/there\n")

    def test_a_full_disk(self):
        """The checkpoints that there are stay."""
        if not os.path.exists(ENOSPC):
            self.skipTest("KONTOR_ENOSPC does not name the library of output/tests/enospc.c")
        preloaded = ":".join(filter(None, [ENOSPC, os.environ.get("LD_PRELOAD")]))
        variables = {"LD_PRELOAD": preloaded, "KONTOR_FAULT_AFTER": "30000", "KONTOR_FAULT_FILE": "c.h5."}
        result = self.heat(
            "deck.yaml", *self.LIMIT, "--set", "checkpoint.every=500", "--set", "checkpoint.keep=9", ranks=2, variables=variables
        )
        self.assertEqual(result.code, 3, result)
        self.assertRegex(result.err, r"(?m)^checkpoint after step \d+: output: c\.h5: .*No space left on device")
        whole = self.checkpoints()
        self.assert_intact()
        self.assertEqual(self.files(), [*whole, "deck.yaml", "plate.h5"])


class TwoRuns(FaultTest):
    """A second run that would write a file of the first, which rests meanwhile."""

    def test_the_second_is_refused_and_the_first_is_undisturbed(self):
        self.write("deck.yaml", SHORT)
        first = self.start("deck.yaml", "--results", "first.json", ranks=2)
        wait_until(lambda: self.temporary("first.json"), "the first run's files")
        ranks = first.ranks()
        for pid in ranks.values():
            os.kill(pid, signal.SIGSTOP)
        try:
            before = self.files()
            holder = rf"process {ranks[0]} on host \S+, since \S+ is writing it; wait for that run or choose another file"
            refused = {
                "plate.h5": (3, "--set", "solver.max_sweeps=7"),
                "plate.xmf": (1, "-o", "plate.hdf5"),
                "first.json": (2, "-o", "other.h5", "--results", "first.json"),
            }
            for name, (count, *arguments) in refused.items():
                with self.subTest(name, ranks=count):
                    second = self.heat("deck.yaml", *arguments, ranks=count, limit=10)
                    self.assertRegex(second.err, rf"\Aoutput: cannot write {name}: {holder}.*\n\Z")
                    self.assertEqual((second.out, second.code), ("", 2))
                    self.assertEqual(self.files(), before)
            for arguments in ("--results", "plate.h5"), ("--set", "problem.initial=1/(x-x)"), ("--set", "a=b"):
                self.assertEqual(self.heat("deck.yaml", *arguments).code, 2)
            self.assertEqual(self.files(), before)
        finally:
            for pid in ranks.values():
                os.kill(pid, signal.SIGCONT)
        result = first.finish(limit=20)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(json.loads((self.folder / "first.json").read_text())["sweeps"], 20)
        self.assertEqual(self.output.read_bytes()[:4], b"\x89HDF")
        self.assertEqual(self.files(), ["deck.yaml", "first.json", "plate.h5", "plate.xmf"])


class Script(Running):
    """scripts/kontor run, and the ranks that it starts."""

    def __init__(self, *arguments, cwd):
        build = Path(HEAT).resolve().parents[1]
        script = Path(__file__).resolve().parents[2] / "scripts/kontor"
        self.launch([str(script), "run", *arguments], cwd, KONTOR_BUILD_DIR=str(build), KONTOR_BUILT="1")


class Interrupted(FaultTest):
    """Whatever ends `kontor run`, no rank outlives it."""

    def interrupt(self, how):
        self.write("endless.yaml", ENDLESS)
        running = Script("endless.yaml", "-n", "3", "--quiet", cwd=self.folder)
        self.addCleanup(running.process.stdout.close)
        self.addCleanup(running.process.stderr.close)
        temporary = lambda: [path for path in self.folder.iterdir() if path.name not in ("endless.yaml", "plate.h5")]
        wait_until(lambda: any(path.stat().st_size > 50_000 for path in temporary()), "a series of fields")
        self.assertEqual(sorted(running.ranks()), [0, 1, 2])
        running.process.send_signal(how)
        result = running.finish(limit=20)
        wait_until(lambda: not running.ranks(), "the end of all ranks")
        self.assert_intact()
        for path in temporary():
            path.unlink()
        return result

    def test_by_a_signal(self):
        for how in signal.SIGHUP, signal.SIGINT:
            with self.subTest(signal=how.name):
                result = self.interrupt(how)
                said = f"kontor: heat was interrupted by signal {how.name.removeprefix('SIG')}\n"
                self.assertEqual((result.code, result.out, result.err), (128 + how, "", said))

    @unittest.skipUnless(shutil.which("setpriv"), "no setpriv here, by which the kernel tells mpirun")
    def test_by_a_kill(self):
        self.assertEqual(self.interrupt(signal.SIGKILL).code, -signal.SIGKILL)


class FullDisk(FaultTest):
    def setUp(self):
        if not os.path.exists(ENOSPC):
            self.skipTest("KONTOR_ENOSPC does not name the library of output/tests/enospc.c")
        super().setUp()

    def run_out_of_space(self, room, ranks, access, only=None, file=".h5."):
        """After `room` bytes, of which the field alone takes 61440; on all ranks, or on one."""
        self.write("short.yaml", SHORT)
        for name in "plate.xmf", "plate.json":
            self.write(name, "earlier")
        preloaded = ":".join(filter(None, [ENOSPC, os.environ.get("LD_PRELOAD")]))
        variables = {"LD_PRELOAD": preloaded, "KONTOR_FAULT_AFTER": str(room), "KONTOR_FAULT_FILE": file}
        if only is not None:
            variables["KONTOR_FAULT_RANK"] = str(only)
        arguments = "short.yaml", "--set", f"output.access={access}", "--results", "plate.json"
        result = self.heat(*arguments, ranks=ranks, variables=variables)
        self.assertEqual(result.code, 3, result)
        said = [line for line in result.err.splitlines() if not line.startswith("mca_")]  # Open MPI's own lines
        self.assertEqual(len(said), 1, result)
        self.assertNotIn("FOM", result.out)
        self.assertEqual(self.output.read_bytes(), EARLIER)
        for name in "plate.xmf", "plate.json":
            self.assertEqual((self.folder / name).read_text(), "earlier")
        self.assertEqual(self.files(), ["plate.h5", "plate.json", "plate.xmf", "short.yaml"])
        return said[0]

    def test_for_what_describes_the_file(self):
        for name in "plate.xmf", "plate.json":
            with self.subTest(name):
                said = self.run_out_of_space(100, 3, "parallel", file=name)
                self.assertRegex(said, rf"^output: {name}: .*: No space left on device.*; no file was replaced$")

    def test_where_rank_0_writes_all(self):
        for ranks, room in (1, 0), (1, 61_440), (3, 0), (3, 1000), (3, 30_000), (3, 61_440):
            with self.subTest(ranks=ranks, room=room):
                said = self.run_out_of_space(room, ranks, "gathered")
                self.assertRegex(said, r"^output: plate\.h5: .*: No space left on device.*; no file was replaced$")

    def test_where_all_ranks_write(self):
        for room in 0, 1000:
            with self.subTest(room=room):
                said = self.run_out_of_space(room, 3, "parallel")
                self.assertRegex(said, r"^output: plate\.h5: .*No space left on device.*; no file was replaced$")

    def test_messages_of_a_name_with_control_characters(self):
        """They reach no terminal."""
        self.write("short.yaml", SHORT)
        preloaded = ":".join(filter(None, [ENOSPC, os.environ.get("LD_PRELOAD")]))
        result = self.heat("short.yaml", "-o", "\x1b[2Jplate.h5", variables={"LD_PRELOAD": preloaded, "KONTOR_FAULT_AFTER": "1000",
                                                                             "KONTOR_FAULT_FILE": ".h5."})
        self.assertEqual(result.code, 3, result)
        self.assertNotIn("\x1b", result.err)
        self.assertRegex(result.err, r"(?m)^output: \\x1b\[2Jplate\.h5: .*No space left on device")

    def test_of_the_last_rank_only(self):
        said = self.run_out_of_space(0, 3, "parallel", only=2)
        self.assertRegex(said, r"^output: plate\.h5: .*No space left on device \(on rank 2\); no file was replaced$")


@unittest.skipUnless(shutil.which("prlimit"), "no prlimit (util-linux)")
class FileSizeLimit(FaultTest):
    program = shutil.which("prlimit")

    def limited(self, limit, *arguments, ranks):
        return self.heat(f"--fsize={limit}", HEAT, *arguments, ranks=ranks)

    def test_is_an_error_that_is_told(self):
        self.write("short.yaml", SHORT)
        large = ("--set", "problem.cells=[1100,1000]", "--set", "solver.max_sweeps=1")
        cases = (30_000, 1, ()), (8_000_000, 3, large)
        for limit, ranks, arguments in cases:
            with self.subTest(ranks=ranks):
                if self.limited(limit, "--list-backends", ranks=ranks).code != 0:
                    continue  # this MPI itself makes larger files
                result = self.limited(limit, "short.yaml", *arguments, ranks=ranks)
                self.assertEqual(result.code, 3, result)
                self.assertRegex(result.err, r"(?m)^output: plate\.h5: .*File too large.*; no file was replaced$")
                self.assert_intact()
                self.assertEqual(self.files(), ["plate.h5", "short.yaml"])


class OutOfMemory(FaultTest):
    def test_a_problem_that_does_not_fit(self):
        for ranks in 1, 3:
            self.write("deck.yaml", SHORT.replace("[96, 80]", "[10000000, 10000000]"))
            result = self.heat("deck.yaml", ranks=ranks, limit=20)
            self.assertEqual(result.code, 3, result)
            self.assertRegex(
                result.err,
                r"\Aout of memory: rank 0 on \S+ needs \S+ GB for View 'heat/u', \S+ GB for View 'heat/v'.*, but its "
                r"\S+ has \S+ GB free of \S+ GB( \(.*\))?; the Views of all ranks take 1\.6e\+06 GB, which fit on \d+ such "
                r"\S+s(, \d+ ranks with \d+ on each)?: use more of them, or a smaller problem\n\Z",
            )


class WrongAnswer(FaultTest):
    def fails(self, *arguments, says, ranks=3):
        self.write("short.yaml", SHORT)
        result = self.heat("short.yaml", *arguments, ranks=ranks)
        self.assertEqual(result.code, 1, result)
        self.assertRegex(result.out, f"(?m)^VERIFICATION FAILED: {says}$")
        self.assertNotIn("FOM", result.out)
        self.assertNotIn("PASSED", result.out)
        self.assertEqual(result.err, "")
        try:
            import h5py
        except ImportError:
            print("the record of a failed verification is not looked at: no h5py")
            return
        with h5py.File(self.output) as file:
            self.assertEqual(file["/run/verification"].attrs["passed"], 0)
            self.assertNotIn("figure_of_merit", file["/run"])
            self.assertNotIn("figures_of_merit", file["/run"])

    def test_no_tolerance(self):
        self.fails(
            *("--set", "verification.tolerance=0"), says=r"max \|u - exact\| is \S+, above the tolerance 0\.000e\+00"
        )

    def test_another_solution(self):
        self.fails(
            *("--set", "problem.exact=100+x"), says=r"max \|u - exact\| is 1\.010e\+02, above the tolerance 1\.000e\+01"
        )

    AUTOMATIC = ("--set", "verification.tolerance=auto", "--set", "solver.max_sweeps=100000")

    def test_sweeps_that_stop_too_soon_to_tell(self):
        """The automatic tolerance is as wide as solver.tolerance lets the error be, but then it says nothing."""
        large = ("--set", "problem.cells=[384,384]")
        too_soon = r"not converged enough to verify: solver\.tolerance \S+ .* \d\S* % of .* set solver\.tolerance to \S+e-07 or less.*"
        self.fails(*self.AUTOMATIC, *large, "--set", "solver.tolerance=1e-4", says=too_soon)
        exact = ("--set", "problem.exact=5+x")
        self.fails(*self.AUTOMATIC, *large, *exact, "--set", "solver.tolerance=1e-3", says=too_soon)

    def test_an_answer_of_no_size(self):
        one_cell = ("--set", "problem.cells=[1,1]", "--set", "problem.exact=1e308", "--set", "problem.initial=-1e308")
        one_cell += ("--set", "solver.tolerance=1e-8")
        self.fails(*self.AUTOMATIC, *one_cell, says=r"max \|u - exact\| is 1\.000e\+308, above .*", ranks=1)

    def test_sweeps_that_did_not_converge(self):
        few = ("--set", "problem.exact=none", "--set", "solver.tolerance=1e-6", "--set", "solver.max_sweeps=20")
        self.fails(
            *("--set", "verification.tolerance=auto", *few),
            says=r"max \|residual\| / diagonal is .*; solver\.tolerance 1e-06 was not reached in 20 sweeps, .*",
        )

    def test_a_field_that_is_not_finite(self):
        """A boundary value that ceases to be finite is found at the end, in the field."""
        self.fails(
            *("--set", "problem.equation=transient", "--set", "time.end=0.01"),
            *("--set", 'problem.boundary.x_min={dirichlet: "t > 0.005 ? 1/(x-x) : 0"}'),
            says=r"max \|u - exact\| is inf, above the tolerance 1\.000e\+01",
        )


if __name__ == "__main__":
    unittest.main()
