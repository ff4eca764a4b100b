# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks of the campaign notice what they are there for: each promise is broken by hand."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/torture"), str(ROOT / "python")]
try:
    import h5py
    import numpy

    from torture import check, command, fault, inputs, kill
    from torture.after import Outcome
    from torture.case import Case, Run
    from torture.decks import APPS
    from torture.fault_plans import cases_of
    from torture.launch import Result
    from torture.processes import marked, stack_of
    from torture.reference import Reference, Site, contents
    from torture.table import not_hit, summary
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
        self.folder = Path(tempfile.mkdtemp(prefix="kontor-"))
        self.addCleanup(shutil.rmtree, self.folder)
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

    def test_what_cuda_does_not_give(self):
        keys = ("comm.backend=ipc",)
        sites = (Site("cudaMalloc", "heat+0x10", 1, 5, "allocate+0x3", keys), Site("new", "heat+0x20", 0, 1, "make+0x2", keys))
        cases = cases_of("device", 7, {"heat": self.reference._replace(sites=sites)})
        self.assertEqual({case.what["call"] for case in cases}, {"cudaMalloc"})
        self.assertLessEqual({1, 5}, {case.what["number"] for case in cases})
        self.assertEqual({(case.run.overrides, case.what["of"]) for case in cases}, {(keys, 1)})

    def test_inputs(self):
        """Batches are the same each time and have nothing in common; what is found in one is a finding."""
        drawn, again = ([next(stream) for _ in range(200)] for stream in (inputs.cases(7), inputs.cases(7)))
        self.assertEqual(drawn, again)
        ranges = [(case.what["of"], number) for case in drawn for number in range(case.what["first"], case.what["first"] + case.what["inputs"])]
        self.assertEqual(len(ranges), len(set(ranges)))
        case = next(case for case in drawn if case.what["of"] == "deck")
        first = case.what["first"]

        def crash(what, place, *words):
            """At the first input, which is left."""
            if words[1] == first:
                (place / f"deck-7-{first}").write_text("")
            return subprocess.CompletedProcess([], -signal.SIGSEGV if words[1] == first else 0, "", "oh no")

        with unittest.mock.patch.object(inputs, "fuzz", crash):
            outcome = inputs.make(case, self.folder, None, {})
        self.assertEqual(outcome.findings, [f"input: deck-7-{first}: signal SIGSEGV: oh no"])
        entry = case.as_dict() | {"findings": ["input: it"], "seen": {"hit": True, "inputs": 1000, "seconds_until_gone": 1.5}}
        self.assertRegex(summary([entry, entry | {"findings": []}], {}), r"input +deck +2 +2 +1 +1\.50 +1\.50[^§]*inputs read: 2000")

    def test_a_process_that_is_left_and_a_hang(self):
        mark = f"KONTOR_TORTURE={self.folder}"
        name, value = mark.split("=")
        left = subprocess.Popen(["sleep", "60"], env={**os.environ, name: value, "OMPI_COMM_WORLD_RANK": "3"})
        self.addCleanup(left.wait)
        self.addCleanup(left.kill)
        found = [process for process in marked(mark) if process.pid == left.pid]
        self.assertEqual([process.rank for process in found], [3])
        debugger = self.folder / "gdb"
        debugger.write_text('#!/bin/sh\necho "Attaching to $4"\necho "Thread 1"\necho "#0 pause ()"\n')
        debugger.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, PATH=f"{self.folder}:/usr/bin:/bin"):
            self.assertEqual(stack_of(left.pid), ["Thread 1", "#0 pause ()"])
        with unittest.mock.patch.dict(os.environ, PATH=str(self.folder / "nothing")):
            self.assertEqual(stack_of(left.pid), [])

    def test_a_place_that_no_run_has_come_to_is_not_hit(self):
        places = [("fsync", f"sync()+{n:#x}") for n in range(3)]
        entries = [
            Case(n, "files", RUN, RUN, {"call": call, "in": where}).as_dict() | {"findings": [], "seen": {"hit": n == 0}}
            for n, (call, where) in enumerate(places[:2])
        ]
        self.assertRegex(summary(entries, {"files": set(places)}), r"(?m)^places hit: 1 of 3 files$")
        self.assertEqual(not_hit(entries, {"files": set(places)}), "".join(f"not hit: files, fsync in {where}\n" for _, where in places[1:]))

    def test_a_place_that_no_case_has_come_to_is_tried_again(self):
        cases = [Case(n, "mpi", RUN, RUN, {"call": "MPI_Iprobe", "in": f"finish()+{n % 2:#x}"}) for n in range(4)]
        cases.append(Case(4, "mpi", RUN, RUN, {"way": "address space"}))
        entries = []
        again = command.not_reached("mpi", cases, entries)
        entries.append(cases[1].as_dict() | {"findings": [], "seen": {"hit": True}})
        self.assertEqual([case.number for case in again], [0, 2] * command.ROUNDS)

    def test_an_error_that_is_told_late(self):
        case = Case(0, "disk", RUN, RUN, {"way": "full", "words": ["plate."]})
        started = unittest.mock.Mock(command="heat", begun=time.monotonic() - 3, launcher_alone=False)
        started.processes.return_value = []
        started.finish.return_value = Result(3, "", "output: plate.h5: no", 3.0)
        for within, finds in (1000, r"\A\Z"), (2, r"\Alate: it ended \d+\.\d s after the fault\Z"):
            with unittest.mock.patch.object(fault, "Started", return_value=started), unittest.mock.patch.object(fault, "follow"):
                outcome = fault.make(case, self.folder / str(within), self.reference, {}, within)
            self.assertRegex("\n".join(outcome.findings), finds)


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
        with unittest.mock.patch("torture.after.GONE", 0.1):
            outcome = self.outcome(None, ended=False)
        self.assertRegex("\n".join(outcome.findings), r"hang: [^\n]*\nprocesses: left are ")
        self.assertEqual(outcome.seen["stacks"], self.Program.stacks)

    def test_what_a_sanitizer_says(self):
        for text, finds in ("x.cpp:3:5: runtime error: shift", True), ("==7==ERROR: AddressSanitizer: heap-use-after-free", True), ("oh no", False):
            self.assertEqual(["sanitizer: " in finding for finding in self.outcome(0, text).findings], [True] * finds)


if __name__ == "__main__":
    unittest.main()
