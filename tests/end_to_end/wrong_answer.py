# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verification that fails, and what is told and recorded of it; heat/tests has more reasons."""

from fault_case import SHORT, FaultTest


class WrongAnswer(FaultTest):
    def fails(self, *arguments, says, ranks=2):
        self.write("short.yaml", SHORT)
        result = self.ends(1, "short.yaml", *arguments, ranks=ranks)
        self.assertRegex(result.out, rf"(?m)^VERIFICATION (FAILED|INCONCLUSIVE): {says} \[E-VERIFY\]$")
        self.assertNotIn("FOM", result.out)
        self.assertNotIn("PASSED", result.out)
        self.assertRegex(result.err, r"\A(heat: sweep .*\n)*\Z")  # slow runs tell how far they are
        try:
            import h5py
        except ImportError:
            print("the record of a failed verification is not looked at: no h5py")
            return
        with h5py.File(self.output) as file:
            self.assertEqual(file["/run/verification"].attrs["passed"], 0)
            self.assertEqual(file["/run/verification"].attrs["id"], "E-VERIFY")
            self.assertNotIn("figure_of_merit", file["/run"])
            self.assertNotIn("figures_of_merit", file["/run"])

    def test_no_tolerance(self):
        self.fails(
            *("--set", "verification.tolerance=0"), says=r"max \|u - exact\| is \S+, above the tolerance 0\.000e\+00"
        )

    def test_a_field_that_is_not_finite(self):
        """A boundary value that ceases to be finite is found at the end, in the field."""
        self.fails(
            *("--set", "problem.equation=transient", "--set", "time.end=0.01"),
            *("--set", "solver.tolerance=auto", "--set", "solver.max_sweeps=1000000"),
            *("--set", 'problem.boundary.x_min={dirichlet: "t > 0.005 ? 1/(x-x) : 0"}'),
            says=r"max \|u - exact\| is inf, above the tolerance 1\.000e\+01",
        )
