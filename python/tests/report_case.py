# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of kontor report: runs it in this process, which is sooner than to start it, on files with made-up numbers."""

import contextlib
import io
import os
import re
import subprocess
import sys
from unittest import mock

from command import PACKAGE, KontorTest

try:
    import h5py  # noqa: F401
    import numpy  # noqa: F401
    import yaml  # noqa: F401
except ModuleNotFoundError as error:
    print(f"skipped: no {error.name}")
    sys.exit(77)

from sample_file import write_sample

sys.path.insert(0, str(PACKAGE.parent))
from kontor.report import command as program  # noqa: E402

try:
    import matplotlib

    PLOTS = bool(matplotlib.__version__)
except ModuleNotFoundError:
    PLOTS = False


class ReportTest(KontorTest):
    def sample(self, name, **differences):
        write_sample(self.folder / name, **differences)
        return name

    def reported(self, *arguments):
        """What `kontor report` would say and return."""
        out, told = io.StringIO(), io.StringIO()
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told), mock.patch.object(program, "allow"):
                code = program.report(program.parse_arguments(arguments), lambda path: None)
        finally:
            os.chdir(before)
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), told.getvalue())

    def report(self, *arguments):
        done = self.reported(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_row(self, text, *cells):
        """A line that has these cells in this order, and nothing else."""
        lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
        self.assertIn(list(cells), lines, text)
