# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that cannot be written, or that would overwrite another file of the run."""

import os
import unittest

from launch import HeatTest
from refusal import PLATE, RefusalTest


class Output(RefusalTest):
    RANKS = (3,)  # rank 0 looks at the files

    def test_files_that_cannot_be_written(self):
        (self.folder / "sub").mkdir()
        (self.folder / "plate.xmf").mkdir()
        one = ("-o", "other.hdf5")  # whose XDMF file is another
        for path, words, *facts in (
            ("sub", ["--set", "output.file=sub"], "directory", "output.file or -o"),
            ("deck.yaml/x.h5", ["-o", "deck.yaml/x.h5"], "Not a directory", "output.file or -o"),
            ("/dev/null", ["-o", "/dev/null"], "not a regular file"),
            ("nope/x.h5", ["-o", "nope/x.h5"], "No such file or directory", "make the directory"),
            ("nope/x.json", [*one, "--results", "nope/x.json"], "No such file or directory"),
            ("plate.xmf", [], "directory"),
            ("sub", [*one, "--results", "sub"], "directory"),
            ("/dev/null", [*one, "--results", "/dev/null"], "not a regular file"),
        ):
            self.refused("E-FILE-WRITE", f" {path}: ", *facts, words=words, ranks=(1, 3) if path == "nope/x.h5" else None)

    def test_has_a_nul_in_its_name(self):
        self.write("thesis", "the work of years")  # refused() looks whether it is as before
        for more in (), ("--set", "output.fields=none"):
            override = r'output.file="thesis\0.h5"'
            self.refused("E-DECK-TYPE", f"--set {override}: output.file", "NUL", words=("--set", override, *more))


class Collisions(RefusalTest):
    CASES = [
        ("-o", "deck.yaml", "the input deck and the HDF5 file"),
        ("-o", "./plate.xmf", "the HDF5 file and the XDMF file"),
        ("--results", "deck.yaml", "the input deck and the file of --results"),
        ("--results", "plate.h5", "the HDF5 file and the file of --results"),
        ("--results", "plate.xmf", "the XDMF file and the file of --results"),
    ]

    def test_one_file_for_two_purposes(self):
        for number, (option, path, roles) in enumerate(self.CASES):
            self.refused("E-FILE-SAME", f"{path} ", roles, words=(option, path), ranks=(1,) if number else (1, 3))

    def test_one_file_by_two_names(self):
        self.write("plate.h5", "")
        (self.folder / "link").symlink_to("deck.yaml")
        (self.folder / "hard").hardlink_to(self.folder / "plate.h5")
        for path, role in ("link", "the input deck"), ("hard", "the HDF5 file"):
            self.refused("E-FILE-SAME", f"{path} ", role, "--results", words=("--results", path))


class Bystanders(HeatTest):
    """Names that look like those of a run's temporary files."""

    def setUp(self):
        super().setUp()
        self.write("deck.yaml", PLATE)

    def test_a_deck(self):
        deck = self.write("plate.h5.tmp", PLATE)
        self.passes("plate.h5.tmp", "-o", "plate.h5")
        self.assertEqual(deck.read_text(), PLATE)

    def test_links(self):
        for name in "plate.h5.tmp", "plate.xmf.tmp", "plate.json.tmp":
            self.write(f"linked to by {name}", "precious")
            (self.folder / name).symlink_to(f"linked to by {name}")
        self.passes("deck.yaml", "--results", "plate.json")
        for name in "plate.h5.tmp", "plate.xmf.tmp", "plate.json.tmp":
            self.assertEqual((self.folder / name).read_text(), "precious")

    def test_the_other_file_of_the_run(self):
        self.passes("deck.yaml", "-o", "x.tmp", "--results", "x", ranks=2)
        self.assertEqual(self.files(), ["deck.yaml", "x", "x.tmp", "x.xmf"])
        self.assertEqual((self.folder / "x.tmp").read_bytes()[:4], b"\x89HDF")
        self.assertEqual(self.record("x")["app"], "heat")


class Written(HeatTest):
    def test_files_are_named(self):
        self.write("deck.yaml", PLATE)
        result = self.passes("deck.yaml", "--results", "plate.json", ranks=2)
        self.assertRegex(result.out, r"(?m)^ +written: plate\.h5, plate\.xmf, plate\.json$")

    def test_a_deck_whose_name_is_not_utf8(self):
        deck = os.fsdecode(b"deck \xe9.yaml")
        self.write(deck, PLATE)
        self.passes(deck, "--results", "plate.json", ranks=2)
        self.assertRegex(self.record("plate.json")["command"], "deck \ufffd\\.yaml")


if __name__ == "__main__":
    unittest.main()
