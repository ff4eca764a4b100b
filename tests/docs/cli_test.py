# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that `kontor help` has every environment variable that Kontor reads, and no other."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from kontor.__main__ import USAGE  # noqa: E402

# Set by one part of Kontor for another, or by tests.
INTERNAL = {
    "KONTOR_APPS", "KONTOR_BUILT", "KONTOR_CHARGES", "KONTOR_DECK_READER", "KONTOR_LIMITS_ROOT", "KONTOR_MPI_IS_MPICH",
    "KONTOR_NATIVE", "KONTOR_RANKS", "KONTOR_RUN_FOLDER", "KONTOR_TERMINAL",
}
FOLDERS = ("comm", "config", "device", "miniapps", "mpi", "output", "sums")


def product_text():
    """What the programs get by name from their environment, and all that the command says."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.[ch]pp"):
            if "tests" not in path.parts:
                for name in re.findall(r'(?:getenv|environment)\("(KONTOR_\w+)"\)', path.read_text(encoding="utf-8")):
                    yield name
    scripts = [ROOT / "scripts/kontor"]
    for path in (*scripts, *(ROOT / "python/kontor").rglob("*.py")):
        yield from re.findall(r"\bKONTOR_[A-Z_]+\b", path.read_text(encoding="utf-8").replace(USAGE, ""))


class CliTest(unittest.TestCase):
    def test_variables(self):
        read = set(product_text())
        listed = set(re.findall(r"(?m)^  (KONTOR_\w+)", USAGE))
        self.assertEqual(read - listed - INTERNAL, set(), "read, but not in `kontor help`")
        self.assertEqual(listed - read, set(), "listed, but not read")
