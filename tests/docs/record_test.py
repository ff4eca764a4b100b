# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that scripts/record_reference.py finds all of a file, and rejects descriptions that do not fit."""

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HAS_PACKAGES = importlib.util.find_spec("h5py")

PAGE = """
## /run
| path | type | unit | apps | description |
| `/run` | | | | the record |
| `/run@ranks` | old | 1 | b | ranks, see [page](a.md) |
| `/run@gpu` | text | s | GPU | name |
## Timer regions
| `work` | | | working |
"""


@unittest.skipUnless(HAS_PACKAGES, "no h5py here")
class RecordTest(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, str(ROOT / "scripts"))
        import record_reference

        self.script = record_reference

    def tables(self, types, regions=("work",), page=PAGE):
        """The page's tables, of paths with these types, all of app a."""
        paths = {path: self.script.Seen({kind}, {"a"}) for path, kind in types.items()}
        return self.script.tables(page, paths, {name: self.script.Seen({"compute"}, {"a"}) for name in regions}, {"a", "b"})

    def test_rows(self):
        text = self.tables({"/run": "group", "/run@ranks": "int64"})
        self.assertIn("| `/run@ranks` | int64 | 1 | a | ranks, see [page](a.md) |", text)
        self.assertIn("| `/run@gpu` | text | s | GPU | name |", text)
        self.assertIn("| `work` | compute | a | working |", text)

    def test_rows_that_do_not_fit(self):
        right = {"/run": "group", "/run@ranks": "int64"}
        for name, types, regions, page in (
            ("/run@new", {**right, "/run@new": "int64"}, ["work"], PAGE),
            ("/run@ranks", {"/run": "group"}, ["work"], PAGE),
            ("/run@gpu", {**right, "/run@gpu": "int64"}, ["work"], PAGE),
            ("wait", right, ["work", "wait"], PAGE),
            ("work", right, [], PAGE),
            ("/run", right, ["work"], PAGE.replace("the record", "")),
        ):
            with self.subTest(name), self.assertRaises(SystemExit) as refused:
                self.tables(types, regions, page)
            self.assertIn(name, str(refused.exception))

    def test_paths_of_a_file(self):
        import h5py
        import numpy as np

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.h5"
            with h5py.File(path, "w") as file:
                file["run/timers"] = np.array([(b"work", 2)], dtype=[("region", "S8"), ("calls", "i8")])
                file["run"].attrs["hosts"] = ["a", "b"]
                file["run/figures_of_merit/speed"] = 1.0
                file["series/000000020/u"] = np.zeros((2, 3))
            found, regions = self.script.of_file(path)
        self.assertEqual(found["/run@hosts"], "text, 1-D")
        self.assertEqual(found["/run/timers[calls]"], "int64")
        self.assertEqual(found["/series/STEPS/u"], "float64, 2-D")
        self.assertIn("/run/figures_of_merit/NAME", found)
        self.assertEqual(regions, {"work": ""})
