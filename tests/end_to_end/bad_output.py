# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that cannot be written, or that would overwrite another file of the run."""

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


class Written(HeatTest):
    def test_files_are_named(self):
        self.write("deck.yaml", PLATE)
        result = self.passes("deck.yaml", "--results", "plate.json", ranks=2)
        self.assertRegex(result.out, r"(?m)^ +written: plate\.h5, plate\.xmf, plate\.json$")
