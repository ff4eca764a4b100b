# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks of the campaign notice what they are there for: each promise is broken by hand."""

import json
import os
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/torture"), str(ROOT / "python")]
try:
    import h5py
    import numpy

    from torture import check, fault, inputs, kill
    from torture.case import APPS, Case, Run, dice
    from torture.check import Outcome
    from torture.mpirun import Result, marked
    from torture.reference import Reference, contents
except ModuleNotFoundError as error:
    print(f"skipped: {error}")
    sys.exit(77)

RUN = Run("heat", 2, ("output.every=10",))
CASE = Case(0, "kill", RUN, RUN, {"signal": "KILL", "to": "rank 0", "time": 0.5})


def write_output(path, value, started, early=0, series=True):
    with h5py.File(path, "w") as file:
        run = file.create_group("run")
        run.attrs["app"], run.attrs["started"], run.attrs["ended_early"] = "heat", started, early
        file["VTKHDF/CellData/temperature"] = numpy.full((4, 5), value)
        file["fields/temperature"] = file["VTKHDF/CellData/temperature"]
        if series:
            file["series/000000010/temperature"] = numpy.full((4, 5), value / 2)


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-")))
        self.output, self.xdmf, self.record = (self.folder / f"plate.{end}" for end in ("h5", "xmf", "json"))
        self.put(2.0, "new")
        bits, names = contents(self.output)
        new_xdmf = self.xdmf.read_bytes()
        self.put(1.0, "earlier")
        earlier = {path.name: path.read_bytes() for path in (self.output, self.xdmf, self.record)}
        self.reference = Reference(APPS["heat"], earlier, bits, names, {True: new_xdmf, False: None}, (), ())
        (self.folder / "deck.yaml").write_text("")

    def put(self, value, text):
        write_output(self.output, value, text)
        self.xdmf.write_text(text)
        self.record.write_text(json.dumps({"started": text}))

    def findings(self):
        found = []
        check.check_ended(self.folder, self.reference, found, RUN)
        return found

    def judged(self, case, code, said):
        """The findings on a run that ended so."""
        outcome = Outcome(case)
        fault.judge(case, outcome, code, said, self.folder, self.reference)
        return "\n".join(outcome.findings)

    def test_the_earlier_output_and_the_new_one_are_right(self):
        self.assertEqual(self.findings(), [])
        self.put(2.0, "new")
        self.assertEqual(self.findings(), [])
        (self.folder / "plate.h5.0123abcd.tmp").write_text("")
        (self.folder / ".plate.h5.kontor-lock").write_text("")
        self.assertEqual(self.findings(), [])
        found = []
        check.check_names(self.folder, found, temporaries=False)
        self.assertIn("temporaries: plate.h5.0123abcd.tmp is left", found)

    def test_what_is_found(self):
        """After each of these has happened to the earlier output."""
        checkpoint = self.folder / "plate-checkpoint-000000010.h5"

        def new(path=self.output, end=None, **how):
            write_output(path, 2.0, "new", **how)
            path.write_bytes(path.read_bytes()[:end])

        for finding, happens in (
            ("output: plate.h5 is neither the earlier one nor whole", lambda: new(end=1000)),
            ("output: the earlier plate.h5 is gone", self.output.unlink),
            ("fields/temperature of plate.h5 has other bits", lambda: self.put(2.0 + 1e-15, "new")),
            ("series/000000010/temperature of plate.h5 is missing", lambda: new(series=False)),
            ("sidecar: plate.xmf is not what belongs to the new[^§]*sidecar: plate.json is of another run", new),
            ("sidecar: plate.json is not whole", lambda: (new(), self.record.write_text('{"started":'))),
            ("sidecar: plate.xmf is not what belongs to the earlier", lambda: self.xdmf.write_text("new")),
            ("sidecar: plate.xmf is not what belongs to the ended early", lambda: new(early=1)),
            (r"names: plate\.h5\.tmp is left", (self.folder / "plate.h5.tmp").touch),
            (r"checkpoint: plate-checkpoint-000000010\.h5 is not whole", lambda: new(checkpoint, end=2000)),
            (r"checkpoint: plate-checkpoint-000000010\.h5 has no checksums", lambda: new(checkpoint)),
        ):
            with self.subTest(finding):
                happens()
                self.assertRegex("\n".join(self.findings()), finding)
                for path in self.folder.iterdir():
                    path.unlink()
                for name, data in self.reference.earlier.items():
                    (self.folder / name).write_bytes(data)
                self.assertEqual(self.findings(), [])

    def test_a_series_that_ended_early_has_the_steps_that_were_made(self):
        self.put(2.0, "new")
        write_output(self.output, 2.0, "new", early=1)
        steps = [f"plate.h5:/{name}/temperature" for name in ("series/000000010", "fields")]
        self.xdmf.write_text("".join(f"<DataItem>{step}</DataItem>" for step in steps))
        self.assertEqual(self.findings(), [])
        self.xdmf.write_text(f"<DataItem>{steps[0]}</DataItem>")
        self.assertRegex("\n".join(self.findings()), "sidecar: plate.xmf is not what belongs to the ended early")

    def test_checkpoints(self):
        """One with checksums is right; the one that a run went on from may not be gone."""
        write_output(self.folder / "plate-checkpoint-000000010.h5", 2.0, "new")
        with (self.folder / "plate-checkpoint-000000010.h5").open("ab") as file:
            file.write(check.SEAL)
        found = self.findings()
        self.assertEqual(found, [])
        (self.folder / "plate-checkpoint-000000010.h5").unlink()
        check.check_checkpoints(self.folder, found, Run("heat", 2, ("restart=plate-checkpoint.h5",)))
        self.assertRegex("".join(found), "checkpoint: the run went on from one, and none is left")

    def test_exit_codes(self):
        for code, state, text in (0, "earlier", "exit code: 0, but"), (4, "earlier", "exit code: 4, but"):
            found = []
            kill.check_code(CASE, code, state, "", found)
            self.assertRegex("".join(found), text)

    def test_what_was_said_of_a_fault(self):
        case = Case(0, "files", RUN, RUN, {"call": "fsync", "do": "5", "words": ["plate."]})
        said = {
            (3, ""): "words: nothing",
            (3, "terminate called after throwing"): "words: terminate",
            (3, "oh no"): "words: none of",
            (134, "output: plate.h5: no"): "exit code: 134",
        }
        for (code, text), finding in said.items():
            self.assertRegex(self.judged(case, code, text), finding)
        self.assertEqual(self.judged(case, 3, "output: plate.h5: fsync failed: Input/output error"), "")
        self.assertRegex(self.judged(case, 0, ""), "exit code 0, but plate.h5 is earlier")


