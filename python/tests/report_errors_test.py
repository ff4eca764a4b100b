# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kontor report refuses, where its text goes, HDF5 files, and kontor run RESULT.h5."""

import json
import os
import shutil
import subprocess
import unittest

from command import DECK_READER
from report_case import FIELDS, PLOTS, ReportTest

from sample_file import DECK, add_field, set_run
from sample_study import write_study

from kontor.report.record import RecordError, read_record


class Errors(ReportTest):
    def test_messages(self):
        """Each in one line that names the file; also what cannot be shown."""
        record = json.dumps({"app": "heat", "history": {"iteration": [1, 2], "residual": [1.0]}})
        cannot = "cannot be shown: "
        for name, text, message in (
            ("absent.h5", None, "No such file or directory [E-FILE-READ]"), ("a.h5.tmp", "", "unfinished: "),
            ("absent.json", None, "cannot be read: No such file or directory"),
            ("text.json", "not at all", "cannot be read, so the file is damaged: "),
            ("other.json", "{}", "not a record of Kontor's: it has no app"), ("seven.json", '{"app": 7}', "not a record"),
            ("curves.json", '{"app": "heat", "curves": [7]}', cannot), ("history.json", record, cannot),
            ("repeats.json", '{"app": "heat", "repeats": ["x"]}', cannot),
            ("timers.json", '{"app": "heat", "timers": [7]}', "cannot be read, so the file is damaged: "),
        ):
            with self.subTest(name):
                if text is not None:
                    self.write(name, text)
                done = self.reported(name)
                self.assert_fails(done, f"kontor: {name}: {message}")
                self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))

    def test_packages(self):
        """Those that lack, and those that cannot be loaded: neither is the file's fault."""
        self.sample("a.json")
        other = "RuntimeError('built for another numpy')"
        for package, error, *option in (("jinja2", "", "--html", "a.html"), ("matplotlib", other, "--plot", "a.png"),
                                        ("yaml", ""), ("numpy", "")):
            self.write(f"broken/{package}.py", f"raise {error or f'ModuleNotFoundError(name={package!r})'}")
            done = self.kontor("report", "a.json", *option, PYTHONPATH=str(self.folder / "broken"))
            self.assert_fails(done, f"{package}.py, line 1" if error else
                              f"report needs Python with {package}: apt-get install python3-{package}")
            self.assertNotIn("damaged", done.stderr)
            (self.folder / f"broken/{package}.py").unlink()

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_pictures(self):
        done = self.kontor("report", self.sample("a.json"), "--plot", "a.png", MPLBACKEND="nonsense")
        self.assertEqual((done.returncode, done.stderr), (0, "kontor: plotted a.png\n"))
        self.write("b.json", '{"app": "heat"}')
        self.assert_fails(self.reported("b.json", "--plot", "out.png"), "there is nothing to plot yet")
        for option in "--plot", "--html":
            self.assert_fails(self.reported("a.json", option, "no/a.png"), "'no/a.png' [E-FILE-WRITE]", code=3)


