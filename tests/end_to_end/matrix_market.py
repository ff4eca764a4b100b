# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices from files: where they are looked for, what is said of wrong ones, and the order of the solution."""

import json
import zlib

import h5py
import numpy

from launch import CG, HeatTest

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


def text_of(entries):
    lines = [f"{ROWS} {ROWS} {len(entries)}", *(f"{row} {column} {value}" for row, column, value in entries)]
    return "%%MatrixMarket matrix coordinate real symmetric\n" + "\n".join(lines) + "\n"


class MatrixMarketTest(HeatTest):
    program = CG

    def setUp(self):
        super().setUp()
        (self.folder / "decks").mkdir()
        self.write("decks/deck.yaml", DECK)
        self.write("decks/matrix.mtx", text_of(ENTRIES))
        self.rhs = numpy.arange(1.0, ROWS + 1)
        self.write("decks/rhs.mtx", "%%MatrixMarket matrix array real general\n7 1\n1\n2\n3\n4\n5\n6\n7\n")

    def test_is_looked_for_beside_the_deck_and_solved_in_its_order(self):
        self.passes("decks/deck.yaml", "-o", "a.h5", ranks=3)
        dense = numpy.zeros((ROWS, ROWS))
        for row, column, value in ENTRIES:
            dense[row - 1, column - 1] = dense[column - 1, row - 1] = value
        expected = numpy.linalg.solve(dense, self.rhs)
        with h5py.File(self.folder / "a.h5") as file:
            numpy.testing.assert_allclose(file["fields/x"][...], expected, rtol=1e-10)
            run = json.loads(file["run"][()])
            matrix = run["matrix"]
            text = (self.folder / "decks/matrix.mtx").read_bytes()
            self.assertEqual([matrix[key] for key in ("rows", "nonzeros", "file", "file_symmetry", "file_crc32")],
                             [ROWS, 15, str(self.folder.resolve() / "decks/matrix.mtx"), "symmetric", f"{zlib.crc32(text):08x}"])
            self.assertEqual(run["ending"], "converged")
            self.assertLessEqual(max(run["residual"], run["true_residual"]), 2e-12)
        # The deck of the record finds the files from anywhere.
        (self.folder / "elsewhere").mkdir()
        self.write("elsewhere/deck.yaml", run["deck"])
        self.passes("elsewhere/deck.yaml", "-o", "b.h5")
        with h5py.File(self.folder / "b.h5") as file:
            numpy.testing.assert_allclose(file["fields/x"][...], expected, rtol=1e-10)

    def refused(self, error_id, *facts, words=()):
        """A run on two ranks, whose only message this is."""
        before = self.files()
        result = self.heat("decks/deck.yaml", *words, ranks=2)
        self.assertEqual((result.code, result.out), (2, ""), result)
        self.names(result.err, error_id, *facts)
        self.assertEqual(self.files(), before)

    def test_is_not_written(self):
        for option, path, role in (("-o", "decks/matrix.mtx", "file and the HDF5 file"), ("--results", "decks/./rhs.mtx", "rhs_file and the file of --results")):
            self.refused("E-FILE-SAME", path, f"problem.matrix_market.{role}", words=(option, path))
        self.assertTrue((self.folder / "decks" / "matrix.mtx").read_text().startswith("%%MatrixMarket"))

    def test_a_restart_wants_files_of_the_same_contents(self):
        rhs, guess = (self.folder / "decks" / name for name in ("rhs.mtx", "guess.mtx"))
        guess.write_text(rhs.read_text())
        with_guess = ("--set", "problem.matrix_market.initial_file=decks/guess.mtx")
        self.passes("decks/deck.yaml", *with_guess, "--set", "checkpoint.every=3", "-o", "c.h5", ranks=2)
        elsewhere = rhs.rename(self.folder / "other.mtx")
        moved = ("--restart", "c-checkpoint-000000003.h5", "--set", "problem.matrix_market.rhs_file=other.mtx", "-o", "a.h5")
        self.passes(*moved, ranks=3)
        for file, key in (elsewhere, "rhs_file"), (guess, "initial_file"):
            text = file.read_text()
            file.write_text(text.replace("7\n", "8\n").replace("8 1\n", "7 1\n"))
            result = self.ends(2, *moved, ranks=1)
            self.names(result.err, "E-CHECKPOINT-DECK", f"problem.matrix_market.{key}", f"{len(text)} bytes, checksum ", "c-checkpoint-000000003.h5")
            file.write_text(text)
        elsewhere.unlink()
        result = self.ends(2, *moved, ranks=1)
        self.names(result.err, "E-FILE-READ", "problem.matrix_market.rhs_file", "other.mtx: No such file")
