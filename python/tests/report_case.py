# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of kontor report: runs it in this process, which is sooner than to start it, on files with made-up numbers."""

import contextlib
import io
import re
import subprocess
import sys
from importlib.util import find_spec
from unittest import mock

from command import KontorTest

try:
    import h5py  # noqa: F401
    import numpy  # noqa: F401
    import yaml  # noqa: F401
except ModuleNotFoundError as error:
    print(f"skipped: no {error.name}")
    sys.exit(77)

from kontor.report import command as program
from sample_file import change_run, write_sample

PLOTS = find_spec("matplotlib") is not None


class ReportTest(KontorTest):
    def sample(self, name, **differences):
        write_sample(self.folder / name, **differences)
        return name

    def changed(self, change, name="a.h5", **differences):
        """A sample after change(record)."""
        change_run(self.folder / self.sample(name, **differences), change)
        return name

    def reported(self, *arguments):
        """What `kontor report` would say and return."""
        out, told = io.StringIO(), io.StringIO()
        with (contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(told),
              mock.patch.object(program, "allow")):
            code = program.report(program.parse_arguments(arguments), lambda path: None)
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
