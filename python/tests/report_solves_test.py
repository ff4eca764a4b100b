# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report of runs that iterate until a residual is small."""

from report_case import ReportTest

from sample_file import write_solve

from kontor.report.parts import BACKENDS, colours
from kontor.report.record import read_record
from kontor.report.solves import history_charts, speed


class Solves(ReportTest):
    def solve(self, name, **differences):
        return read_record(str(write_solve(self.folder / name, **differences)))

    def test_one(self):
        write_solve(self.folder / "a.json")
        text = self.report("a.json")
        self.assert_rows(text, "problem  kind stencil, stencil.points [10, 10, 10], stencil.exact 1, initial 0",
                         "solver  method classic, replace_every 50, preconditioner none, tolerance 1.0e-09, "
                         "max_iterations 500",
                         "rows per rank min  480", "ghosts  150", "bytes  300 kB", "ending  converged",
                         "residual  1e-10 (tolerance 1e-09)", "time to solution  2.00 s", "time per iteration  100 ms",
                         "replacements  3", "drift  1.25e-12", "chebyshev degree  4", "true residual  1.5e-10",
                         "converged; error 2e-10", "effective bandwidth  24.0 GB/s  32.0 GB/s  75.0 %",
                         "from 1.000e+00 to 1.000e-10 in 20 iterations: each multiplies it by 0.3162 on average")
        inside, outside = text.split("Outside the measured time")
        self.assert_rows(inside, "spmv  21  1.00 s  1.00 s  1.00 s  0  50.0 %", "other  -  -  -  -  -  10.0 %")
        self.assert_rows(outside, "assembly  21  5.00 s  5.00 s  5.00 s  0")
        self.assertNotRegex(text, "(?i)cell|sweep")

    def test_by_time_to_solution(self):
        self.solve("a.json")
        self.solve("b.json", method="pipelined", seconds=1.0, iterations=40)
        self.solve("c.json", preconditioner="jacobi", run={"backend": "shm", "packing": "none"}, passed=0)
        text = self.report("a.json", "b.json", "c.json")
        for name, *cells in (("a.json  view, packing kernel, classic, preconditioner none", "2.00 s  20  2  2.00 s",
                              "4.00 Gflop/s  75.0 %  25.0 %  passed  1.000"),
                             ("b.json  view, packing kernel, pipelined, preconditioner none", "1.00 s  40  2  1.00 s",
                              "4.00 Gflop/s  75.0 %  50.0 %  passed  2.000"),
                             ("c.json  shm, packing none, classic, jacobi", "2.00 s  20  2  2.00 s",
                              "-  -  25.0 %  FAILED  -")):
            self.assert_rows(text, "  ".join([name, *cells]))
        self.assertNotIn("not comparable", text)

    def test_what_does_not_compare(self):
        """Another matrix, right-hand side or tolerance; but not another way to set up, or a limit not reached."""
        cases = {
            "problem.stencil.points is [20, 10, 10], not [10, 10, 10]": {"points": 20},
            "rows of the matrix: 1001, not 1000": {"rows": 1001},
            "problem.kind is fe_heat, not stencil": {"kind": "fe_heat"},
            "file_crc32 of the matrix: 0badf00d, not None": {"matrix": {"file_crc32": "0badf00d"}},
            "solver.tolerance is 1.0e-06, not 1.0e-09": {"tolerance": "1.0e-06"},
        }
        alone = self.solve("a.json")
        for says, differences in cases.items():
            with self.subTest(says):
                other = self.solve("b.json", **differences)
                self.assertIn(f"b.json: not comparable with a.json: {says}\n", self.report("a.json", "b.json"))
                self.assertIsNone(speed(other, alone))
        self.assertEqual(speed(self.solve("b.json", max_iterations=600), alone), 1)

    def test_endings(self):
        """Only what has converged, or has made the same number of iterations, has a speed."""
        short = {"ending": "not_converged", "words": "not converged within solver.max_iterations", "residual": 0.01}
        made = {"ending": "iterations_made", "tolerance": "0.0"}
        self.solve("a.json")
        limit, first = self.solve("b.json", **short), self.solve("c.json", **made)
        self.assertRegex(self.report("a.json", "b.json"), r"b\.json .* -  +20 (.|\n)*\n *b\.json: not converged within "
                         r"solver\.max_iterations, residual 0\.01 \(tolerance 1e-09\)\n")
        self.assertIsNone(speed(limit, limit))
        self.assertEqual(speed(self.solve("d.json", ending="guess_is_solution", seconds=1.0), self.solve("a.json")), 2)
        self.assertEqual(speed(self.solve("d.json", seconds=1.0, **made), first), 2)
        self.assertIsNone(speed(self.solve("d.json", max_iterations=600, **made), first))

    def test_histories(self):
        """A line a run; a backend has its colour, here and in the curves of pingpong; methods have colours where it is
        the same."""
        def drawn(*records):
            (chart,) = history_charts(records)
            *lines, limit = chart.lines
            self.assertEqual({len(line.x) for line in lines}, {21})
            self.assertEqual((chart.log_y, limit.name, limit.y), (True, "tolerance 1e-09", [1e-9] * 21))
            return [(line.name, line.colour) for line in lines]

        runs = [self.solve("a.json", run={"backend": "shm"}), self.solve("b.json"),
                self.solve("c.json", method="merged")]
        self.assertEqual(drawn(*runs), [("shm, classic", BACKENDS["shm"]), ("view, classic", BACKENDS["view"]),
                                        ("view, merged", BACKENDS["view"])])
        self.assertEqual(len(set(drawn(*runs[1:]))), 2)
        names = [name.rpartition("/")[2] for name, _ in drawn(runs[1], self.solve("d.json"))]
        self.assertEqual(names, ["b.json", "d.json"])
        self.assertEqual(colours(["view persistent", "typed", "raw"])["view persistent"], BACKENDS["view"])
        self.assertEqual(len(set(colours(["view", "typed", "raw"]).values())), 3)