class Inputs(unittest.TestCase):
    def test_seed_and_number_make_an_input_again(self):
        first, again, other = (inputs.mutated(dice(1, "input", number), [b"cells: [3, 4]\n" * 9]) for number in (7, 7, 8))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_what_is_found(self):
        """Of programs that read an input: here they are Python, and do what it says."""
        with tempfile.TemporaryDirectory(prefix="kontor-") as folder:
            for does, finding in (
                ("", ""), ("sys.exit('oh no [E-DECK-KEY]')", "exit code: 1"), ("os.abort()", "exit code: -6"), ("refuse('oh no')", "words: oh no"),
                ("refuse('oh no [E-DECK-KEY]')", ""), ("refuse('oh no [E-INTERNAL]')", "words: oh no"), ("time.sleep(60)", "hang: "),
            ):
                file, outcome = Path(folder, "input"), Outcome(CASE)
                file.write_text(f"import os, sys, time\ndef refuse(words):\n    print(words, file=sys.stderr)\n    sys.exit(2)\n{does}\n")
                with self.subTest(does), unittest.mock.patch("torture.inputs.SECONDS", 5), unittest.mock.patch("torture.check.GONE", 0.1):
                    inputs.give([sys.executable, "{file}"], file, False, outcome)
                    self.assertRegex("\n".join(outcome.findings), f"^{finding}" if finding else "^$")


class Ends(unittest.TestCase):
    """What Outcome.end() finds."""

    class Program:
        command, ended, hung, stacks, launcher_alone = "heat", True, [], {"heat (1)": ["#0 main ()"]}, False

        def processes(self):
            return [] if self.ended else marked(f"HOME={os.environ.get('HOME', '')}")[:1]

        def kill(self):
            self.ended = True

    def outcome(self, code, said="", **differences):
        """Of a program that ended so, and differs in these members."""
        program, outcome = self.Program(), Outcome(CASE)
        vars(program).update(differences)
        outcome.end(program, Result(code, "", said, 1.0), 0.0)
        return outcome

    def test_processes_and_hangs(self):
        with unittest.mock.patch("torture.check.GONE", 0.1):
            outcome = self.outcome(None, ended=False)
        self.assertRegex("\n".join(outcome.findings), r"hang: [^\n]*\nprocesses: left are ")
        self.assertEqual(outcome.seen["stacks"], self.Program.stacks)

    def test_what_a_sanitizer_says(self):
        for text, finds in ("x.cpp:3:5: runtime error: shift", True), ("==7==ERROR: AddressSanitizer: heap-use-after-free", True), ("oh no", False):
            self.assertEqual(["sanitizer: " in finding for finding in self.outcome(0, text).findings], [True] * finds)
