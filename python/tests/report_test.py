# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report of one run and of several."""

import json
import unittest

from report_case import PLOTS, ReportTest

import h5py
import numpy as np
from sample_file import BANDWIDTH, DECK, TIMERS, UPDATES, add_curves, add_split_curves, change_run, set_run, write_solve

from kontor.report.hdf5 import Field, field_charts, read_field

if PLOTS:
    from kontor.report.draw import plot_charts


class OneRun(ReportTest):
    def test_tables(self):
        text = self.report(self.sample("a.h5"))
        self.assert_rows(text, "app  heat 0.1.0 (abc1234)", "hosts  node1", "ranks  2, process grid 2 x 1",
                         "exchange  view, nonblocking, packing kernel, path direct, overlap on",
                         "passed  max error  1e-06  1e-05", "cell updates  1.20 G updates/s  -  -",
                         "effective bandwidth  19.2 GB/s  32.0 GB/s  60.0 %",
                         "compute  500  1.40 s  1.50 s  1.60 s  1  75.0 %", "other  2.5 %",
                         "setup  1  10.0 ms  10.0 ms  10.0 ms  0")
        self.assertIn("3 repeats: 2.00 s, 1.90 s to 2.10 s", text)
        self.assertNotIn("communication is not known", text)
        bandwidths = zip(("read", "copy", "triad", "working set read"), ("40.0", "30.0", "32.0", "90.0"))
        self.assert_rows(text, "0  1  1  8.00 kB", "all  all  2  16.0 kB", *(f"{key} bandwidth  {value} GB/s" for key, value in bandwidths))

    def test_checkpoints(self):
        went_on = {"written": 0, "restarted_from": "b-000000040.h5", "at_step": 40}
        wrote = {"written": 3, "bytes": 12_000_000_000, "seconds": 6.0, "bandwidth": 2e9, "overhead": 0.05, "newest": "b-000000070.h5"}
        for found, rows in (
            (went_on, [r"resumed from  b-000000040\.h5, after step 40", "written       none"]),
            (wrote, [r"written    3, 12\.0 GB, the last b-000000070\.h5", r"bandwidth  2\.00 GB/s", r"overhead   5\.0 % of the time of the steps"]),
            ({**went_on, **wrote}, ["resumed from ", "written  +3, ", "bandwidth +2", "overhead +5"]),
        ):
            self.changed(lambda run, found=found: run.update(checkpoint=found))
            self.assertRegex(self.report("a.h5"), r"\nCheckpoints\n  " + r".*\n  ".join(rows))

    def test_cores_and_threads(self):
        self.changed(lambda run: run.update(placement=[{"rank": n, "host": f"node{n + 1}", "cores": "0-1", "threads": "0 1"} for n in (0, 1)]))
        self.assert_rows(self.report("a.h5"), "ranks  2, process grid 2 x 1, 2 threads each", "1  node2  0-1  0 1")
        self.assertRegex(self.report("a.h5", self.sample("b.h5")), r"a\.h5 .* 2 x 2 threads ")
        self.write("c.json", json.dumps({"app": "heat", "ranks": 20, "placement": [{"rank": n, "host": "n", "cores": "0", "threads": ""} for n in range(20)]}))
        text = self.report("c.json")
        self.assert_rows(text, "ranks  20", "15  n  0  -")
        self.assertIn("20 ranks", text)

    def test_what_is_no_table(self):
        for name in "placement", "traffic", "curves":
            for table in "abc", [1, 2], {"a": 1}, [[]], 7:
                self.write("a.json", json.dumps({"app": "heat", name: table}))
                self.assert_fails(self.reported("a.json"), f"/run/{name} is no table")

    def test_a_file_without_kinds_of_regions(self):
        """Nothing is guessed by their names."""
        self.assertIn("communication is not known", self.report(self.sample("a.h5", kinds=False)))
        self.assertRegex(self.report("a.h5", self.sample("b.h5")), r"a\.h5 .*60\.0 % +-  .*\n.*b\.h5 .*60\.0 % +22\.5 %")

    def test_what_writes_files_is_outside_of_a_repeat(self):
        """By its kind: io, not by its name."""
        text = self.report(self.sample("a.h5", timers={**TIMERS, "checkpoint": (3, 0.5, 0.5, 0.5, 0)}))
        self.assertEqual(["checkpoint" in part for part in text.split("Outside the measured time")], [False, True])

    def test_a_failed_run_has_no_figures(self):
        text = self.report(self.sample("a.h5", passed=False, figures=()))
        self.assert_rows(text, "FAILED  max error  1e-06  1e-05")
        self.assertIn("none: verification failed", text)

    def test_an_inconclusive_run_has_not_failed(self):
        """Whose error may be below its tolerance."""
        self.changed(lambda run: run["verification"].update(conclusive=False, remark="too coarse"), passed=False, figures=())
        text = self.report("a.h5")
        self.assert_rows(text, "inconclusive  max error  1e-06  1e-05", "too coarse")
        self.assertIn("none: verification inconclusive", text)
        self.assertRegex(self.report("a.h5", self.sample("b.h5")), r"a\.h5 .* inconclusive ")

    def test_the_record_decides_which_fraction_can_be(self):
        """A withheld one leaves a remark; one above 1 is of sweeps that share a pass through memory."""
        withheld = {"name": "cell_updates", "value": 13.0, "unit": "1/s", "remark": "no fraction: an error of the calibration"}
        told = {"name": "effective_bandwidth", "value": 13.0, "unit": "B/s", "attainable": 10.0, "fraction": 1.3}
        text = self.report(self.sample("a.h5", figures=(withheld, told)))
        self.assert_rows(text, "cell updates  13.0 /s  -  -", "effective bandwidth  13.0 B/s  10.0 B/s  130.0 %")
        self.assertIn("cell_updates: no fraction: an error of the calibration", text)
        self.assertIn("130.0 %", self.report("a.h5", self.sample("b.h5")))

    def test_what_is_absent_is_left_out(self):
        set_run(self.folder / "bare.h5", {"app": "heat"})
        text = self.report("bare.h5")
        self.assertIn("not verified", text)
        self.assertNotIn("compiler", text)

    def test_what_is_no_number(self):
        """null in the JSON of a run; in what is printed as JSON, too."""
        record = {"app": "heat", "ranks": 2, "repeats": [2.0, 2.0], "verification": {"passed": False, "error": None, "tolerance": 1e-3},
                  "history": {"iteration": [10, 20, 30], "residual": [0.5, None, None]}, "calibration": {"latency": None},
                  "figures_of_merit": {"updates": {"name": "updates", "value": None, "unit": "1/s"}},
                  "timers": [{"region": "total", "calls": 1, "min": 2.0, "median": 2.0, "max": 2.0, "slowest_rank": 0, "mean": None, "once": False}]}
        self.write("a.json", json.dumps(record))
        self.write("b.json", json.dumps(record | {"repeats": [float("nan"), float("inf")]}))
        text = self.report("a.json")
        self.assert_rows(text, "FAILED  error  nan  0.001", "20  nan")
        for files in ["a.json"], ["b.json"], ["a.json", "b.json"]:
            self.report(*files)
            found = json.loads(self.report("--json", *files), parse_constant=self.fail)
            self.assertEqual(found[0]["history"]["values"], [0.5, None, None])
        if PLOTS:
            self.report("a.json", "b.json", "--plot", "out.png")
        for history in {"iteration": [], "residual": []}, {"iteration": [1, 2], "residual": [1.0]}, {"iteration": [1], "residual": ["x"]}:
            self.write("c.json", json.dumps(record | {"history": history}))
            self.assert_fails(self.reported("c.json"), "c.json: cannot be read, so the file is damaged: /run/history")

    def test_json(self):
        add_curves(self.folder / self.sample("a.h5"))
        write_solve(self.folder / "solve.h5")
        record, solve = json.loads(self.report("--json", "a.h5", "solve.h5"))
        self.assertEqual((record["run"]["ranks"], record["figures"][1]["fraction"], record["timers"]["wait"]["max"]), (2, 0.6, 0.3))
        self.assertEqual((record["ratios"][1]["ratio"], len(record["curves"])), (1.02, 12))
        self.assertEqual((solve["history"]["values"][:2], solve["matrix"]["ghosts_max"]), ([1, 10**-0.5], 100))


