# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What heat says on stdout; ranks that never find each other, of which the others do not wait for ever; and failures
that tests/fault_injection does not try."""

import os
import subprocess
import unittest

from launch import (
    ENVIRONMENT, FAULTS, HEAT, PLATE, ProgramTest, RecordTest, fault, preload, sanitizers, starts_several_programs,
)


class Starts(ProgramTest):
    """checkpoints has a run that takes longer than the limit, which is that of the start alone."""

    def setUp(self):
        super().setUp()
        self.write("deck.yaml", PLATE + "comm: {timeout: 0.5}\n")

    def check_given_up(self, seconds, *arguments, ranks=1, variables={}):
        result = self.ends(3, "deck.yaml", *arguments, ranks=ranks,
                           variables={**variables, "KONTOR_START_SECONDS": seconds})
        self.assertRegex(result.err, r"KONTOR_START_SECONDS.*\[E-LAUNCH-TIMEOUT\]")
        self.assertEqual(self.files(), ["deck.yaml"])

    @unittest.skipUnless(starts_several_programs(), "this mpirun does not start several programs")
    def test_a_process_that_does_not_start_mpi(self):
        self.check_given_up("1", ":", "-n", "1", "sleep", "60")

    def test_number_of_seconds(self):
        for text in "soon", "", "1000000":
            facts = f"KONTOR_START_SECONDS is '{text}'", "999999"
            self.refused("E-USAGE-OPTION", *facts, variables={"KONTOR_START_SECONDS": text})
        self.passes("deck.yaml", variables={"KONTOR_START_SECONDS": "0"})

    @unittest.skipUnless(FAULTS.exists(), "the library of tests/faults is not in this build")
    def test_failed_calls(self):
        """Rank 1 stops itself before the first message; an exit handler does not come back, and the run ends with its
        own exit code all the same; there is no memory from the middle of a run on."""
        self.check_given_up("3", ranks=2, variables=fault("MPI_Bcast", DO="pause", RANK=1))
        self.passes("deck.yaml", ranks=2, variables=fault("exit", RANK=1))
        if sanitizers():
            return  # which have an operator new of their own
        self.passes("deck.yaml", variables={**preload(FAULTS), "KONTOR_FAULT_TRACE": "trace"})
        sites = (self.folder / "trace.0").read_text(encoding="ascii").splitlines()
        total = sum(int(line.split()[-1]) for line in sites if line.startswith("new "))
        (self.folder / "plate.h5").unlink()
        result = self.ends(3, "deck.yaml", variables=fault("new", DO="error", NUMBER=total // 2, REPEAT=1))
        self.assertRegex(result.err, "^rank 0: out of memory")
        self.assertNotIn("plate.h5", self.files())


class Sayings(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("deck.yaml", RecordTest.PLATE)

    def test_run(self):
        """Whether or not it is quiet."""
        said = self.passes("deck.yaml", "--quiet", ranks=2)
        figures = r"FOM cell_updates = \S+ 1/s\nFOM effective_bandwidth = \S+ B/s\n"
        self.assertRegex(said.out, rf"\A{figures}VERIFICATION PASSED\n\Z")
        self.assertEqual(said.err, "")
        said = self.passes("deck.yaml", "--results", "plate.json", ranks=2)
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
        run = ["deck.yaml", "--set", "measure.calibrate=false"]
        for words in ["--list-backends"], ["deck.yaml", "--print-deck"], run:
            with self.subTest(words), open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([HEAT, *words], cwd=self.folder, env={**os.environ, **ENVIRONMENT}, stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=30, check=False)
                said = "rank 0: stdout cannot be written: No space left on device [E-FILE-WRITE]\n"
                self.assertEqual((done.returncode, done.stderr), (3, said))
        self.assertIn("plate.h5", self.files(), "the run itself was complete")
