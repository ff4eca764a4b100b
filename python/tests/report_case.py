# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of kontor report: runs it in this process, which is sooner than to start it, on records with made-up numbers."""

import contextlib
import io
import re
import subprocess
import sys
from importlib.util import find_spec

from command import KontorTest

if missing := [name for name in ("numpy", "yaml") if not find_spec(name)]:
    print(f"skipped: no {missing[0]}")
    sys.exit(77)

from kontor.__main__ import main
from sample_file import write_sample

PLOTS = bool(find_spec("matplotlib"))
FIELDS = bool(find_spec("h5py"))


class ReportTest(KontorTest):
    def sample(self, name, **differences):
        write_sample(self.folder / name, **differences)
        return name

    def reported(self, *arguments):
        """What `kontor report` would say and return."""
        out, told = io.StringIO(), io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
            code = main(["report", *arguments])
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), told.getvalue())

    def report(self, *arguments):
        done = self.reported(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_rows(self, text, *rows):
        """Lines that have these cells and nothing else, whatever the width of the columns."""
        lines = [re.sub(r"\s{2,}", "  ", line.strip()) for line in text.splitlines()]
        for row in rows:
            self.assertIn(row, lines, text)
