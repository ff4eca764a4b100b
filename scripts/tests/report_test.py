# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report, and kontor run RESULT.h5, on files with made-up numbers."""

import contextlib
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest

from command import SCRIPTS, KontorTest

try:
    import h5py
    import numpy as np
    import yaml  # noqa: F401
except ModuleNotFoundError as error:
    print(f"skipped: no {error.name}")
    sys.exit(77)

from sample_curves import add_curves, add_split_curves
from sample_file import BANDWIDTH, DECK, UPDATES, write_sample
from sample_solve import write_solve

sys.path.insert(0, str(SCRIPTS))
from kontor_report.compare import compare, speed  # noqa: E402
from kontor_report.isolated import isolated  # noqa: E402
from kontor_report.record import RecordError, read_field, read_record  # noqa: E402
from kontor_report.show import show  # noqa: E402

try:
    import matplotlib  # noqa: F401

    PLOTS = True
    from kontor_report.convergence_plots import draw_convergence
    from kontor_report.drawing import BACKENDS, colours, plt
    from kontor_report.plots import plot_field
    from kontor_report.timeline_plots import draw_timeline
except ModuleNotFoundError:
    PLOTS = False


class ReportTest(KontorTest):
    def sample(self, name, **differences):
        write_sample(self.folder / name, **differences)
        return name

    def report(self, *arguments):
        done = self.kontor("report", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_picture(self, *arguments):
        self.report(*arguments, "--plot", "out.png")
        self.assertEqual((self.folder / "out.png").read_bytes()[1:4], b"PNG")

    def assert_row(self, text, *cells):
        """A line that has these cells in this order, and nothing else."""
        lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
        self.assertIn(list(cells), lines, text)


class OneRun(ReportTest):
    def test_tables(self):
        text = self.report(self.sample("a.h5"))
        self.assert_row(text, "app", "heat 0.1.0 (abc1234)")
        self.assert_row(text, "hosts", "node1")
        self.assert_row(text, "ranks", "2, process grid 2 x 1")
        self.assert_row(text, "exchange", "view, nonblocking, packing kernel, path direct, overlap on")
        self.assert_row(text, "passed", "max error", "1e-06", "1e-05")
        self.assert_row(text, "cell updates", "1.20 G updates/s", "-", "-")
        self.assert_row(text, "effective bandwidth", "19.2 GB/s", "32.0 GB/s", "60.0 %")
        self.assert_row(text, "compute", "500", "1.40 s", "1.50 s", "1.60 s", "1", "75.0 %")
        self.assert_row(text, "other", "2.5 %")
        self.assert_row(text, "setup", "1", "10.0 ms", "10.0 ms", "10.0 ms", "0")
        self.assertIn("3 repeats: 2.00 s, 1.90 s to 2.10 s", text)
        self.assert_row(text, "0", "1", "1", "8.00 kB")
        self.assert_row(text, "all", "all", "2", "16.0 kB")
        self.assert_row(text, "triad bandwidth", "32.0 GB/s")

    def test_a_failed_run_has_no_figures(self):
        text = self.report(self.sample("a.h5", passed=0, figures=()))
        self.assert_row(text, "FAILED", "max error", "1e-06", "1e-05")
        self.assertIn("none: the run failed its verification", text)

    def test_what_is_absent_is_left_out(self):
        with h5py.File(self.folder / "bare.h5", "w") as file:
            file.create_group("run").attrs["app"] = "heat"
        text = self.report("bare.h5")
        self.assertIn("not verified", text)
        self.assertNotIn("compiler", text)

    def test_json(self):
        (record,) = json.loads(self.report("--json", self.sample("a.h5")))
        self.assertEqual(record["run"]["ranks"], 2)
        self.assertEqual(record["figures"][1]["fraction"], 0.6)
        self.assertEqual(record["timers"]["wait"]["max"], 0.3)


class Curves(ReportTest):
    """Runs that measured times over sizes."""

    def curves(self, name, add=add_curves, **differences):
        add(self.folder / self.sample(name, app="pingpong", field=False, **differences))
        return name

    def test_times_and_ratios_by_size(self):
        text = self.report(self.curves("a.h5"))
        self.assert_row(text, "1-D int", "view / raw", "1.020", "1.000", "1.020", "1024", "2 of 3")
        self.assertIn("1-D double: mean time and its standard error", text)
        self.assert_row(text, "size", "bytes", "raw", "view", "view / raw")
        self.assert_row(text, "64", "512 B", "1.01 µs ± 1.0 %", "1.01 µs ± 1.0 %", "1.000 (0.990 to 1.010)")
        self.assert_row(text, "16384", "131 kB", "2.64 µs ± 1.0 %", "2.69 µs ± 1.0 %", "1.020 (1.010 to 1.030)")

    def test_parts_of_the_time(self):
        text = self.report(self.curves("a.h5", add_split_curves))
        self.assertNotIn("Ratios", text)
        self.assert_row(text, "size", "series", "time", "pack", "post", "wait", "unpack", "messages", "bytes")
        self.assert_row(text, "256", "view persistent", "51.2 µs", "5.12 µs", "10.2 µs", "25.6 µs", "5.12 µs", "4", "8.19 kB")

    def test_a_series_that_lacks_a_size(self):
        name = self.curves("a.h5")
        with h5py.File(self.folder / name, "a") as file:
            for table, left in (("curves", slice(0, 3)), ("ratios", slice(0, 1))):
                rows = file[f"run/{table}"][left]
                del file[f"run/{table}"]
                file[f"run/{table}"] = rows
        self.assert_row(self.report(name), "1024", "8.19 kB", "1.10 µs ± 1.0 %", "-", "-")

    def test_json(self):
        (record,) = json.loads(self.report("--json", self.curves("a.h5")))
        self.assertEqual(record["ratios"][1]["ratio"], 1.02)
        self.assertEqual(len(record["curves"]), 12)

    def test_comparison(self):
        typed = {"name": "typed_over_raw", "value": 1.02, "unit": "1"}
        text = self.report(self.curves("a.h5", figures=(typed,)), self.curves("b.h5", figures=(typed,), packing=None))
        self.assert_row(text, "b.h5", "pingpong", "view", "-", "2", "on", "2.00 s", "1.02", "-", "22.5 %", "passed", "1.000")

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_pictures(self):
        self.assert_picture(self.curves("a.h5"))
        self.assert_picture(self.curves("parts.h5", add_split_curves))
        self.assert_picture("a.h5", "parts.h5")


class Comparison(ReportTest):
    def test_speed_is_relative_to_the_first(self):
        self.sample("b.h5", backend="raw", overlap=0, figures=({**UPDATES, "value": 1.5e9}, BANDWIDTH))
        text = self.report(self.sample("a.h5"), "b.h5", self.sample("c.h5", passed=0, figures=()))
        self.assertIn("speed 1 is a.h5", text)
        self.assert_row(text, "a.h5", "heat", "view", "kernel", "2", "on", "2.00 s", "1.20 G updates/s", "60.0 %", "22.5 %",
                        "passed", "1.000")
        self.assert_row(text, "b.h5", "heat", "raw", "kernel", "2", "off", "2.00 s", "1.50 G updates/s", "60.0 %", "22.5 %",
                        "passed", "1.250")
        self.assert_row(text, "c.h5", "heat", "view", "kernel", "2", "on", "2.00 s", "-", "-", "22.5 %", "FAILED", "-")

    def test_apps_have_tables_and_baselines_of_their_own(self):
        flops = {"name": "flops", "value": 5e9, "unit": "flop/s"}
        files = [self.sample("a.h5"), self.sample("b.h5", app="cg", figures=(flops,)), self.sample("c.h5")]
        text = self.report(*files)
        self.assertLess(text.index("c.h5"), text.index("b.h5"))
        self.assertIn("cg  (figure of merit: flops; speed 1 is b.h5)", text)
        self.assertIn("5.00 Gflop/s", text)
        self.assertEqual([record["speed"] for record in json.loads(self.report("--json", *files))], [1, 1, 1])


    def test_another_problem_is_told(self):
        other = DECK.replace("[40, 30]", "[80, 60]")
        text = self.report(self.sample("a.h5"), self.sample("b.h5", deck=other), self.sample("c.h5", deck="a: ["), self.sample("d.h5"))
        self.assertIn("b.h5: another problem than a.h5: problem.cells is [80, 60], not [40, 30]", text)
        self.assertNotIn("d.h5: another", text)


class Solves(ReportTest):
    """Runs that iterate until a residual is small."""

    def solve(self, name, **differences):
        return read_record(str(write_solve(self.folder / name, **differences)))

    def compared(self, *records):
        """Without the folder, which is not always the same."""
        return compare(records).replace(f"{self.folder}/", "")

    def test_one(self):
        text = show(self.solve("a.h5"))
        self.assert_row(text, "problem", "kind stencil, points [10, 10, 10], exact 1, initial 0")
        self.assert_row(text, "solver", "method classic, preconditioner none, tolerance 1.0e-09, max_iterations 500")
        self.assert_row(text, "nonzeros", "21952 (22 a row)")
        self.assert_row(text, "rows a rank", "480 to 520")
        self.assert_row(text, "ghosts a rank", "50 to 100 (150 in all)")
        self.assert_row(text, "bytes", "300 kB")
        self.assert_row(text, "ending", "converged")
        self.assert_row(text, "residual", "1e-10 (tolerance 1e-09)")
        self.assert_row(text, "time to solution", "2.00 s")
        self.assert_row(text, "time per iteration", "100 ms")
        self.assert_row(text, "replacements", "3")
        self.assert_row(text, "drift", "1.25e-12")
        self.assert_row(text, "chebyshev degree", "4")
        self.assert_row(text, "true residual", "1.5e-10")
        self.assert_row(text, "converged; error 2e-10")
        self.assert_row(text, "effective bandwidth", "24.0 GB/s", "32.0 GB/s", "75.0 %")
        self.assert_row(text, "20", "1.000e-10")
        self.assertIn("multiplies it by 0.3162", text)
        inside, outside = text.split("Outside the measured time")
        self.assert_row(inside, "spmv", "21", "1.00 s", "1.00 s", "1.00 s", "0", "50.0 %")
        self.assert_row(inside, "other", "10.0 %")
        self.assert_row(outside, "assembly", "21", "5.00 s", "5.00 s", "5.00 s", "0")
        self.assertNotRegex(text, "(?i)cell|sweep")

    def test_by_time_to_solution(self):
        text = self.compared(
            self.solve("a.h5"), self.solve("b.h5", method="pipelined", seconds=1.0, iterations=40),
            self.solve("c.h5", preconditioner="jacobi", run={"backend": "shm", "packing": "none"}, passed=0))
        self.assertIn("speed 1 is a.h5", text)
        self.assert_row(text, "a.h5", "view, classic, no preconditioner", "2.00 s", "20", "100 ms", "4.00 Gflop/s", "75.0 %", "25.0 %",
                        "passed", "1.000")
        self.assert_row(text, "b.h5", "view, pipelined, no preconditioner", "1.00 s", "40", "25.0 ms", "4.00 Gflop/s",
                        "75.0 %", "50.0 %", "passed", "2.000")
        self.assert_row(text, "c.h5", "shm, classic, jacobi", "2.00 s", "20", "100 ms", "-", "-", "25.0 %", "FAILED", "-")
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
                text = self.compared(alone, other)
                self.assertIn(f"b.h5: not comparable with a.h5: {says}\n", text)
                self.assertIsNone(speed(other, alone))
        for differences in {"max_iterations": 600}, {"assembly": "atomic"}:
            self.assertEqual(speed(self.solve("b.h5", **differences), alone), 1)
        first, second = (self.solve(f"{name}.h5", kind="fe_heat", assembly=name) for name in ("gather", "atomic"))
        self.assertEqual(speed(second, first), 1)

    def test_endings(self):
        """Only what has converged, or has made the same number of iterations, has a speed."""
        short = {"ending": "not_converged", "words": "not converged within solver.max_iterations", "residual": 0.01}
        made = {"ending": "iterations_made", "tolerance": "0.0"}
        limit, first = self.solve("b.h5", **short), self.solve("c.h5", **made)
        text = self.compared(self.solve("a.h5"), limit, first)
        self.assertIn("b.h5: not converged within solver.max_iterations, residual 0.01 (tolerance 1e-09)\n", text)
        self.assertRegex(text, r"b.h5 .* -  +20 ")
        self.assertIsNone(speed(limit, limit))
        self.assertEqual(speed(self.solve("d.h5", ending="guess_is_solution", seconds=1.0), self.solve("a.h5")), 2)
        self.assertEqual(speed(self.solve("d.h5", seconds=1.0, **made), first), 2)
        self.assertIsNone(speed(self.solve("d.h5", max_iterations=600, **made), first))

    def test_decks_that_say_nothing(self):
        for deck in None, "", "- 1", "a: &a [*a]", "a: [", "problem: &p {q: *p}", "[" * 1000:
            record = self.solve("a.h5", run={"deck": deck})
            self.assertIn("converged", show(record))
            self.assertEqual(speed(record, record), 1)

    def test_json(self):
        write_solve(self.folder / "a.h5")
        (record,) = json.loads(self.report("--json", "a.h5"))
        self.assertEqual(record["history"]["values"][:2], [1, 10**-0.5])
        self.assertEqual(record["matrix"]["ghosts_max"], 100)

    def test_a_history_cut_short(self):
        write_solve(self.folder / "a.h5")
        with h5py.File(self.folder / "a.h5", "a") as file:
            del file["run/history/iteration"]
            file["run/history/iteration"] = [0, 1]
        with self.assertRaisesRegex(RecordError, "a.h5.*damaged: /run/history has 2 iterations and 21 values"):
            read_record(str(self.folder / "a.h5"))

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_curves(self):
        """A line a run; a backend has its colour, here and in the curves of pingpong; methods have colours where it is the same."""
        def drawn(*records):
            figure, axes = plt.subplots()
            self.addCleanup(plt.close, figure)
            draw_convergence(records, axes)
            self.assertEqual(axes.get_yscale(), "log")
            lines = [line for line in axes.get_lines() if len(line.get_xdata()) == 21]
            return [(line.get_label(), line.get_color()) for line in lines]

        runs = [self.solve("a.h5", run={"backend": "shm"}), self.solve("b.h5"), self.solve("c.h5", method="merged")]
        self.assertEqual(drawn(*runs), [("shm, classic", BACKENDS["shm"]), ("view, classic", BACKENDS["view"]),
                                        ("view, merged", BACKENDS["view"])])
        self.assertEqual(len(set(drawn(*runs[1:]))), 2)
        self.assertEqual([label.rpartition("/")[2] for label, _ in drawn(runs[1], self.solve("d.h5"))], ["b.h5", "d.h5"])
        self.assertEqual(colours(["view persistent", "typed", "raw"])["view persistent"], BACKENDS["view"])
        self.assertEqual(len(set(colours(["view", "typed", "raw"]).values())), 3)

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_pictures(self):
        write_solve(self.folder / "a.h5")
        self.assert_picture("a.h5")


class Timeline(ReportTest):
    """Of two ranks. Half of rank 1's shift is covered by its product, three quarters of rank 0's, which is longer."""

    ROWS = ((0, b"gemm", 0, 0.0, 2.0), (1, b"gemm", 0, 0.0, 1.0), (0, b"shift of A", 0, 0.5, 2.5), (1, b"shift of A", 0, 0.5, 1.5),
            (0, b"gemm", 1, 2.5, 4.0))

    def sample_timeline(self, rows=ROWS):
        columns = [("rank", "i4"), ("activity", "S16"), ("number", "i8"), ("begin", "f8"), ("end", "f8")]
        with h5py.File(self.folder / self.sample("a.h5", app="matmul", field=False), "a") as file:
            file["run/timeline"] = np.array(list(rows), dtype=columns)
        return "a.h5"

    def test_table(self):
        text = self.report(self.sample_timeline())
        self.assert_row(text, "gemm", "2", "2.00 s", "3.50 s", "-", "-")
        self.assert_row(text, "shift of A", "1", "2.00 s", "2.00 s", "500 ms", "75.0 %")

    def test_how_it_was_computed(self):
        """Without what does not count for the algorithm."""
        deck = "app: matmul\nproduct:\n  algorithm: summa\n  layers: 1\n  panel: 20\n"
        text = self.report(self.sample("a.h5", app="matmul", field=False, deck=deck))
        self.assertIn("algorithm summa, panel 20", text)
        self.assertNotIn("layers", text)

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_picture(self):
        """A bar for all that was done, of each rank."""
        record = read_record(str(self.folder / self.sample_timeline()))
        figure, axes = plt.subplots()
        self.addCleanup(plt.close, figure)
        draw_timeline(record, axes, [0, 1])
        self.assertEqual([len(bars.get_paths()) for bars in axes.collections], [2, 1, 1, 1])
        self.assert_picture("a.h5")

    def test_a_time_that_is_no_number(self):
        self.sample_timeline([(0, b"gemm", 0, float("nan"), 1)])
        with self.assertRaisesRegex(RecordError, "a.h5.*damaged: /run/timeline lacks begin"):
            read_record(str(self.folder / "a.h5"))


class Errors(ReportTest):
    def test_messages(self):
        self.write("text.h5", "not at all")
        self.write("a.h5.tmp", "")
        h5py.File(self.folder / "other.h5", "w").close()
        cases = {
            "absent.h5": "kontor: absent.h5: no such file",
            "text.h5": "kontor: text.h5: not an HDF5 file",
            "other.h5": "kontor: other.h5: not a Kontor file: it has no group /run",
            "a.h5.tmp": "kontor: a.h5.tmp: unfinished: the run is still going on or was killed",
        }
        for name, message in cases.items():
            with self.subTest(name):
                self.assert_fails(self.kontor("report", name), message)

    def test_without_h5py(self):
        self.fake("python", "exit 1")
        message = "kontor: report needs Python with h5py: apt-get install python3-h5py, or set KONTOR_PYTHON"
        self.assert_fails(self.kontor("report", self.sample("a.h5")), message)

    def test_without_yaml(self):
        """A run can be repeated all the same."""
        (self.folder / "without").mkdir()
        self.write("without/yaml.py", "raise ModuleNotFoundError('No module named yaml', name='yaml')")
        done = self.kontor("report", self.sample("a.h5"), PYTHONPATH=str(self.folder / "without"))
        self.assert_fails(done, "kontor: report needs Python with yaml: apt-get install python3-yaml")
        done = self.kontor("run", "a.h5", "--dry-run", KONTOR_LAUNCHER="start", PYTHONPATH=str(self.folder / "without"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_no_field(self):
        done = self.kontor("report", self.sample("a.h5", field=False), "--plot", "a.png")
        self.assert_fails(done, "kontor: a.h5: no field in it (its deck has output.fields: none)")

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_a_plot_that_cannot_be_written(self):
        self.assert_fails(self.kontor("report", self.sample("a.h5"), "--plot", "no/a.png"), "--plot: no/a.png cannot be written")


class Places(ReportTest):
    """Where the text goes."""

    def test_a_terminal_without_greek(self):
        name = self.sample("a.h5")
        add_curves(self.folder / name)
        for variables in ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
            done = self.kontor("report", name, **variables)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("1.01 us +- 1.0 %", done.stdout)

    def test_control_characters(self):
        text = self.report(self.sample("a.h5", command="heat \x1b[2J\nplate.yaml"))
        self.assert_row(text, "command", r"heat \x1b[2J\nplate.yaml")

    def test_a_full_disk(self):
        self.sample("a.h5")
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([sys.executable, SCRIPTS / "report.py", "a.h5"], cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (3, "kontor: stdout cannot be written: No space left on device\n"))


class Damaged(ReportTest):
    """Files that something has changed, or cut off, or that nobody may read."""

    def assert_told(self, name, *says, arguments=("report",)):
        done = self.kontor(*arguments, name)
        self.assertRegex(done.stderr, rf"\Akontor: {name}: .*\n\Z")
        self.assert_fails(done, *says)
        self.assertEqual(done.stdout, "")

    def changed(self, change):
        name = self.sample("a.h5")
        with h5py.File(self.folder / name, "a") as file:
            change(file["run"])
        return name

    def test_values_of_another_kind(self):
        """Read without an error, they would end in one wherever they are shown."""
        def replaced(table, columns):
            def change(run):
                rows = [tuple(row[name] for name, _ in columns) for row in run[table]]
                del run[table]
                run[table] = np.array(rows, dtype=columns)
            return change

        changes = {
            "/run has app '7'": lambda run: run.attrs.__setitem__("app", 7),
            "/run has ranks 'two'": lambda run: run.attrs.__setitem__("ranks", "two"),
            "/run has -1 ranks": lambda run: run.attrs.__setitem__("ranks", -1),
            "/run has hosts that are not names": lambda run: run.attrs.__setitem__("hosts", [1, 2]),
            "/run/verification has error 'x'": lambda run: run["verification"].attrs.__setitem__("error", "x"),
            "/run/figures lacks value": lambda run: run["figure_of_merit"].attrs.__delitem__("value"),
            "/run/timers lacks median": replaced("timers", [("region", "S16"), ("max", "f8")]),
            "/run/traffic has bytes": replaced("traffic", [("rank", "i4"), ("neighbour", "i4"), ("messages", "i8"), ("bytes", "S8")]),
        }
        for says, change in changes.items():
            with self.subTest(says):
                self.assert_told(self.changed(change), "a.h5: cannot be read, so the file is damaged: ", says)

    def test_a_repeated_run(self):
        def cut(name):
            whole = (self.folder / name).read_bytes()
            (self.folder / name).write_bytes(whole[: len(whole) // 2])
            return name

        for arguments in ("report",), ("run", "--dry-run"):
            self.assert_told(cut(self.sample("a.h5")), "damaged: Unable to open file (truncated file", arguments=arguments)
        name = self.changed(lambda run: run.attrs.__setitem__("ranks", "two"))
        self.assert_told(name, "/run has ranks 'two'", arguments=("run", "--dry-run"))

    def test_a_file_that_may_not_be_read(self):
        os.chmod(self.folder, 0o755)
        os.chmod(self.folder / self.sample("a.h5"), 0)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        done = subprocess.run([sys.executable, "-B", SCRIPTS / "report.py", "a.h5"], cwd=self.folder, capture_output=True,
                              text=True, check=False, **nobody)
        self.assertEqual((done.returncode, done.stderr), (2, "kontor: a.h5: cannot be opened: Permission denied\n"))

    def test_whatever_is_damaged(self):
        """Each is shown or refused with one line, soon, whatever HDF5 makes of it."""
        choose = random.Random(8)
        whole = self.whole_files()
        ends = {"shown": 0, "refused": 0, "died": 0}
        begin = time.monotonic()
        for number in range(150):
            (self.folder / "a.h5").write_bytes(damaged(whole[number % 3], choose))
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                code = isolated(lambda now: self.look_at(str(self.folder / "a.h5")), [], seconds=2)
            self.assertIn(code, (0, 2, 17), f"file {number}")
            ends["shown" if code == 0 else "refused" if code == 17 else "died"] += 1
            self.assertEqual(said.getvalue().count("\n"), code == 2)
        self.assertGreater(min(ends["shown"], ends["refused"]), 20, ends)
        self.assertLess(time.monotonic() - begin, 100)

    def whole_files(self):
        self.sample("plane.h5")
        add_curves(self.folder / self.sample("curves.h5", field=False))
        write_solve(self.folder / "solve.h5")
        return [(self.folder / name).read_bytes() for name in ("plane.h5", "curves.h5", "solve.h5")]

    @staticmethod
    def look_at(path):
        """In the child: 0 if all is shown, 17 if it is refused with one line, another code for any other exception."""
        try:
            record = read_record(path)
            show(record)
            compare([record])
            if not record.curves and not record.history:
                read_field(path)
        except RecordError as error:
            return 17 if "\n" not in str(error) else 18
        except Exception:  # pylint: disable=broad-except
            return 19
        return 0

    def test_what_no_exception_tells(self):
        """A library that crashes, never ends, or takes all memory."""
        def spin():
            while True:
                pass

        for work, says in ((lambda: os.kill(os.getpid(), signal.SIGSEGV), "ends with SIGSEGV"), (spin, "takes far too long")):
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                code = isolated(lambda now, work=work: (now("b.h5"), work()), ["a.h5", "b.h5"], seconds=0)
            self.assertEqual((code, said.getvalue()), (2, f"kontor: b.h5: cannot be read, so the file is damaged: reading it {says}\n"))

        def take_all(now):
            try:
                return len(bytearray(1 << 40))
            except MemoryError:
                return 17

        self.assertEqual(isolated(take_all, []), 17)


def damaged(whole, choose):
    """Flips some bits, overwrites a part, or cuts the end off."""
    data = bytearray(whole)
    place = choose.randrange(len(data))
    how = choose.choice(("flip", "flip", "zero", "noise", "cut"))
    if how == "flip":
        for _ in range(choose.choice((1, 3, 10, 100))):
            data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
    elif how == "cut":
        del data[place:]
    else:
        size = min(choose.choice((8, 64, 512)), len(data) - place)
        data[place : place + size] = bytes(size) if how == "zero" else choose.randbytes(size)
    return bytes(data)


@unittest.skipUnless(PLOTS, "no matplotlib")
class Plots(ReportTest):
    def test_fields(self):
        self.assert_picture(self.sample("plane.h5"))
        self.assert_picture(self.sample("space.h5", shape=(6, 5, 4)))

    def test_a_line_and_what_values_belong_to(self):
        """Points lie at the ends of the mesh, centres of cells half a cell inside."""
        for places, first in ("cell", 0.0), ("point", -0.0125):
            path = str(self.folder / self.sample("line.h5", shape=(40,)))
            with h5py.File(path, "a") as file:
                file[f"VTKHDF/{places.title()}Data/temperature"] = file["fields/temperature"]
            field = read_field(path)
            self.assertEqual((field.places, field.origin), (f"{places}s", (first,)))
        plot_field(read_record(path), field, self.folder / "out.png")
        self.assertEqual((self.folder / "out.png").read_bytes()[1:4], b"PNG")

    def test_comparison(self):
        for name, method in ("c.h5", "classic"), ("d.h5", "merged"):
            write_solve(self.folder / name, method=method)
        self.assert_picture(self.sample("a.h5"), self.sample("b.h5", passed=0, figures=()), "c.h5", "d.h5")


class Repeat(ReportTest):
    def repeat(self, *arguments):
        done = self.kontor("run", *arguments, KONTOR_LAUNCHER="start", TMPDIR=str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.sub(r"kontor\.\w+", "T", done.stdout)

    def test_same_deck_same_ranks(self):
        command = self.repeat(self.sample("a.h5", ranks=6), "--dry-run")
        self.assertEqual(command, f"OMP_NUM_THREADS=1 start -n 6 build/bin/heat {self.folder}/T/a.yaml -o a-repeat.h5\n")
        (deck,) = self.folder.glob("kontor.*/a.yaml")
        self.assertEqual(deck.read_text(), DECK)

    def test_what_is_asked_for_goes_first(self):
        command = self.repeat(self.sample("a.h5", ranks=6), "--dry-run", "-n", "3", "-o", "b.h5")
        self.assertEqual(command, f"OMP_NUM_THREADS=1 start -n 3 build/bin/heat {self.folder}/T/a.yaml -o b.h5\n")

    def test_no_deck_in_the_file(self):
        done = self.kontor("run", self.sample("a.h5", deck=None, ranks=None), "--dry-run")
        self.assert_fails(done, "kontor: a.h5: the run cannot be repeated: /run has no attribute deck and no ranks")

    def test_an_unfinished_file(self):
        self.write("a.h5.0123abcd.tmp", "")
        self.assert_fails(self.kontor("run", "a.h5.0123abcd.tmp"), "kontor: a.h5.0123abcd.tmp: unfinished")


if __name__ == "__main__":
    unittest.main()
