# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report of one run and of several."""

import json
import unittest

from report_case import FIELDS, PLOTS, ReportTest

from sample_file import BANDWIDTH, DECK, TIMERS, UPDATES, add_curves, add_split_curves, change_run, set_run, write_solve

from kontor.report.statistics import number
from kontor.report.text import percent


class OneRun(ReportTest):
    def test_tables(self):
        text = self.report(self.sample("a.json"))
        self.assert_rows(text, "app  heat", "hosts  node1", "ranks  2", "process grid  2 x 1",
                         "pattern  nonblocking", "overlap  1", "problem  cells [40, 30]", "passed  max error  1e-06  1e-05", "cell updates  1.20 G updates/s  -  -",
                         "effective bandwidth  19.2 GB/s  32.0 GB/s  60.0 %",
                         "compute  500  1.40 s  1.50 s  1.60 s  1  75.0 %", "other  -  -  -  -  -  2.5 %",
                         "setup  1  10.0 ms  10.0 ms  10.0 ms  0", "0  -  8.00 kB  8.00 kB", "all ranks: 2 messages, 16.0 kB")
        self.assertIn("3 repeats: 2.00 s, 1.90 s to 2.10 s", text)
        self.assertNotIn("communication is not known", text)
        self.assert_rows(text, *(f"{key} bandwidth  {value} GB/s" for key, value in (
            ("read", "40.0"), ("copy", "30.0"), ("triad", "32.0"), ("working set read", "90.0"))))

    def test_small_numbers_are_not_zero(self):
        self.assertEqual([percent(value) for value in (0.003, 0.0003, 2e-6, 0, -0.003, 0.5)],
                         ["0.3 %", "0.03 %", "0.0002 %", "0.0 %", "-0.3 %", "50.0 %"])
        self.assertEqual([number(value) for value in (0.003, 0.0964, 1.004, 0, 12)],
                         ["0.003", "0.10", "1.00", "0.00", "12.00"])

    def test_checkpoints(self):
        self.changed(lambda run: run.update(checkpoint={
            "written": 3, "bytes": 12_000_000_000, "seconds": 6.0, "bandwidth": 2e9, "overhead": 0.05,
            "newest": "b-000000070.h5", "restarted_from": "b-000000040.h5"}))
        self.assert_rows(self.report("a.json"), "written  3", "bytes  12.0 GB", "seconds  6.00 s", "bandwidth  2.00 GB/s",
                         "overhead  5.0 %", "newest  b-000000070.h5", "restarted from  b-000000040.h5")

    def test_cores_and_threads(self):
        self.changed(lambda run: run.update(placement=[
            {"rank": rank, "host": f"node{rank + 1}", "cores": "0-1", "threads": "0 1"} for rank in (0, 1)]))
        self.assert_rows(self.report("a.json"), "1  node2  0-1  0 1")
        self.assertRegex(self.report("a.json", self.sample("b.json")), r"a\.json .* 2 x 2 threads ")
        placement = [{"rank": rank, "host": "n", "cores": "0", "threads": ""} for rank in range(20)]
        self.write("c.json", json.dumps({"app": "heat", "ranks": 20, "placement": placement}))
        self.assert_rows(self.report("c.json"), "ranks  20", "15  n  0", "... 20 ranks")

    def test_a_disturbed_run_says_so(self):
        """By its own noise, or as its ranks share cores; here, and beside others."""
        noise = {"quantum": 1e-4, "samples": 400, "p50": 1.01, "p99": 847.0, "max": 900.0, "slowest_rank": 1}
        for change, says in ((lambda run: run.update(noise=noise), "noise p99 is 847"),
                             (lambda run: run["calibration"].update(oversubscribed=True), "ranks and threads share cores")):
            self.changed(change)
            self.assertIn(f"Warning: {says}: do not quote these times", self.report("a.json"))
            self.assertIn(f"Warning: a.json: {says}: do not quote these times", self.report("a.json", self.sample("b.json")))
        self.changed(lambda run: run.update(noise={**noise, "p99": 1.4}))
        self.assertNotIn("do not quote", self.report("a.json"))

    def test_a_file_without_kinds_of_regions(self):
        """Nothing is guessed by their names."""
        self.assertIn("communication is not known", self.report(self.sample("a.json", kinds=False)))
        self.assertRegex(self.report("a.json", self.sample("b.json")), r"a\.json .*60\.0 % +-  .*\n.*b\.json .*60\.0 % +22\.5 %")

    def test_what_writes_files_is_outside_of_a_repeat(self):
        """By its kind: io, not by its name."""
        text = self.report(self.sample("a.json", timers={**TIMERS, "checkpoint": (3, 0.5, 0.5, 0.5, 0)}))
        self.assertEqual(["checkpoint" in part for part in text.split("Outside the measured time")], [False, True])

    def test_a_failed_run_has_no_figures(self):
        text = self.report(self.sample("a.json", passed=False, figures=()))
        self.assert_rows(text, "FAILED  max error  1e-06  1e-05")
        self.assertIn("none: verification failed", text)

    def test_an_inconclusive_run_has_not_failed(self):
        """Whose error may be below its tolerance."""
        self.changed(lambda run: run["verification"].update(conclusive=False, remark="too coarse"), passed=False, figures=())
        text = self.report("a.json")
        self.assert_rows(text, "inconclusive  max error  1e-06  1e-05", "too coarse")
        self.assertIn("none: verification inconclusive", text)
        self.assertRegex(self.report("a.json", self.sample("b.json")), r"a\.json .* inconclusive\n")

    def test_the_record_decides_which_fraction_can_be(self):
        """A withheld one leaves a remark; one above 1 is of sweeps that share a pass through memory."""
        withheld = {"name": "cell_updates", "value": 13.0, "unit": "1/s", "remark": "no fraction"}
        told = {"name": "effective_bandwidth", "value": 13.0, "unit": "B/s", "attainable": 10.0, "fraction": 1.3}
        text = self.report(self.sample("a.json", figures=(withheld, told)))
        self.assert_rows(text, "cell updates  13.0 /s  -  -  no fraction",
                         "effective bandwidth  13.0 B/s  10.0 B/s  130.0 %  -")
        self.assertIn("130.0 %", self.report("a.json", self.sample("b.json")))

    def test_what_is_absent_is_left_out(self):
        set_run(self.folder / "bare.json", {"app": "heat"})
        text = self.report("bare.json")
        self.assertIn("not verified", text)
        self.assertNotIn("compiler", text)

    def test_what_is_no_number(self):
        """null in the JSON of a run."""
        record = {"app": "heat", "ranks": 2, "repeats": [2.0, 2.0], "calibration": {"latency": None},
                  "verification": {"passed": False, "error": None, "tolerance": 1e-3},
                  "history": {"iteration": [10, 20, 30], "residual": [0.5, None, None]},
                  "figures_of_merit": {"updates": {"name": "updates", "value": None, "unit": "1/s"}},
                  "timers": [{"region": "total", "calls": 1, "min": 2.0, "median": 2.0, "max": 2.0, "mean": None}]}
        self.write("a.json", json.dumps(record))
        self.write("b.json", json.dumps(record | {"repeats": [float("nan"), float("inf")]}))
        self.assert_rows(self.report("a.json"), "FAILED  error  nan  0.001", "20  nan")
        for files in ["b.json"], ["a.json", "b.json"]:
            self.report(*files)
        if PLOTS:
            self.report("a.json", "b.json", "--plot", "out.png")
        for history in ({"iteration": [1, 2], "residual": [1.0]}, {"iteration": [1], "residual": ["x"]}):
            self.write("c.json", json.dumps(record | {"history": history}))
            self.assert_fails(self.reported("c.json"), "c.json: cannot be read, so the file is damaged: history")