class Curves(ReportTest):
    """Runs that measured times over sizes."""

    def curves(self, name, add=add_curves, **differences):
        add(self.folder / self.sample(name, app="pingpong", field=False, **differences))
        return name

    def test_times_and_ratios_by_size(self):
        text = self.report(self.curves("a.h5"))
        self.assertIn("1-D double: mean time and its standard error", text)
        self.assert_rows(text, "1-D int  view / raw  1.020  1.000  1.020  1024  2 of 3", "size  bytes  raw  view  view / raw",
                         "64  512 B  1.01 µs ± 1.0 %  1.01 µs ± 1.0 %  1.000 (0.990 to 1.010)",
                         "16384  131 kB  2.64 µs ± 1.0 %  2.69 µs ± 1.0 %  1.020 (1.010 to 1.030)")

    def test_parts_of_the_time(self):
        text = self.report(self.curves("a.h5", add_split_curves))
        self.assertNotIn("Ratios", text)
        self.assert_rows(text, "size  series  time  pack  post  wait  unpack  messages  bytes",
                         "256  view persistent  51.2 µs  5.12 µs  10.2 µs  25.6 µs  5.12 µs  4  8.19 kB")

    def test_a_series_that_lacks_a_size(self):
        name = self.curves("a.h5")
        change_run(self.folder / name, lambda run: run.update(curves=run["curves"][:3], ratios=run["ratios"][:1]))
        self.assert_rows(self.report(name), "1024  8.19 kB  1.10 µs ± 1.0 %  -  -")

    def test_comparison(self):
        typed = {"name": "typed_over_raw", "value": 1.02, "unit": "1"}
        text = self.report(self.curves("a.h5", figures=(typed,)), self.curves("b.h5", figures=(typed,), packing=None))
        self.assert_rows(text, "b.h5  pingpong  view  -  2  on  2.00 s  1.02  -  22.5 %  passed  1.000")


