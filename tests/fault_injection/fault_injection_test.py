# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks of the campaign notice what they are there for: each promise is broken by hand."""

import json
import os
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

try:
    import h5py

    from fault_injection import check, disturb
    from fault_injection.cases import APPS, Case, Run
    from fault_injection.mpirun import Result, marked
except ModuleNotFoundError as error:
    print(f"skipped: {error}")
    sys.exit(77)

RUN = Run("heat", 2, ("output.every=10",))


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-")))
        self.output, self.xdmf, self.record = (self.folder / name for name in check.OUTPUTS)
        self.checkpoint = self.folder / "plate-checkpoint-000000010.h5"
        self.put()
        bits = check.contents(self.output)
        self.put("earlier", value=1.0)
        earlier = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        self.reference = check.Reference(APPS["heat"], earlier, bits)

    def write(self, path, value=2.0, early=False, series=True, end=None):
        with h5py.File(path, "w") as file:
            file["run"] = json.dumps({"started": "new", "ended_early": early})
            file["fields/temperature"] = [value] * 20
            if series:
                file["series/000000010/temperature"] = [value / 2] * 20
        path.write_bytes(path.read_bytes()[:end])

    def put(self, text="new", **how):
        self.write(self.output, **how)
        named = "".join(f"<i>plate.h5:/{name}/temperature</i>" for name in ("series/000000010", "fields"))
        self.xdmf.write_text(f"{named}</Xdmf>\n")
        self.record.write_text(json.dumps({"started": text}))

    def findings(self, **how):
        found = []
        check.check_folder(self.folder, self.reference, RUN, found, **how)
        return "\n".join(found)

    def test_what_is_right(self):
        self.assertEqual(self.findings(), "")
        self.put(early=True)
        self.assertEqual(self.findings(), "")
        self.put()
        self.assertEqual(self.findings(complete=True), "")
        self.write(self.checkpoint)
        with self.checkpoint.open("ab") as file:
            file.write(check.SEAL)
        (self.folder / "plate.h5.0123abcd.tmp").touch()
        self.assertEqual(self.findings(), "")
        self.assertRegex(self.findings(temporaries=False), "names: plate.h5.0123abcd.tmp is left")

    def test_what_is_found(self):
        for finding, happens in (
            ("output: plate.h5 is neither the earlier one nor whole", lambda: self.put(end=1000)),
            ("output: the earlier plate.h5 is gone", self.output.unlink),
            ("fields/temperature of plate.h5 has other bits", lambda: self.put(value=2.0 + 1e-15)),
            ("series/000000010/temperature of plate.h5 is missing", lambda: self.put(series=False)),
            ("plate.xmf is not what belongs to the new", lambda: (self.put(), self.xdmf.write_text(""))),
            ("plate.json is of another run", lambda: self.write(self.output)),
            ("plate.json is not whole", lambda: (self.put(), self.record.write_text('{"started":'))),
            ("plate.xmf is not what belongs to the earlier", lambda: self.xdmf.write_text("new")),
            ("names: plate.h5.tmp is left", (self.folder / "plate.h5.tmp").touch),
            ("10.h5 is not whole", lambda: self.write(self.checkpoint, end=2000)),
            ("10.h5 has no checksums", lambda: self.write(self.checkpoint)),
        ):
            happens()
            self.assertRegex(self.findings(), finding)
            for path in self.folder.iterdir():
                path.unlink()
            for name, data in self.reference.earlier.items():
                (self.folder / name).write_bytes(data)

    def test_ends(self):
        """Codes, words, a hang and a process that is left."""
        for kind, code, said, finding in (
            ("files", 3, "", "words: no error id"), ("files", 134, "no [E-MPI-CALL]", "exit code: 134"),
            ("files", 3, "terminate called", "crash: terminate"), ("files", 0, "", "is earlier"),
            ("files", 3, "no [E-MPI-CALL]", "^$"), ("kill", 137, "", "^$"), ("kill", 4, "", "exit code: 4, but"),
        ):
            outcome = disturb.Outcome()
            disturb.judge(Case(0, kind, RUN, {}), outcome, code, said, self.folder, self.reference)
            self.assertRegex("\n".join(outcome.findings), finding)
        program = unittest.mock.Mock(command="heat", hung=[], launcher_alone=False)
        program.processes = lambda: marked(f"HOME={os.environ.get('HOME', '')}")[:1]
        outcome = disturb.Outcome()
        with unittest.mock.patch("fault_injection.disturb.GONE", 0.1):
            outcome.end(program, Result(None, "", ""))
        self.assertRegex("\n".join(outcome.findings), r"hang: [^\n]*\nprocesses: left are ")
