# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the reading guides of the mini-apps: `## One ... in six files` of docs/apps.

The numbered items link to what a reader needs, at most six of them; a .cpp file stands for its header, too. All of it
has no more lines than the section says ("at most 1,150 lines"). What these files include of the app and of its own
folders is linked in the section as well, among the items or as left out.
"""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ROOT / "miniapps"
EXAMPLES = ROOT / "examples"
MOST = 6
NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def guide(readme):
    """Title and text of the section; None where there is none."""
    text = readme.read_text(encoding="utf-8")
    found = re.search(r"^## (One [\w' ]+ in \w+ files)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found and found.groups()


def items(text):
    """The numbered items, each as a text."""
    return re.findall(r"^\d+\. .*(?:\n {2,}\S.*)*", text, re.MULTILINE)


def linked(readme, text):
    return [(readme.parent / path).resolve() for path in re.findall(r"\]\(([^)\s#]+\.[ch]pp)\)", text)]


def read_by(files):
    """The files, and the header of each .cpp."""
    pairs = [part for file in files for part in (file, file.with_suffix(".hpp"))]
    return list(dict.fromkeys(file for file in pairs if file.exists()))


def lines_of(file):
    return len(file.read_text(encoding="utf-8").splitlines())


def code_lines(file):
    """Those that are neither blank nor comments."""
    text = file.read_text(encoding="utf-8").splitlines()
    return sum(1 for line in text if line.strip() and not line.lstrip().startswith("//"))


def included(app, file):
    """Headers of the app."""
    text = file.read_text(encoding="utf-8")
    return [APPS / path for path in re.findall(rf'^#include "({app}/[^"]+)"', text, re.MULTILINE)]


class ReadingPath(unittest.TestCase):
    def test_guides(self):
        for app in "heat", "cg", "matmul":
            with self.subTest(app):
                readme = ROOT / "docs/apps" / f"{app}.md"
                self.assertTrue(guide(readme), "no section")
                title, text = guide(readme)
                found = items(text)
                self.assertLessEqual(len(found), MOST)
                self.assertIn(f" in {NUMBERS[len(found)]} files", title)
                files = read_by([file for item in found for file in linked(readme, item)])
                told = {*files, *linked(readme, text)}
                for file in files:
                    for header in included(app, file):
                        self.assertIn(header.resolve(), told, f"{file.name} includes it, the section lacks it")
                limit = int(re.search(r"at most ([\d,]+) lines", text).group(1).replace(",", ""))
                count = sum(map(lines_of, files))
                print(f"{app}: {count} of {limit} lines", file=sys.stderr)
                sizes = "\n".join(f"{lines_of(file):5} {file.relative_to(ROOT)}" for file in files)
                self.assertLessEqual(count, limit, sizes)


class Examples(unittest.TestCase):
    def test_page(self):
        page = (ROOT / "docs/library/examples.md").read_text(encoding="utf-8")
        rows = re.findall(r"(?m)^\| \[(\w+)\]\(../../examples/\1\) .* \| (\d+) \| (\d+) \|$", page)
        told = {name: (int(kontor), int(mpi)) for name, kontor, mpi in rows}
        folders = [path.parent for path in EXAMPLES.glob("*/kontor.cpp")]
        counts = {path.name: (code_lines(path / "kontor.cpp"), code_lines(path / "mpi.cpp")) for path in folders}
        self.assertEqual(told, counts)
        shared = {name: int(number) for name, number in re.findall(r"`(\w+\.hpp)` \((\d+)\)", page)}
        self.assertEqual(shared, {path.name: code_lines(path) for path in EXAMPLES.glob("*.hpp")})
