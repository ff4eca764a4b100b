# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each mini-app of CMake's list is in all that docs/dev/miniapp.md names; nothing else is."""

import re
import shutil
import tempfile
import unittest
from pathlib import Path

from command import ROOT

from kontor.place import Place


APPS = Place(ROOT, ROOT / "build", "release", True).apps


def folders(pattern):
    return {path.parent.name for path in ROOT.glob(pattern)}


def found(file, pattern):
    return set(re.findall(pattern, (ROOT / file).read_text(encoding="utf-8")))


class Lists(unittest.TestCase):
    def test_each_app_is_everywhere(self):
        for what, names in {
            "miniapps/CMakeLists.txt": folders("miniapps/*/main.cpp"),
            "inputs": {app for deck in ROOT.glob("inputs/*/*.yaml") for app in found(deck, r"(?m)^app: *(\w+)")},
            "docs/apps": {path.stem for path in ROOT.glob("docs/apps/*.md")},
            "python/kontor/cli.md": found("python/kontor/cli.md", r"(?m)^\| `(\w+)` \|"),
            "docs/reference/decks.md": found("docs/reference/decks.md", r"(?m)^## ([a-z]+)$"),
            "README.md": found("README.md", r"docs/apps/(\w+)\.md"),
            "RUNS of python/tests/record_page_test.py": found("python/tests/record_page_test.py", r'(?m)^ +\(\d, "(\w+)/'),
            "decks of packaging/jube": found("packaging/jube/kontor.yaml", r'(\w+)="\w+/[\w-]+"'),
            "sizes of packaging/jube": found("packaging/jube/kontor.yaml", r'(\w+)="--set '),
        }.items():
            with self.subTest(what):
                self.assertEqual(names, set(APPS))

    def test_each_check_has_mutants(self):
        checked = folders("miniapps/*/check") & set(APPS)
        self.assertEqual({path.stem for path in ROOT.glob("tests/mutations/*.toml")}, checked | {"common", "kernels"})

    def test_an_app_that_is_added_is_known(self):
        with tempfile.TemporaryDirectory(prefix="kontor-test-") as folder:
            (copy := Path(folder, "miniapps/CMakeLists.txt")).parent.mkdir()
            shutil.copy(ROOT / "miniapps/CMakeLists.txt", copy)
            copy.write_text(copy.read_text().replace("set(apps ", "set(apps wave "))
            self.assertEqual(Place(Path(folder), Path(folder), "release", True).apps, ["wave", *APPS])


if __name__ == "__main__":
    unittest.main()
