# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What heat says on stdout; ranks that never find each other, of which the others do not wait for ever; and failures
that tests/fault_injection does not try."""

import os
import subprocess
import unittest

from launch import (
    ENVIRONMENT, FAULTS, HEAT, PLATE, ProgramTest, RecordTest, preload, sanitizers, starts_several_programs,
)

WITHOUT = ("--set", "measure.calibrate=false")


class StartTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("deck.yaml", PLATE + "comm: {timeout: 0.5}\n")

    def check_given_up(self, *arguments, **how):
        result = self.ends(3, "deck.yaml", *arguments, **how)
        self.assertRegex(result.err, r"KONTOR_START_SECONDS.*\[E-LAUNCH-TIMEOUT\]")
        self.assertEqual(self.files(), ["deck.yaml"])


@unittest.skipUnless(FAULTS.exists(), "the library of tests/faults is not in this build")
class FailedCalls(StartTest):
    def failing(self, function, **more):
        """The variables of a run in which that function fails."""
        texts = {f"KONTOR_FAULT_{name}": str(value) for name, value in more.items()}
        return {**preload(FAULTS), "KONTOR_FAULT_CALL": function, **texts}

    def test_first_messages_that_do_not_come(self):
        """Rank 1 stops itself before the first of them."""
        paused = self.failing("MPI_Bcast", DO="pause", RANK=1)
        self.check_given_up(ranks=2, variables={**paused, "KONTOR_START_SECONDS": "3"})

    @unittest.skipIf(sanitizers(), "a sanitizer has an operator new of its own")
    def test_no_memory_from_some_moment_on(self):
        """An eighth and a half of the way through a run."""
        self.passes("deck.yaml", variables={**preload(FAULTS), "KONTOR_FAULT_TRACE": "trace"})
        sites = (self.folder / "trace.0").read_text(encoding="ascii").splitlines()
        total = sum(int(line.split()[-1]) for line in sites if line.startswith("new "))
        (self.folder / "plate.h5").unlink()
        for part in 8, 2:
            with self.subTest(part):
                failing = self.failing("new", DO="error", NUMBER=total // part, REPEAT=1)
                result = self.ends(3, "deck.yaml", variables=failing)
                self.assertRegex(result.err, "^rank 0: out of memory")
                self.assertNotIn("plate.h5", self.files())

    def test_an_exit_handler_that_does_not_come_back(self):
        """The run ends with its own exit code all the same."""
        self.passes("deck.yaml", ranks=2, variables=self.failing("exit", RANK=1))


class Starts(StartTest):
    """checkpoints has a run that takes longer than the limit, which is that of the start alone."""

    @unittest.skipUnless(starts_several_programs(), "this mpirun does not start several programs")
    def test_a_process_that_does_not_start_mpi(self):
        self.check_given_up(":", "-n", "1", "sleep", "60", variables={"KONTOR_START_SECONDS": "1"})

    def test_number_of_seconds(self):
        for text in "soon", "1e3", "", "1000000":
            result = self.ends(2, "deck.yaml", variables={"KONTOR_START_SECONDS": text})
            self.names(result.err, "E-USAGE-OPTION", f"KONTOR_START_SECONDS is '{text}'", "999999")
        self.passes("deck.yaml", variables={"KONTOR_START_SECONDS": "0"})


class Sayings(ProgramTest):
    calibrates = True

    def setUp(self):
        super().setUp()
        self.write("deck.yaml", RecordTest.PLATE)

    def test_run(self):
        """Whether or not it is quiet."""
        said = self.passes("deck.yaml", *WITHOUT, "--quiet", ranks=2)
        figures = r"FOM cell_updates = \S+ 1/s\nFOM effective_bandwidth = \S+ B/s\n"
        self.assertRegex(said.out, rf"\A{figures}VERIFICATION PASSED\n\Z")
        self.assertEqual(said.err, "")
        said = self.passes("deck.yaml", *WITHOUT, "--results", "plate.json", ranks=2)
        kinds = r"(?(1)(?:Serial|OpenMP|Threads)|(?:Cuda|HIP))"
        self.assertRegex(said.out, rf"\Aheat on 2 ranks( of 1 thread)? as \d x \d, double, {kinds}\n")
        self.assertRegex(said.out, r"(?m)^ +written: plate\.h5, plate\.xmf, plate\.json$")
        self.assertEqual(said.out.count("VERIFICATION"), 1)

    def test_what_is_asked_for(self):
        """Once on several ranks, and without a file. docs/cli_reference has every option of the help."""
        for words, ranks, pattern in (
            (["--help"], 2, r"\AHeat conduction(?!.*[kK]okkos).* --print-deck"),
            (["--version"], 1, r"\Aheat of Kontor \d+\.\d+\.\d+ \(\S+\)\n\Z"),
            (["--list-backends"], 1, r"\A(?=.*\braw )(?=.*\bview )(auto.*?\n|[a-z]+ +(not )?built .*?\n)+\Z"),
            (["--schema"], 1, r"\A\{.*json-schema.org"),
            (["deck.yaml", "--print-deck"], 2, r'\n  file: "plate.h5"\n'),
        ):
            with self.subTest(words):
                result = self.passes(*words, ranks=ranks)
                self.assertRegex(result.out, f"(?s){pattern}")
                self.assertEqual((result.err, self.files()), ("", ["deck.yaml"]))

    def test_stdout_is_full(self):
        """Without a launcher, which would stand between."""
        for words in (["--help"], ["--list-backends"], ["deck.yaml", "--print-deck"], ["deck.yaml", *WITHOUT]):
            with self.subTest(words), open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([HEAT, *words], cwd=self.folder, env={**os.environ, **ENVIRONMENT}, stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=30, check=False)
                said = "rank 0: stdout cannot be written: No space left on device [E-FILE-WRITE]\n"
                self.assertEqual(done.stderr, said)
                self.assertEqual(done.returncode, 3)
        self.assertIn("plate.h5", self.files(), "the run itself was complete")