class Curves(ReportTest):
    """Runs that measured times over sizes."""

    def curves(self, name, add=add_curves, **differences):
        add(self.folder / self.sample(name, app="pingpong", **differences))
        return name

    def test_times_and_ratios_by_size(self):
        text = self.report(self.curves("a.json"))
        self.assertIn("1-D double: mean time and its standard error", text)
        self.assert_rows(text, "1-D int  view / raw  1.020  1.000  1.020  1024  2 of 3",
                         "size  bytes  raw  view  view / raw",
                         "64  512 B  1.01 us +- 1.0 %  1.01 us +- 1.0 %  1.000 [0.990, 1.010]",
                         "16384  131 kB  2.64 us +- 1.0 %  2.69 us +- 1.0 %  1.020 [1.010, 1.030]")

    def test_parts_of_the_time(self):
        text = self.report(self.curves("a.json", add_split_curves))
        self.assertNotIn("Ratios", text)
        self.assert_rows(text, "size  series  time  of fastest  pack  post  wait  unpack  messages  bytes",
                         "256  view persistent  51.2 us  2.00  5.12 us  10.2 us  25.6 us  5.12 us  4  8.19 kB")

    def test_a_series_that_lacks_a_size(self):
        name = self.curves("a.json")
        change_run(self.folder / name, lambda run: run.update(curves=run["curves"][:3], ratios=run["ratios"][:1]))
        self.assert_rows(self.report(name), "1024  8.19 kB  1.10 us +- 1.0 %  -  -")


