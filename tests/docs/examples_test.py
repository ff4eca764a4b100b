# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of examples has the lines of each, that are neither blank nor comments."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def code_lines(file):
    text = file.read_text(encoding="utf-8").splitlines()
    return sum(1 for line in text if line.strip() and not line.lstrip().startswith("//"))


class Examples(unittest.TestCase):
    def test_page(self):
        page = (ROOT / "docs/library/examples.md").read_text(encoding="utf-8")
        rows = re.findall(r"(?m)^\| \[(\w+)\]\(../../examples/\1/kontor.cpp\) .* \| (\d+) \| (\d+) \|$", page)
        told = {name: (int(kontor), int(mpi)) for name, kontor, mpi in rows}
        folders = [path.parent for path in EXAMPLES.glob("*/kontor.cpp")]
        counts = {path.name: (code_lines(path / "kontor.cpp"), code_lines(path / "mpi.cpp")) for path in folders}
        self.assertEqual(told, counts)
        shared = {name: int(number) for name, number in re.findall(r"`(\w+\.hpp)` \((\d+)\)", page)}
        self.assertEqual(shared, {path.name: code_lines(path) for path in EXAMPLES.glob("*.hpp")})