class Comparison(ReportTest):
    def test_speed_is_relative_to_the_first(self):
        self.sample("b.h5", backend="raw", overlap=0, figures=({**UPDATES, "value": 1.5e9}, BANDWIDTH))
        text = self.report(self.sample("a.h5"), "b.h5", self.sample("c.h5", passed=False, figures=()))
        self.assertIn("speed 1 is a.h5", text)
        self.assert_rows(text,
                         "a.h5  heat  view  kernel  2  on  2.00 s  1.20 G updates/s  60.0 %  22.5 %  passed  1.000",
                         "b.h5  heat  raw  kernel  2  off  2.00 s  1.50 G updates/s  60.0 %  22.5 %  passed  1.250",
                         "c.h5  heat  view  kernel  2  on  2.00 s  -  -  22.5 %  FAILED  -")

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


@unittest.skipUnless(PLOTS, "no matplotlib")
class Plots(ReportTest):
    def test_pictures(self):
        """Of fields, parts of times and comparisons; pages have charts of the rest."""
        self.sample("plane.h5")
        self.sample("space.h5", shape=(6, 5, 4))
        self.sample("failed.h5", passed=False, figures=())
        for name, add in ("curves.h5", add_curves), ("parts.h5", add_split_curves):
            add(self.folder / self.sample(name, app="pingpong", field=False))
        for name, method in ("c.h5", "classic"), ("d.h5", "merged"):
            write_solve(self.folder / name, method=method)
        for files in "plane.h5", "space.h5", "parts.h5", "curves.h5 parts.h5", "plane.h5 failed.h5 c.h5 d.h5":
            with self.subTest(files):
                self.report(*files.split(), "--plot", "out.png")
                self.assertEqual((self.folder / "out.png").read_bytes()[1:4], b"PNG")
                (self.folder / "out.png").unlink()

    def test_a_line_and_what_values_belong_to(self):
        """Points lie at the ends of the mesh, centres of cells half a cell inside."""
        for places, first in ("cell", 0.0), ("point", -0.0125):
            path = str(self.folder / self.sample("line.h5", shape=(40,)))
            with h5py.File(path, "a") as file:
                file[f"VTKHDF/{places.title()}Data/temperature"] = file["fields/temperature"]
            field = read_field(path)
            self.assertEqual((field.places, field.origin), (f"{places}s", (first,)))
        plot_charts("a line", field_charts(field), self.folder / "out.png")
        self.assertEqual((self.folder / "out.png").read_bytes()[1:4], b"PNG")

    def test_planes_of_a_space(self):
        """Value z * 100 + y * 10 + x in cells of 1, 2, 3: the planes through the middle cell and where they lie."""
        values = np.fromfunction(lambda z, y, x: 100 * z + 10 * y + x, (6, 5, 4))
        field = Field("t", values, "cells", (0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
        found = {(chart.x_label, chart.y_label): chart for chart in field_charts(field)}
        for axes, corner, where in ("xy", 300, "z = 10.5"), ("xz", 20, "y = 5"), ("yz", 2, "x = 2.5"):
            chart = found[tuple(axes)]
            self.assertEqual((chart.image.values[0, 0], chart.title.rpartition(", ")[2]), (corner, where))
            self.assertEqual(chart.image.extent, (0.0, {"x": 4.0, "y": 10.0}[axes[0]], 0.0, {"y": 10.0, "z": 18.0}[axes[1]]))
