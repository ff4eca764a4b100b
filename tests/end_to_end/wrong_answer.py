# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verification that fails, and why it says so."""

import unittest

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

    def test_another_solution(self):
        self.fails(
            *("--set", "problem.exact=100+x"), says=r"max \|u - exact\| is 1\.010e\+02, above the tolerance 1\.000e\+01"
        )

    AUTOMATIC = ("--set", "verification.tolerance=auto", "--set", "solver.max_sweeps=100000")

    def test_sweeps_that_stop_too_soon_to_tell(self):
        """The automatic tolerance is as wide as solver.tolerance lets the error be, but then it says nothing."""
        large = ("--set", "problem.cells=[384,384]")
        too_soon = r"not converged enough to verify: solver\.tolerance \S+ .* \d\S* % of .* set solver\.tolerance to \S+e-07 or less.*"
        self.fails(*self.AUTOMATIC, *large, "--set", "solver.tolerance=1e-4", says=too_soon)
        exact = ("--set", "problem.exact=5+x")
        self.fails(*self.AUTOMATIC, *large, *exact, "--set", "solver.tolerance=1e-3", says=too_soon)

    def test_an_answer_of_no_size(self):
        one_cell = ("--set", "problem.cells=[1,1]", "--set", "problem.exact=1e308", "--set", "problem.initial=-1e308")
        one_cell += ("--set", "solver.tolerance=1e-8")
        self.fails(*self.AUTOMATIC, *one_cell, says=r"max \|u - exact\| is 1\.000e\+308, above .*", ranks=1)

    def test_nothing_to_verify(self):
        constant = ("--set", "problem.exact=none", "--set", "problem.boundary.y_max={dirichlet: 0}")
        self.fails(*constant, says="nothing to verify: u is 0 in all cells.*")

    def test_sweeps_that_did_not_converge(self):
        few = ("--set", "problem.exact=none", "--set", "solver.tolerance=1e-6", "--set", "solver.max_sweeps=20")
        self.fails(
            *("--set", "verification.tolerance=auto", *few),
            says=r"max \|residual\| / diagonal is .*; solver\.tolerance 1e-06 was not reached in 20 sweeps, .*",
        )

    def test_a_field_that_is_not_finite(self):
        """A boundary value that ceases to be finite is found at the end, in the field."""
        self.fails(
            *("--set", "problem.equation=transient", "--set", "time.end=0.01"),
            *("--set", "solver.tolerance=auto", "--set", "solver.max_sweeps=1000000"),
            *("--set", 'problem.boundary.x_min={dirichlet: "t > 0.005 ? 1/(x-x) : 0"}'),
            says=r"max \|u - exact\| is inf, above the tolerance 1\.000e\+01",
        )


if __name__ == "__main__":
    unittest.main()
