# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of cg and matmul that are told to end, or killed, go on from a checkpoint on other ranks with the same bits."""

import os
import signal

import h5py

from launch import BIN, HeatTest, wait_until

SOLVE = """\
app: cg
problem: {stencil: {points: [21, 20, 19]}}
solver: {method: pipelined, preconditioner: chebyshev, sums: reproducible, tolerance: 0, max_iterations: 1000000}
checkpoint: {every: 20, keep: 1000, file: c.h5}
output: {file: out.h5, fields: none}
"""
PRODUCT = """\
app: matmul
problem: {m: 211, n: 197, k: 4001, a: {kind: integers}, b: {kind: integers}, write_c: true}
product: {algorithm: summa, panel: 4}
checkpoint: {every: 1, keep: 1000, file: c.h5}
output: {file: out.h5}
"""
WITHOUT = ("--set", "checkpoint.every=0", "--set", "checkpoint.file=''")


class RestartTest(HeatTest):
    def interrupt(self, number, ranks):
        """A run that gets a signal when it has written three checkpoints; its result."""
        running = self.start("deck.yaml", ranks=ranks)
        self.addCleanup(running.end)
        wait_until(lambda: len(self.checkpoints()) >= 3, "a checkpoint", limit=60)
        os.kill(running.ranks()[ranks - 1], number)
        return running.finish(limit=60)

    def go_on(self, checkpoint, *arguments, ranks):
        """The record of the rest."""
        self.passes("--restart", checkpoint, *arguments, "--quiet", "--results", "record.json", ranks=ranks)
        return self.record()

    def expect_told(self, result, name):
        """That the run ended as the signal of this name asks for, and its output file says so."""
        self.assertEqual(result.code, 4, result)
        self.assertRegex(result.out, rf"(?m)^ENDED EARLY: .*\b{name}\b.*{self.checkpoints()[-1]} --restart$")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual((file["run"].attrs["end_signal"], bool(file["run"].attrs["ended_early"])), (name, True))


class Cg(RestartTest):
    program = os.environ.get("KONTOR_CG", str(BIN / "cg"))

    def test_after_signals_and_after_a_kill(self):
        self.write("deck.yaml", SOLVE)
        limit = ("--set", "solver.max_iterations=97", *WITHOUT)
        self.passes("deck.yaml", *limit, "--quiet", "--results", "record.json")
        expected = self.record()["history"]
        for how, ranks in (signal.SIGUSR1, 3), (signal.SIGTERM, 2):  # then on one less
            self.expect_told(self.interrupt(how, ranks=ranks), how.name.removeprefix("SIG"))
            record = self.go_on("c-000000040.h5", *limit, "--set", "comm.backend=view", ranks=ranks - 1)
            self.assertEqual(record["checkpoint"]["at_step"], 40)
            self.assertEqual(record["history"], expected)
            self.remove("c-*.h5")
        self.assertNotEqual(self.interrupt(signal.SIGKILL, ranks=2).code, 0)
        self.assertEqual(self.go_on("c-000000060.h5", *limit, ranks=3)["history"], expected)


class Matmul(RestartTest):
    program = os.environ.get("KONTOR_MATMUL", str(BIN / "matmul"))

    def c_of_output(self):
        with h5py.File(self.folder / "out.h5") as file:
            return file["fields/C"][...].tolist()

    def test_after_signals_and_after_a_kill(self):
        self.write("deck.yaml", PRODUCT)
        self.passes("deck.yaml", *WITHOUT)
        expected = self.c_of_output()
        for how, ranks in (signal.SIGUSR1, 3), (signal.SIGTERM, 2):  # then on one less
            self.expect_told(self.interrupt(how, ranks=ranks), how.name.removeprefix("SIG"))
            self.go_on("c.h5", *WITHOUT, ranks=ranks - 1)
            self.assertEqual(self.c_of_output(), expected)
            self.remove("c-*.h5")
        self.assertNotEqual(self.interrupt(signal.SIGKILL, ranks=2).code, 0)
        self.go_on("c.h5", *WITHOUT, "--set", "comm.backend=shm", ranks=4)
        self.assertEqual(self.c_of_output(), expected)
