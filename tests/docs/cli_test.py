# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every environment variable that Kontor reads is in scripts/cli_reference.py, and no other."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from cli_reference import INTERNAL, VARIABLES  # noqa: E402

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
        yield from re.findall(r"\bKONTOR_[A-Z_]+\b", path.read_text(encoding="utf-8"))


class CliTest(unittest.TestCase):
    def test_variables(self):
        read = set(product_text())
        listed = {name for name in VARIABLES if name.startswith("KONTOR_")}
        self.assertEqual(read - listed - INTERNAL, set(), "read, but not in scripts/cli_reference.py")
        self.assertEqual(listed - read - {"KONTOR_START_SECONDS"}, set(), "listed, but not read")
