# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What heat says on stdout. Ranks that never find each other: the others do not wait for ever. And failures that
tests/fault_injection does not try."""

import os
import subprocess
import unittest

import refusal
from launch import ENVIRONMENT, FAULTS, HEAT, HeatTest, preload, sanitizers, starts_several_programs
from recorded import PLATE

WITHOUT = ("--set", "measure.calibrate=false")
DECK = refusal.PLATE + "comm: {timeout: 0.5}\n"


class StartTest(HeatTest):
    def setUp(self):
        super().setUp()
        self.write("deck.yaml", DECK)

    def check_given_up(self, result):
        self.assertEqual(result.code, 3, result)
        self.assertRegex(result.err, r"KONTOR_START_SECONDS.*\[E-LAUNCH-TIMEOUT\]")
        self.assertEqual(self.files(), ["deck.yaml"])


@unittest.skipUnless(FAULTS.exists(), "the library of tests/faults is not in this build")
class FailedCalls(StartTest):
    def run_with(self, function, ranks=1, variables={}, **more):
        variables = {**variables, **preload(FAULTS), "KONTOR_FAULT_CALL": function}
        variables |= {f"KONTOR_FAULT_{name}": str(value) for name, value in more.items()}
        return self.heat("deck.yaml", ranks=ranks, variables=variables)

    def test_first_messages_that_do_not_come(self):
        """Rank 1 stops itself before the first of them."""
        result = self.run_with("MPI_Bcast", ranks=2, variables={"KONTOR_START_SECONDS": "3"}, DO="pause", RANK=1)
        self.check_given_up(result)

    @unittest.skipIf(sanitizers(), "a sanitizer has an operator new of its own")
    def test_no_memory_from_some_moment_on(self):
        """An eighth and a half of the way through a run."""
        self.passes("deck.yaml", variables={**preload(FAULTS), "KONTOR_FAULT_TRACE": "trace"})
        sites = (self.folder / "trace.0").read_text(encoding="ascii").splitlines()
        total = sum(int(line.split()[-1]) for line in sites if line.startswith("new "))
        (self.folder / "plate.h5").unlink()
        for part in 8, 2:
            with self.subTest(part):
                result = self.run_with("new", DO="error", NUMBER=total // part, REPEAT=1)
                self.assertEqual(result.code, 3, result)
                self.assertRegex(result.err, "^rank 0: out of memory")
                self.assertNotIn("plate.h5", self.files())

    def test_an_exit_handler_that_does_not_come_back(self):
        """The run ends with its own exit code all the same."""
        result = self.run_with("exit", ranks=2, RANK=1)
        self.assertEqual(result.code, 0, result)


class Starts(StartTest):
    @unittest.skipUnless(starts_several_programs(), "this mpirun does not start several programs")
    def test_a_process_that_does_not_start_mpi(self):
        result = self.heat("deck.yaml", ":", "-n", "1", "sleep", "60", variables={"KONTOR_START_SECONDS": "1"})
        self.check_given_up(result)

    def test_runs_may_take_longer(self):
        """The limit is that of the start alone."""
        long = "max_sweeps: 5", "max_sweeps: 12000, check_every: 0", "[13, 11]", "[600, 400]"
        self.write("deck.yaml", refusal.change(DECK, *long))
        self.passes("deck.yaml", limit=150, variables={"KONTOR_START_SECONDS": "1"})

    def test_number_of_seconds(self):
        for text in "soon", "-1", "1e3", "", "1000000":
            result = self.ends(2, "deck.yaml", ranks=1, variables={"KONTOR_START_SECONDS": text})
            self.names(result.err, "E-USAGE-OPTION", f"KONTOR_START_SECONDS is '{text}'", "999999")

    def test_no_limit(self):
        self.passes("deck.yaml", variables={"KONTOR_START_SECONDS": "0"})


class Sayings(HeatTest):
    calibrates = True

    def run_plate(self, *arguments):
        self.write("deck.yaml", PLATE)
        return self.passes("deck.yaml", *WITHOUT, *arguments, ranks=2)

    def test_quiet(self):
        said = self.run_plate("--quiet")
        self.assertRegex(
            said.out,
            r"\AFOM cell_updates = \S+ 1/s\nFOM effective_bandwidth = \S+ B/s\nVERIFICATION PASSED\n\Z",
        )
        self.assertEqual(said.err, "")

    def test_table(self):
        said = self.run_plate()
        self.assertRegex(said.out, r"\Aheat on 2 ranks( of 1 thread)? as \d x \d, double, (?(1)(?:Serial|OpenMP|Threads)|(?:Cuda|HIP))\n")
        self.assertEqual(said.out.count("VERIFICATION"), 1)

    def told(self, *arguments):
        """What `heat` tells, once, on several ranks and without leaving a file."""
        before = self.files()
        result = self.passes(*arguments, ranks=2)
        self.assertEqual(result.err, "")
        self.assertEqual(self.files(), before)
        return result.out

    def test_what_is_asked_for(self):
        """docs/cli_reference has every option of the help."""
        self.write("deck.yaml", PLATE)
        for words, pattern in (
            (["--help"], r"\AHeat conduction(?!.*[kK]okkos).* --print-deck"),
            (["--version"], r"\Aheat of Kontor \d+\.\d+\.\d+ \(\S+\)\n\Z"),
            (["--list-backends"], r"\A(?=.*\braw )(?=.*\bview )(auto.*?\n|[a-z]+ +(not )?built .*?\n)+\Z"),
            (["--schema"], r"\A\{.*json-schema.org"),
            (["deck.yaml", "--print-deck"], r'\n  file: "plate.h5"\n'),
        ):
            with self.subTest(words):
                self.assertRegex(self.told(*words), f"(?s){pattern}")

    def test_stdout_is_full(self):
        """Without a launcher, which would stand between."""
        self.write("deck.yaml", PLATE)
        for words in (["--help"], ["--schema"], ["--list-backends"], ["deck.yaml", "--print-deck"], ["deck.yaml", *WITHOUT]):
            with self.subTest(words), open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([HEAT, *words], cwd=self.folder, env={**os.environ, **ENVIRONMENT}, stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=30, check=False)
                self.assertEqual(done.stderr, "rank 0: stdout cannot be written: No space left on device [E-FILE-WRITE]\n")
                self.assertEqual(done.returncode, 3)
        self.assertIn("plate.h5", self.files(), "the run itself was complete")
