# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error ids: the page has all that are raised, in order, and C++ knows those that it raises."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from kontor.messages import with_id  # noqa: E402

HEADER = ROOT / "errors/include/kontor/errors/id.hpp"
PAGE = ROOT / "docs/reference/errors.md"
ID = re.compile(r"\bE-[A-Z]+(?:-[A-Z]+)*\b")
ROW = re.compile(rf"\| `{ID.pattern}` \| [123](, [123])* (\| [A-Z`].*\. ){{2}}\|")  # id, exit codes, cause, remedy


def ids_in(folders, endings):
    found = set()
    for folder in folders:
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in endings and "tests" not in file.parts and file != HEADER:
                found.update(ID.findall(file.read_text(encoding="utf-8")))
    return found


class ErrorIds(unittest.TestCase):
    def test_page_and_header(self):
        rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
        for row in rows:
            self.assertRegex(row, rf"\A{ROW.pattern}\Z")
        names = [ID.search(row)[0] for row in rows]
        self.assertEqual(names, sorted(set(names)))
        cpp = ids_in(["config", "mpi", "output", "comm", "sums", "device", "miniapps"], {".cpp", ".hpp", ".cu"})
        code = re.sub("//.*", "", HEADER.read_text(encoding="utf-8"))
        self.assertEqual(set(re.findall('"(E-[A-Z-]+)"', code)), cpp)
        python = ids_in(["python/kontor", "scripts", "lab"], {".py", ".sh"})
        self.assertEqual(set(names), cpp | python)

    def test_end_of_first_line(self):
        for message, expected in (
            ("a\nb", "a [E-MEMORY]\nb"),
            ("a: b [E-VERIFY]; c", "a: b; c [E-VERIFY]"),
            ("a\nb [E-VERIFY]", "a [E-MEMORY]\nb [E-VERIFY]"),
        ):
            self.assertEqual(with_id(message, "E-MEMORY"), expected)
