# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kontor report refuses, where its text goes, and kontor run RESULT.h5."""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from command import PACKAGE
from report_case import PLOTS, ReportTest

import h5py
from sample_file import DECK, add_curves, set_run

from kontor.report.errors import RecordError, isolated
from kontor.report.record import read_record


class Errors(ReportTest):
    def test_messages(self):
        self.write("text.h5", "not at all")
        self.write("a.h5.tmp", "")
        h5py.File(self.folder / "other.h5", "w").close()
        for name, message in (("absent.h5", "No such file or directory [E-FILE-READ]"), ("text.h5", "H5Fopen of it failed: "), ("other.h5", "not a Kontor file: it has no text /run"),
                              ("a.h5.tmp", "unfinished: the run is still going on or was killed")):
            with self.subTest(name):
                self.assert_fails(self.reported(name), f"kontor: {name}: {message}")

    def test_without_numpy(self):
        self.patch(user=1000, more="import importlib.util as u\nfind = u.find_spec\nu.find_spec = lambda name: name != 'numpy' and find(name)")
        message = "kontor: report needs Python with numpy: apt-get install python3-numpy, or set KONTOR_PYTHON"
        self.assert_fails(self.kontor("report", self.sample("a.h5")), message)

    def test_packages_that_cannot_be_loaded(self):
        """It is neither the file's fault nor told by nobody; and a run can be repeated all the same."""
        absent, other, none = "ImportError('cannot import name')", "RuntimeError('built for another numpy')", "ModuleNotFoundError(name='yaml')"
        for package, error, *option in (("jinja2", absent, "--html", "a.html"), ("matplotlib", other, "--html", "a.html"),
                                        ("matplotlib", absent, "--plot", "a.png"), ("h5py", other, "--plot", "a.png"), ("yaml", none)):
            with self.subTest(package, error=error):
                self.write(f"broken/{package}.py", f"raise {error}")
                done = self.kontor("report", self.sample("a.h5"), *option, PYTHONPATH=str(self.folder / "broken"))
                says = [f"kontor: {option[0] if option else 'report'}: a package of Python cannot be loaded", f"{package}.py, line 1"]
                self.assert_fails(done, *["kontor: report needs Python with yaml: apt-get install python3-yaml"] if error == none else says)
                self.assertNotIn("damaged", done.stderr)
                if package != "yaml":
                    (self.folder / f"broken/{package}.py").unlink()
        done = self.kontor("run", "a.h5", "--dry-run", KONTOR_LAUNCHER="start", PYTHONPATH=str(self.folder / "broken"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_a_backend_for_windows_has_no_part_in_plots(self):
        done = self.kontor("report", self.sample("a.h5"), "--plot", "a.png", MPLBACKEND="nonsense")
        self.assertEqual((done.returncode, done.stderr), (0, "kontor: plotted a.png\n"))

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_a_plot_that_cannot_be_written(self):
        self.write("a.json", '{"app": "heat"}')
        for name, place, says in ("a.json", "out.png", "there is nothing to plot"), (self.sample("a.h5"), "no/a.png", ""):
            self.assert_fails(self.reported(name, "--plot", place), f"--plot: {place} cannot be written", says)


class Places(ReportTest):
    def test_a_terminal_without_greek(self):
        name = self.sample("a.h5")
        add_curves(self.folder / name)
        for variables in ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
            done = self.kontor("report", name, **variables)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("1.01 us +- 1.0 %", done.stdout)

    def test_control_characters(self):
        text = self.report(self.sample("a.h5", command="heat \x1b[2J\nplate.yaml"))
        self.assert_rows(text, r"command  heat \x1b[2J\nplate.yaml")

    def test_a_full_disk(self):
        self.sample("a.h5")
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([sys.executable, PACKAGE, "report", "a.h5"], cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (3, "kontor: stdout cannot be written: No space left on device [E-FILE-WRITE]\n"))


class Damaged(ReportTest):
    """Files that something has changed, or cut off, or that nobody may read."""

    def assert_told(self, name, *says, arguments=("report",)):
        done = self.reported(name) if arguments == ("report",) else self.kontor(*arguments, name)
        self.assertRegex(done.stderr, rf"\Akontor: {name}: .*\n\Z")
        self.assert_fails(done, *says)
        self.assertEqual(done.stdout, "")

    def damaged_by(self, change):
        return self.changed(change)

    def test_no_lock_is_asked_for(self):
        """Not all file systems have locks, and under its name a file is whole."""
        with open(self.folder / self.sample("a.h5"), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            for arguments in ("report", "a.h5"), ("run", "a.h5", "--dry-run"):
                done = self.kontor(*arguments, KONTOR_LAUNCHER="start", HDF5_USE_FILE_LOCKING="TRUE")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_is_in_another_file_is_not_read(self):
        """HDF5 would follow these to any file that the user may read."""
        secret = self.folder / self.write("secret.txt", '{"app": "heat"}')

        def external_storage(file):
            file.create_dataset("run", (1,), "S15", external=[(str(secret), 0, 15)])

        def external_link(file):
            file["run"] = h5py.ExternalLink("other.h5", "/run")

        def through_a_soft_link(file):
            file["there"] = h5py.ExternalLink("other.h5", "/")
            file["run"] = h5py.SoftLink("/there/run")

        def virtual(file):
            layout = h5py.VirtualLayout((1,), "S15")
            layout[:] = h5py.VirtualSource("other.h5", "run", (1,))
            file.create_virtual_dataset("run", layout)

        self.sample("other.h5")
        for change in external_storage, external_link, through_a_soft_link, virtual:
            with self.subTest(change.__name__):
                with h5py.File(self.folder / "a.h5", "w") as file:
                    change(file)
                with self.assertRaisesRegex(RecordError, "a.h5: .*another file, which is not read"):
                    read_record(str(self.folder / "a.h5"))

    def test_what_is_no_record(self):
        for text in b"{", b"[1, 2]", b"7", b'"text"', b"{} {}", b"\xff":
            with self.subTest(text):
                set_run(self.folder / "a.h5", text)
                self.assert_told("a.h5", "a.h5: cannot be read, so the file is damaged: /run is no")
        with h5py.File(self.folder / "a.h5", "w") as file:
            file["run/ranks"] = 3
        self.assert_told("a.h5", "/run is a group, not a dataset")

    def test_values_of_another_kind(self):
        """Read without an error, they would end in one wherever they are shown."""
        changes = {
            "/run has app '7'": lambda run: run.update(app=7),
            "/run has ranks 'two'": lambda run: run.update(ranks="two"),
            "/run has -1 ranks": lambda run: run.update(ranks=-1),
            "/run has hosts that are not names": lambda run: run.update(hosts=[1, 2]),
            "/run/checkpoint has written 'x'": lambda run: run.update(checkpoint={"written": "x"}),
            "/run/verification has error 'x'": lambda run: run["verification"].update(error="x"),
            "/run/figures lacks name": lambda run: run["figure_of_merit"].pop("name"),
            "/run/timers lacks median": lambda run: run.update(timers=[{"region": "x", "max": 1.0}]),
            "/run/traffic has bytes": lambda run: run["traffic"][0].update(bytes="x"),
        }
        for says, change in changes.items():
            with self.subTest(says):
                self.assert_told(self.damaged_by(change), "a.h5: cannot be read, so the file is damaged: ", says)

    def test_a_repeated_run(self):
        self.assert_told(self.damaged_by(lambda run: run.update(ranks="two")), "/run has ranks 'two'", arguments=("run", "--dry-run"))
        whole = (self.folder / "a.h5").read_bytes()
        (self.folder / "a.h5").write_bytes(whole[: len(whole) // 2])
        for arguments in ("report",), ("run", "--dry-run"):
            self.assert_told("a.h5", "truncated file", arguments=arguments)

    def test_a_repeated_run_of_a_deck_that_is_not_utf_8(self):
        self.report(self.sample("a.h5", deck="app: heat\nname: \ufffd\n"))
        self.succeeds("run", "--dry-run", "a.h5", KONTOR_BUILT="1")

    def test_a_damaged_result_of_a_run(self):
        """By its checksums, before HDF5 opens it: structure for any report, fields for their pictures."""
        heat = Path(os.environ.get("KONTOR_DECK_READER", PACKAGE.parents[1] / "build/bin/kontor-deck")).with_name("heat")
        if not os.access(heat, os.X_OK):
            self.skipTest("no heat")
        self.write("plate.yaml", "app: heat\nproblem: {cells: [40, 30]}\nsolver: {max_sweeps: 5}\n")
        subprocess.run([heat, "plate.yaml", "-o", "plate.h5", "--quiet"], cwd=self.folder, check=False, capture_output=True)
        whole = (self.folder / "plate.h5").read_bytes()
        with h5py.File(self.folder / "plate.h5") as file:
            field = file["fields/temperature"].id.get_offset() + 100
        for place, *option in (600,), (field, "--plot", "a.png"):
            changed = bytearray(whole)
            changed[place] ^= 1
            (self.folder / "plate.h5").write_bytes(changed)
            self.assert_fails(self.kontor("report", "plate.h5", *option), "kontor: plate.h5: its bytes ", "[E-FILE-DAMAGED]")

    def test_a_file_that_may_not_be_read(self):
        os.chmod(self.folder, 0o755)
        os.chmod(self.folder / self.sample("a.h5"), 0)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        if nobody and not all(folder.stat().st_mode & 1 for folder in (PACKAGE, *PACKAGE.parents)):
            self.skipTest(f"others than root may not read {PACKAGE}")
        done = subprocess.run([sys.executable, "-B", PACKAGE, "report", "a.h5"], cwd=self.folder, capture_output=True, text=True, check=False, **nobody)
        self.assertEqual((done.returncode, done.stderr), (2, "kontor: a.h5: Permission denied [E-FILE-READ]\n"))

    def test_what_no_exception_tells(self):
        """A library that crashes, never ends, or takes all memory."""
        for work, says in ((lambda: os.kill(os.getpid(), signal.SIGSEGV), "ends with SIGSEGV"), (spin, "exceeds its time limit")):
            done = self.isolated_told(lambda now, work=work: (now("b.h5"), work()), ["a.h5", "b.h5"], seconds=0)
            self.assertEqual(done, (2, f"kontor: b.h5: cannot be read, so the file is damaged: reading it {says} [E-REPORT-FILE]\n"))

        for work, code, says in ((lambda now: len(bytearray(1 << 40)), 2, r"kontor: a.h5: .* damaged: reading it exceeds its memory limit \[E-REPORT-FILE\]"),
                                 (lambda now: {}["key"], 3, "kontor: this is a defect of Kontor .*, and not of a file(.|\n)*KeyError: 'key'")):
            done = self.isolated_told(work)
            self.assertEqual(done[0], code)
            self.assertRegex(done[1], rf"\A{says}\n\Z")

    def isolated_told(self, work, files=("a.h5",), seconds=5):
        """The exit code of isolated work, and what is said of it."""
        with open(self.folder / "said", "w+", encoding="utf-8") as said, contextlib.redirect_stderr(said):
            code = isolated(work, list(files), seconds=seconds)
            said.seek(0)
            return code, said.read()

    def test_a_file_that_takes_long_is_told_of_soon(self):
        """However many others are beside it."""
        files = [str(self.folder / self.write(f"{number}.h5", "x")) for number in range(50)]
        before = os.times().children_user
        self.assertEqual(self.isolated_told(lambda now: (now(files[7]), spin()), files, seconds=1)[0], 2)
        self.assertLess(os.times().children_user - before, 4)


def spin():
    while True:
        pass


class Repeat(ReportTest):
    def test_commands(self):
        """The same deck and ranks, unless others are asked for; what the deck names is not written to."""
        files = DECK + 'output:\n  file: "/elsewhere/o.h5"\n'
        for deck, words, ranks, options in ((DECK, "", 6, "-o a-repeat.h5"), (DECK, "-n 3 -o b.h5", 3, "-o b.h5"),
                                            (files, "", 6, "-o a-repeat.h5")):
            done = self.succeeds("run", self.sample("a.h5", deck=deck, ranks=6), "--dry-run", *words.split(), KONTOR_LAUNCHER="start", TMPDIR=str(self.folder))
            command = re.sub(r"kontor\.\w+", "T", done.stdout)
            self.assertEqual(command, f"OMP_NUM_THREADS=1 start -n {ranks} build/bin/heat {self.folder}/T/a.yaml {options}\n")
            (folder,) = self.folder.glob("kontor.*")
            self.assertEqual((folder / "a.yaml").read_text(), deck)
            shutil.rmtree(folder)

    def test_what_cannot_be_repeated(self):
        done = self.kontor("run", self.sample("a.h5", deck=None, ranks=None), "--dry-run")
        self.assert_fails(done, "kontor: a.h5: the run cannot be repeated: /run has no member deck and no ranks")
        self.assert_fails(self.kontor("run", self.write("a.h5.0123abcd.tmp", "")), "kontor: a.h5.0123abcd.tmp: unfinished")
