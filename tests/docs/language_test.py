# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the check of the language finds. `kontor lint` applies it to the tree."""

import unittest
from pathlib import Path

from language import findings

SHORT, LONG = "word " * 25, "word " * 26
TEXTS = {  # a file and its text: what is found
    ("a.md", "A rank that is late is refused."): '"is refused"',
    ("a.md", "The rate is from `a is refused`.\n\n```text\nIt is refused.\n```\n| it is refused |\n"): "",
    ("a.md", f"The first.\n\n{LONG}end.\n"): "3: 27 words",
    ("a.md", f"- {SHORT}\n- {SHORT}\n\n{SHORT[:-1]}. `code` {SHORT}by him\n"): "28 words",
    ("a.md", f"# {LONG}\n\n{SHORT[:-1]}. heat {SHORT[10:]}\n"): "characters in a line",
    ("a.md", "x" * 200 + "\n| " + "x " * 80): "",
    ("a.cpp", 'int waist = 0; auto text = "no such word";'): "",
    ("a.cpp", '\nauto text = "the waist";'): '2: "waist"',
    ("a.py", '"""The\nwaist."""'): '2: "waist"',
}


class LanguageTest(unittest.TestCase):
    def test_findings(self):
        for (name, text), expected in TEXTS.items():
            with self.subTest(text=text):
                found = "; ".join(f"{line}: {says}" for line, says in findings(Path(name), text))
                (self.assertIn if expected else self.assertEqual)(expected, found)
