# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that cannot be written, or that would overwrite another file of the run."""

import unittest

from refusal import RefusalTest

OTHER = "choose another file with output.file or -o"


class Output(RefusalTest):
    def test_in_a_missing_directory(self):
        self.refused(
            f"output: cannot create nope/x.h5.tmp: No such file or directory; make the directory or {OTHER}",
            *("-o", "nope/x.h5"),
        )

    def test_is_a_directory(self):
        (self.folder / "sub").mkdir()
        self.refused(f"output: sub is a directory; {OTHER}", "--set", "output.file=sub")

    def test_in_a_directory_that_takes_no_files(self):
        self.refused(f"output: cannot create deck.yaml/x.h5.tmp: Not a directory; {OTHER}", "-o", "deck.yaml/x.h5")

    def test_is_a_device(self):
        self.refused(f"output: /dev/null is not a regular file and cannot be replaced; {OTHER}", "-o", "/dev/null")


class Sidecars(RefusalTest):
    def test_xdmf_file_is_a_directory(self):
        (self.folder / "plate.xmf").mkdir()
        self.refused("the XDMF file: cannot write plate.xmf: it is a directory; choose another file")

    def test_results_in_a_missing_directory(self):
        self.refused(
            "the file of --results: cannot write nope/x.json: No such file or directory; choose another file",
            *("--results", "nope/x.json"),
        )

    def test_results_is_a_directory(self):
        (self.folder / "sub").mkdir()
        self.refused(
            "the file of --results: cannot write sub: it is a directory; choose another file", "--results", "sub"
        )

    def test_results_is_a_device(self):
        self.refused(
            "the file of --results: cannot write /dev/null: it is not a regular file; choose another file",
            *("--results", "/dev/null"),
        )


class Collisions(RefusalTest):
    CASES = [
        ("-o", "deck.yaml", "the input deck and the HDF5 file"),
        ("-o", "./plate.xmf", "the HDF5 file and the XDMF file"),
        ("--results", "deck.yaml", "the input deck and the file of --results"),
        ("--results", "plate.h5", "the HDF5 file and the file of --results"),
        ("--results", "plate.xmf", "the XDMF file and the file of --results"),
    ]

    def test_one_file_for_two_purposes(self):
        for option, path, roles in self.CASES:
            self.refused(f"{path} cannot be both {roles}; choose another file", option, path)


if __name__ == "__main__":
    unittest.main()