@unittest.skipUnless(FIELDS, "no h5py")
@unittest.skipUnless(os.access(DECK_READER.with_name("kontor-record"), os.X_OK), "no kontor-record")
class Files(ReportTest):
    """HDF5 files, which kontor-record reads; also those that something has changed, or that nobody may read."""

    def test_all_but_fields_without_h5py(self):
        """Reports of files and of studies, and repeats; the picture of a field says what it needs."""
        add_field(self.folder / self.sample("a.h5"))
        write_study(self.folder / "study", ranks=(1, 2), repeats=1)
        self.write("broken/h5py.py", "raise ModuleNotFoundError(name='h5py')")
        without = {"PYTHONPATH": str(self.folder / "broken")}
        for words in (["a.h5", "a.h5"], ["study"], ["a.h5", *(["--html", "a.html"] if PLOTS else [])]):
            self.succeeds("report", *words, **without)
        self.succeeds("run", "a.h5", "--dry-run", KONTOR_LAUNCHER="start", **without)
        if PLOTS:
            self.assert_fails(self.kontor("report", "a.h5", "--plot", "a.png", **without), "needs Python with h5py")
            self.succeeds("report", "a.h5", "--plot", "a.png")

    def test_what_is_in_another_file_is_not_read(self):
        """HDF5 would follow these to any file that the user may read."""
        import h5py
        secret = self.folder / self.write("secret.txt", '{"app": "heat"}')
        layout = h5py.VirtualLayout((1,), "S15")
        layout[:] = h5py.VirtualSource("other.h5", "run", (1,))
        other = h5py.ExternalLink("other.h5", "/")
        self.sample("other.h5")
        for change in (lambda file: file.create_dataset("run", (1,), "S15", external=[(str(secret), 0, 15)]),
                       lambda file: file.update({"run": h5py.ExternalLink("other.h5", "/run")}),
                       lambda file: file.update({"there": other, "run": h5py.SoftLink("/there/run")}),
                       lambda file: file.create_virtual_dataset("run", layout)):
            with h5py.File(self.folder / "a.h5", "w") as file:
                change(file)
            with self.assertRaisesRegex(RecordError, "another file, which is not read"):
                read_record(str(self.folder / "a.h5"))
        add_field(self.folder / self.sample("a.h5"))
        with h5py.File(self.folder / "a.h5", "a") as file:
            file["fields/a"] = other
        if PLOTS:
            self.assert_fails(self.reported("a.h5", "--plot", "a.png"), "a is a link to another object or file")

    def test_what_is_no_record(self):
        import h5py
        for text in b"{", b"[1, 2]", b"{} {}", b"\xff":
            set_run(self.folder / "a.h5", text)
            with self.assertRaisesRegex(RecordError, "a.h5: cannot be read, so the file is damaged: /run is no"):
                read_record(str(self.folder / "a.h5"))
        with h5py.File(self.folder / "a.h5", "w") as file:
            file["run/ranks"] = 3
        self.assert_fails(self.reported("a.h5"), "/run is a group, not a dataset")
        whole = (self.folder / self.sample("a.h5")).read_bytes()
        (self.folder / "a.h5").write_bytes(whole[: len(whole) // 2])
        self.assert_fails(self.kontor("run", "--dry-run", "a.h5"), "kontor: a.h5: ", "truncated file")

    def test_a_reader_that_crashes(self):
        """As HDF5 may on a damaged file."""
        (self.folder / "build/bin/kontor-record").unlink()
        self.program("build/bin/kontor-record", "kill -SEGV $$")
        self.assert_fails(self.kontor("report", self.sample("a.h5")), "a.h5: ", "ends with SIGSEGV [E-FILE-DAMAGED]")

    @unittest.skipUnless(os.access(DECK_READER.with_name("heat"), os.X_OK), "no heat")
    def test_a_damaged_result_of_a_run(self):
        """By its checksums, before HDF5 opens it: structure for any report, fields for their pictures."""
        import h5py
        heat = DECK_READER.with_name("heat")
        self.write("plate.yaml", "app: heat\nproblem: {cells: [40, 30]}\nsolver: {max_sweeps: 5}\n")
        subprocess.run([heat, "plate.yaml", "-o", "plate.h5", "-q"], cwd=self.folder, check=False, capture_output=True)
        whole = (self.folder / "plate.h5").read_bytes()
        with h5py.File(self.folder / "plate.h5") as file:
            field = file["fields/temperature"].id.get_offset() + 100
        for place, *option in (600,), (field, "--plot", "a.png"):
            changed = bytearray(whole)
            changed[place] ^= 1
            (self.folder / "plate.h5").write_bytes(changed)
            self.assert_fails(self.reported("plate.h5", *option), "kontor: plate.h5: its bytes ", "[E-FILE-DAMAGED]")

    def test_repeats(self):
        """The same deck and ranks, unless others are asked for; what the deck names is not written to."""
        for deck, words, ranks, options in ((DECK, "-n 3 -o b.h5", 3, "-o b.h5"),
                                            (DECK + 'output: {file: "/elsewhere/o.h5"}', "", 6, "-o a-repeat.h5")):
            done = self.kontor("run", self.sample("a.h5", deck=deck, ranks=6), "--dry-run", *words.split(),
                               KONTOR_LAUNCHER="start", TMPDIR=str(self.folder))
            (folder,) = self.folder.glob("kontor.*")
            self.assertEqual((folder / "a.yaml").read_text(encoding="utf-8"), deck)
            command = f" start -n {ranks} build/bin/heat {folder}/a.yaml {options}\n"
            self.assertTrue(done.stdout.endswith(command), done)
            shutil.rmtree(folder)
        self.sample("a.h5", deck=None, ranks=None)
        self.assert_fails(self.kontor("run", "a.h5", "--dry-run"), "kontor: a.h5: the run cannot be repeated")
