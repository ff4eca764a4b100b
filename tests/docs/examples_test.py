# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/library/examples.md: every example is there, with the lines that it has."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs/library/examples.md").read_text(encoding="utf-8")


def lines(path):
    """Those that are neither blank nor comments."""
    text = path.read_text(encoding="utf-8").splitlines()
    return sum(1 for line in text if line.strip() and not line.lstrip().startswith("//"))


class ExamplesTest(unittest.TestCase):
    def test_table(self):
        rows = re.findall(r"^\| \[(\w+)\]\(../../examples/\1\) .* \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)
        told = {name: (int(kontor), int(mpi)) for name, kontor, mpi in rows}
        folders = [path.parent for path in EXAMPLES.glob("*/kontor.cpp")]
        self.assertEqual(told, {path.name: (lines(path / "kontor.cpp"), lines(path / "mpi.cpp")) for path in folders})

    def test_what_all_share(self):
        told = {name: int(number) for name, number in re.findall(r"`(\w+\.hpp)` \((\d+)\)", PAGE)}
        self.assertEqual(told, {path.name: lines(path) for path in EXAMPLES.glob("*.hpp")})