class Comparison(ReportTest):
    def test_speed_is_relative_to_the_first(self):
        self.sample("b.json", backend="raw", overlap=0, figures=({**UPDATES, "value": 1.5e9}, BANDWIDTH))
        text = self.report(self.sample("a.json"), "b.json", self.sample("c.json", passed=False, figures=()))
        self.assertIn("speed: relative to a.json, above 1 is faster", text)
        self.assert_rows(
            text, "a.json  view, overlap on  2  2.00 s  1.20 G updates/s  60.0 %  22.5 %  passed  1.000",
            "b.json  raw, overlap off  2  2.00 s  1.50 G updates/s  60.0 %  22.5 %  passed  1.250",
            "c.json  view, overlap on  2  2.00 s  -  -  22.5 %  FAILED  -")

    def test_apps_have_tables_and_baselines_of_their_own(self):
        flops = {"name": "flops", "value": 5e9, "unit": "flop/s"}
        text = self.report(self.sample("a.json"), self.sample("b.json", app="cg", figures=(flops,)), self.sample("c.json"))
        self.assertLess(text.index("c.json"), text.index("b.json"))
        self.assertIn("cg  (rate: flops; speed: relative to b.json", text)
        self.assertIn("5.00 Gflop/s", text)

    def test_another_problem_is_told(self):
        other = DECK.replace("[40, 30]", "[80, 60]")
        text = self.report(self.sample("a.json"), self.sample("b.json", deck=other), self.sample("c.json", deck="a: ["),
                           self.sample("d.json"))
        self.assertIn("b.json: another problem than a.json: problem.cells is [80, 60], not [40, 30]", text)
        self.assertNotIn("d.json: another", text)


@unittest.skipUnless(PLOTS, "no matplotlib")
class Plots(ReportTest):
    def test_pictures(self):
        self.sample("a.json")
        self.sample("failed.json", passed=False, figures=())
        for name, add in ("curves.json", add_curves), ("parts.json", add_split_curves):
            add(self.folder / self.sample(name, app="pingpong"))
        for name, method in ("c.json", "classic"), ("d.json", "merged"):
            write_solve(self.folder / name, method=method)
        for files in "a.json", "parts.json", "curves.json parts.json", "a.json failed.json c.json d.json":
            with self.subTest(files):
                self.report(*files.split(), "--plot", "out.png")
                self.assertEqual((self.folder / "out.png").read_bytes()[1:4], b"PNG")
                (self.folder / "out.png").unlink()

    @unittest.skipUnless(FIELDS, "no h5py")
    def test_a_line_and_what_values_belong_to(self):
        """Points lie at the ends of the mesh, centres of cells half a cell inside."""
        import h5py
        from sample_file import add_field

        from kontor.report.fields import field_charts, read_field
        for places, first in ("cell", 0.0), ("point", -0.0125):
            path = self.folder / self.sample(f"{places}.h5")
            add_field(path, shape=(40,))
            with h5py.File(path, "a") as file:
                file[f"VTKHDF/{places.title()}Data/temperature"] = file["fields/temperature"]
            field = read_field(str(path))
            self.assertEqual((field.places, field.origin), (f"{places}s", (first,)))
        self.assertEqual(len(field_charts(field)[0].lines[0].x), 40)
        self.report("cell.h5", "--plot", "out.png")

    @unittest.skipUnless(FIELDS, "no h5py")
    def test_planes_of_a_space(self):
        """Value z * 100 + y * 10 + x in cells of 1, 2, 3: the planes through the middle cell and where they lie."""
        import numpy as np

        from kontor.report.fields import Field, field_charts
        values = np.fromfunction(lambda z, y, x: 100 * z + 10 * y + x, (6, 5, 4))
        found = field_charts(Field("u", values, "cells", (0.0, 0.0, 0.0), (1.0, 2.0, 3.0)))
        self.assertEqual([(chart.image.values[0, 0], chart.title.rpartition(", ")[2], chart.image.extent) for chart in found],
                         [(300, "z = 10.5", (0, 4, 0, 10)), (20, "y = 5", (0, 4, 0, 18)), (2, "x = 2.5", (0, 10, 0, 18))])
