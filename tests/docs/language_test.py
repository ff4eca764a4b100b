# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checker of language finds what it should. What it finds in the tree is told by `kontor lint`."""

import tempfile
import unittest
from pathlib import Path

from language import findings

ROOT = Path(__file__).resolve().parents[2]

WRONG = {  # text of a page: what is found in it
    "A rank that is late is refused.": '"is refused"',
    "The rate stands beside that of a triad.": '"beside"',
    "What a call costs is measured by pingpong.": "a clause is the subject",
    "## How it is measured": "a heading is a noun",
    "The limit is from 2026-11-02.": "a date",
    "It was measured in November 2026.": "a date",
    "Revision 1a2b3c4 has it.": "a commit hash",
    "word " * 26 + "end.": "27 words",
    "1. " + "word " * 26 + "end.": "27 words",
    "Short. " * 26: "182 characters",
}
SOURCES = {  # file, text: what is found
    ("a.cpp", "// no longer needed\n"): "history",
    ("b.cpp", 'auto a = "no longer // 2026-01-02";\n'): None,
    ("c.cpp", "/* a date:\n 2026-01-02 */\n"): "a date",
    ("d.py", '"""A docstring of 2026-01-02."""\n'): "a date",
    ("e.py", 'a = "2026-01-02"  # a text\n'): None,
    ("f.md", "Words " * 25 + "\n"): "characters",
    ("CMakeLists.txt", "# in earlier versions\n"): "history",
}


def found_in(name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        return " ".join(said for _, said in findings(path))


class LanguageTest(unittest.TestCase):
    def test_checker_finds(self):
        for (name, text), said in {**{("page.md", text): said for text, said in WRONG.items()}, **SOURCES}.items():
            with self.subTest(text=text):
                if said:
                    self.assertIn(said, found_in(name, text))
                else:
                    self.assertEqual(found_in(name, text), "")
