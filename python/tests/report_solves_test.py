# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report of runs that iterate until a residual is small."""

from report_case import ReportTest

from sample_file import change_run, write_solve

from kontor.report.colours import BACKENDS, colours
from kontor.report.compare import compare
from kontor.report.errors import RecordError
from kontor.report.record import read_record
from kontor.report.show import show
from kontor.report.solves import history_charts, speed


class Solves(ReportTest):
    def solve(self, name, **differences):
        return read_record(str(write_solve(self.folder / name, **differences)))

    def compared(self, *records):
        """Without the folder, which is not always the same."""
        return compare(records).replace(f"{self.folder}/", "")

    def test_one(self):
        text = show(self.solve("a.h5"))
        self.assert_rows(text, "problem  kind stencil, points [10, 10, 10], exact 1, initial 0",
                         "solver  method classic, preconditioner none, tolerance 1.0e-09, max_iterations 500",
                         "nonzeros  21952 (22 a row)", "rows a rank  480 to 520",
                         "ghosts a rank  50 to 100 (150 in all)", "bytes  300 kB", "ending  converged",
                         "residual  1e-10 (tolerance 1e-09)", "time to solution  2.00 s", "time per iteration  100 ms",
                         "replacements  3", "drift  1.25e-12", "chebyshev degree  4", "true residual  1.5e-10",
                         "converged; error 2e-10", "effective bandwidth  24.0 GB/s  32.0 GB/s  75.0 %", "20  1.000e-10")
        self.assertIn("multiplies it by 0.3162", text)
        inside, outside = text.split("Outside the measured time")
        self.assert_rows(inside, "spmv  21  1.00 s  1.00 s  1.00 s  0  50.0 %", "other  10.0 %")
        self.assert_rows(outside, "assembly  21  5.00 s  5.00 s  5.00 s  0")
        self.assertNotRegex(text, "(?i)cell|sweep")

    def test_by_time_to_solution(self):
        text = self.compared(
            self.solve("a.h5"), self.solve("b.h5", method="pipelined", seconds=1.0, iterations=40),
            self.solve("c.h5", preconditioner="jacobi", run={"backend": "shm", "packing": "none"}, passed=0))
        self.assertIn("speed 1 is a.h5", text)
        self.assert_rows(text,
                         "a.h5  view, classic, no preconditioner  2.00 s  20  100 ms  4.00 Gflop/s  75.0 %  25.0 %  passed  1.000",
                         "b.h5  view, pipelined, no preconditioner  1.00 s  40  25.0 ms  4.00 Gflop/s  75.0 %  50.0 %  passed  2.000",
                         "c.h5  shm, classic, jacobi  2.00 s  20  100 ms  -  -  25.0 %  FAILED  -")
        self.assertNotIn("not comparable", text)

    def test_what_does_not_compare(self):
        """Another matrix, right-hand side or tolerance; but not another way to set up, or a limit that was not reached."""
        cases = {
            "problem.stencil.points is [20, 10, 10], not [10, 10, 10]": {"points": 20},
            "the matrix has 1001 rows and 21952 nonzeros, not 1000 and 21952": {"rows": 1001},
            "problem.kind is fe_heat, not stencil": {"kind": "fe_heat"},
            "the matrix's file has CRC-32 0badf00d, not None": {"matrix": {"file_crc32": "0badf00d"}},
            "solver.tolerance is 1.0e-06, not 1.0e-09": {"tolerance": "1.0e-06"},
        }
        alone = self.solve("a.h5")
        for says, differences in cases.items():
            with self.subTest(says):
                other = self.solve("b.h5", **differences)
                self.assertIn(f"b.h5: not comparable with a.h5: {says}\n", self.compared(alone, other))
                self.assertIsNone(speed(other, alone))
        self.assertEqual(speed(self.solve("b.h5", max_iterations=600), alone), 1)

    def test_endings(self):
        """Only what has converged, or has made the same number of iterations, has a speed."""
        short = {"ending": "not_converged", "words": "not converged within solver.max_iterations", "residual": 0.01}
        made = {"ending": "iterations_made", "tolerance": "0.0"}
        limit, first = self.solve("b.h5", **short), self.solve("c.h5", **made)
        self.assertRegex(self.compared(self.solve("a.h5"), limit, first), r"b\.h5 .* -  +20 (.|\n)*\n *b\.h5: not converged within "
                         r"solver\.max_iterations, residual 0\.01 \(tolerance 1e-09\)\n")
        self.assertIsNone(speed(limit, limit))
        self.assertEqual(speed(self.solve("d.h5", ending="guess_is_solution", seconds=1.0), self.solve("a.h5")), 2)
        self.assertEqual(speed(self.solve("d.h5", seconds=1.0, **made), first), 2)
        self.assertIsNone(speed(self.solve("d.h5", max_iterations=600, **made), first))

    def test_decks_that_say_nothing(self):
        for deck in None, "", "- 1", "a: &a [*a]", "a: [", "problem: &p {q: *p}", "[" * 1000:
            record = self.solve("a.h5", run={"deck": deck})
            self.assertIn("converged", show(record))
            self.assertEqual(speed(record, record), 1)

    def test_a_history_cut_short(self):
        write_solve(self.folder / "a.h5")
        change_run(self.folder / "a.h5", lambda run: run["history"].update(iteration=[0, 1]))
        with self.assertRaisesRegex(RecordError, "a.h5.*damaged: /run/history has 2 iterations and 21 values"):
            read_record(str(self.folder / "a.h5"))

    def test_histories(self):
        """A line a run; a backend has its colour, here and in the curves of pingpong; methods have colours where it is the same."""
        def drawn(*records):
            over_iterations, over_time = history_charts(records)
            self.assertTrue(over_iterations.log_y)
            *lines, limit = over_iterations.lines
            self.assertEqual({len(line.x) for line in lines}, {21})
            self.assertEqual((limit.name, limit.y), ("tolerance 1e-09", [1e-9] * 21))
            self.assertEqual([line.x[-1] for line in over_time.lines], [2.0] * (len(records) + 1))
            return [(line.name, line.colour) for line in lines]

        runs = [self.solve("a.h5", run={"backend": "shm"}), self.solve("b.h5"), self.solve("c.h5", method="merged")]
        self.assertEqual(drawn(*runs), [("shm, classic", BACKENDS["shm"]), ("view, classic", BACKENDS["view"]),
                                        ("view, merged", BACKENDS["view"])])
        self.assertEqual(len(set(drawn(*runs[1:]))), 2)
        self.assertEqual([label.rpartition("/")[2] for label, _ in drawn(runs[1], self.solve("d.h5"))], ["b.h5", "d.h5"])
        self.assertEqual(colours(["view persistent", "typed", "raw"])["view persistent"], BACKENDS["view"])
        self.assertEqual(len(set(colours(["view", "typed", "raw"]).values())), 3)
