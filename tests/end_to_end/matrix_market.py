# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices from files: where they are looked for, what is said of wrong ones, and the order of the solution."""

import json
import zlib

import numpy

from launch import CG, RecordTest

DECK = """\
app: cg
problem:
  kind: matrix_market
  matrix_market:
    file: matrix.mtx
    rhs: file
    rhs_file: rhs.mtx
solver: {tolerance: 1e-12}
"""
ROWS = 7
ENTRIES = [(r, r, 4.0 + r) for r in range(1, ROWS + 1)] + [(5, 1, -1.0), (7, 2, -2.0), (4, 3, 1.0), (6, 4, -0.5)]
MATRIX = f"%%MatrixMarket matrix coordinate real symmetric\n{ROWS} {ROWS} {len(ENTRIES)}\n"
MATRIX += "".join(f"{row} {column} {value}\n" for row, column, value in ENTRIES)


class MatrixMarket(RecordTest):
    program = CG

    def setUp(self):
        super().setUp()
        self.decks = self.folder / "decks"
        self.decks.mkdir()
        self.write("decks/deck.yaml", DECK)
        self.write("decks/matrix.mtx", MATRIX)
        self.write("decks/rhs.mtx", "%%MatrixMarket matrix array real general\n7 1\n1\n2\n3\n4\n5\n6\n7\n")

    def test_is_looked_for_beside_the_deck_and_solved_in_its_order(self):
        """The deck of the record finds the files from anywhere."""
        self.passes("decks/deck.yaml", "-o", "a.h5", ranks=3)
        file = self.open("a.h5")
        run = json.loads(file["run"][()])
        matrix, path = run["matrix"], self.decks.resolve() / "matrix.mtx"
        crc = f"{zlib.crc32(path.read_bytes()):08x}"
        self.assertEqual([matrix[key] for key in ("rows", "nonzeros", "file", "file_symmetry", "file_crc32")],
                         [ROWS, 15, str(path), "symmetric", crc])
        self.assertEqual(run["ending"], "converged")
        self.assertLessEqual(max(run["residual"], run["true_residual"]), 2e-12)
        (self.folder / "elsewhere").mkdir()
        self.write("elsewhere/deck.yaml", run["deck"])
        self.passes("elsewhere/deck.yaml", "-o", "b.h5")
        dense = numpy.zeros((ROWS, ROWS))
        for row, column, value in ENTRIES:
            dense[row - 1, column - 1] = dense[column - 1, row - 1] = value
        expected = numpy.linalg.solve(dense, numpy.arange(1.0, ROWS + 1))
        for found in file, self.open("b.h5"):
            numpy.testing.assert_allclose(found["fields/x"][...], expected, rtol=1e-10)

    def test_is_not_written(self):
        for option, path, role in (
            ("-o", "decks/matrix.mtx", "file and the HDF5 file"),
            ("--results", "decks/./rhs.mtx", "rhs_file and the file of --results"),
        ):
            words = ("decks/deck.yaml", option, path)
            self.refused("E-FILE-SAME", path, f"problem.matrix_market.{role}", first=words, ranks=2)

    def test_a_restart_wants_files_of_the_same_contents(self):
        """cg/tests has the matrix."""
        checkpoint, other = "c-checkpoint-000000003.h5", self.folder / "other.mtx"
        self.passes("decks/deck.yaml", "--set", "checkpoint.every=3", "-o", "c.h5", ranks=2)
        (self.decks / "rhs.mtx").rename(other)
        moved = ("--restart", checkpoint, "--set", "problem.matrix_market.rhs_file=other.mtx", "-o", "a.h5")
        self.passes(*moved, ranks=3)
        text = other.read_text()
        other.write_text(text.replace("7\n", "8\n").replace("8 1\n", "7 1\n"))
        facts = "problem.matrix_market.rhs_file", f"{len(text)} bytes, checksum ", checkpoint
        self.refused("E-CHECKPOINT-DECK", *facts, first=moved)
        other.unlink()
        self.refused("E-FILE-READ", "problem.matrix_market.rhs_file", "other.mtx: No such file", first=moved)
