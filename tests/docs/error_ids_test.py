# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error ids: the table is sorted and its page up to date, C++ knows those that it raises, and all are raised."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "python"))

from kontor import errors  # noqa: E402

HEADER = ROOT / "errors/include/kontor/errors/id.hpp"
TABLE = ROOT / "python/kontor/errors.py"
ID = re.compile(r"\bE-[A-Z]+(?:-[A-Z]+)*\b")
# Of commands that do not print ids; an id that is raised must leave this set.
def ids_in(folders, endings):
    found = set()
    for folder in folders:
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in endings and "tests" not in file.parts and file not in (HEADER, TABLE):
                found.update(ID.findall(file.read_text(encoding="utf-8")))
    return found


class ErrorIds(unittest.TestCase):
    def setUp(self):
        self.cpp = ids_in(["config", "mpi", "output", "comm", "sums", "device", "miniapps"], {".cpp", ".hpp", ".cu"})
        self.python = ids_in(["python/kontor", "scripts", "lab"], {".py", ".sh"})

    def test_table(self):
        names = [cause.id for cause in errors.TABLE]
        self.assertEqual(names, sorted(set(names)))
        for cause in errors.TABLE:
            self.assertRegex(cause.id, rf"\A{ID.pattern}\Z")
            self.assertRegex(cause.codes, r"\A[123](, [123])*\Z")
            for sentence in cause.cause, cause.remedy:
                self.assertRegex(sentence, r"\A[A-Z`].*\.\Z", cause.id)

    def test_page(self):
        self.assertEqual(errors.main([str(ROOT / "docs/reference/errors.md"), "--check"]), 0)

    def test_header(self):
        code = re.sub("//.*", "", HEADER.read_text(encoding="utf-8"))
        self.assertEqual(set(re.findall('"(E-[A-Z-]+)"', code)), self.cpp)

    def test_raised(self):
        self.assertEqual(errors.IDS, self.cpp | self.python)

    def test_end_of_first_line(self):
        for message, expected in (
            ("a\nb", "a [E-MEMORY]\nb"),
            ("a: b [E-VERIFY]; c", "a: b; c [E-VERIFY]"),
            ("a\nb [E-VERIFY]", "a [E-MEMORY]\nb [E-VERIFY]"),
        ):
            self.assertEqual(errors.with_id(message, "E-MEMORY"), expected)
        with self.assertRaises(KeyError):
            errors.with_id("a", "E-NONE")


if __name__ == "__main__":
    unittest.main()
