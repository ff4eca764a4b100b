# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names that code and pages share. Error ids: the page has all that are raised, in order, and C++ knows those that it
raises. Environment variables: `kontor help` has those that Kontor reads, and no other."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from kontor.messages import help_of, with_id  # noqa: E402

HEADER = ROOT / "errors/include/kontor/errors/id.hpp"
PAGE = ROOT / "docs/reference/errors.md"
ID = re.compile(r"\bE-[A-Z]+(?:-[A-Z]+)*\b")
ROW = re.compile(rf"\| `{ID.pattern}` \| [123](, [123])* (\| [A-Z`].*\. ){{2}}\|")  # id, exit codes, cause, remedy
# Set by one part of Kontor for another, or by tests.
INTERNAL = {
    "KONTOR_ALL_TESTS", "KONTOR_APPS", "KONTOR_BUILT", "KONTOR_KERNEL_TIMES", "KONTOR_COMM", "KONTOR_DECK_READER",
    "KONTOR_LIMITS_ROOT", "KONTOR_MPI_IS_MPICH",
    "KONTOR_NATIVE", "KONTOR_RANKS", "KONTOR_REQUIRE_CUDA", "KONTOR_RUN_FOLDER",
}
FOLDERS = ("comm", "config", "device", "miniapps", "mpi", "output", "sums")  # of C++


def ids_in(folders, endings):
    found = set()
    for folder in folders:
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in endings and "tests" not in file.parts and file != HEADER:
                found.update(ID.findall(file.read_text(encoding="utf-8")))
    return found


def variables_read():
    """What the programs get by name from their environment, and all that the command says."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.[ch]pp"):
            if "tests" not in path.parts:
                yield from re.findall(r'(?:getenv|environment)\("(KONTOR_\w+)"\)', path.read_text(encoding="utf-8"))
    for path in (ROOT / "scripts/kontor", *(ROOT / "python/kontor").rglob("*.py")):
        yield from re.findall(r"\bKONTOR_[A-Z_]+\b", path.read_text(encoding="utf-8"))


class ErrorIds(unittest.TestCase):
    def test_page_and_header(self):
        rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
        for row in rows:
            self.assertRegex(row, rf"\A{ROW.pattern}\Z")
        names = [ID.search(row)[0] for row in rows]
        self.assertEqual(names, sorted(set(names)))
        cpp = ids_in(FOLDERS, {".cpp", ".hpp", ".cu"})
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


class Variables(unittest.TestCase):
    def test_help(self):
        read = set(variables_read())
        listed = set(re.findall(r"(?m)^  (KONTOR_\w+)", help_of("kontor") + help_of("In a source tree")))
        self.assertEqual(read - listed - INTERNAL, set(), "read, but not in `kontor help`")
        self.assertEqual(listed - read, set(), "listed, but not read")
