# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report of one run and of several."""

import json
import unittest

from report_case import FIELDS, PLOTS, ReportTest

from sample_file import BANDWIDTH, DECK, TIMERS, UPDATES, add_curves, add_field, change_run, set_run, write_solve

from kontor.report.statistics import number
from kontor.report.text import percent


class OneRun(ReportTest):
    def test_tables(self):
        text = self.report(self.sample("a.json"))
        self.assert_rows(text, "app  heat", "hosts  node1", "ranks  2", "process grid  2 x 1", "pattern  nonblocking",
                         "problem  cells [40, 30]", "passed  max error  1e-06  1e-05",
                         "cell updates  1.20 G updates/s  -  -", "effective bandwidth  19.2 GB/s  32.0 GB/s  60.0 %",
                         "compute  500  1.40 s  1.50 s  1.60 s  1  75.0 %", "other  -  -  -  -  -  2.5 %",
                         "setup  1  10.0 ms  10.0 ms  10.0 ms  0", "messages  2", "bytes  16.0 kB",
                         "working set read bandwidth  90.0 GB/s", "latency  1.00 us")
        self.assertIn("3 repeats: 2.00 s, 1.90 s to 2.10 s", text)
        for absent in "Single exchanges", "Noise", "Energy", "Matrix", "Solution":
            self.assertNotIn(absent, text)
        set_run(self.folder / "bare.json", {"app": "heat"})
        self.assertIn("not verified", self.report("bare.json"))

    def test_small_numbers_are_not_zero(self):
        self.assertEqual([percent(value) for value in (0.003, 0.0003, 2e-6, 0, -0.003, 0.5)],
                         ["0.3 %", "0.03 %", "0.0002 %", "0.0 %", "-0.3 %", "50.0 %"])
        self.assertEqual([number(value) for value in (0.003, 0.0964, 1.004, 0)], ["0.003", "0.10", "1.00", "0.00"])

    def test_cores_and_threads(self):
        placement = [{"rank": rank, "host": f"node{rank + 1}", "cores": "0-1", "threads": "0 1"} for rank in range(20)]
        self.changed(lambda run: run.update(placement=placement))
        self.assert_rows(self.report("a.json"), "15  node16  0-1  0 1", "... 20 ranks")
        self.assertRegex(self.report("a.json", self.sample("b.json")), r"a\.json .* 2 x 2 threads ")

    def test_a_disturbed_run_says_so(self):
        """By its own noise, or as its ranks share cores; here, and beside others."""
        for member, says in (({"noise": {"p99": 847.0}}, "noise p99 is 847"),
                             ({"calibration": {"oversubscribed": True}}, "ranks and threads share cores")):
            self.changed(lambda run, member=member: run.update(member))
            self.assertIn(f"Warning: {says}: do not quote these times", self.report("a.json"))
            text = self.report("a.json", self.sample("b.json"))
            self.assertIn(f"Warning: a.json: {says}: do not quote these times", text)
        self.changed(lambda run: run.update(noise={"p99": 1.4}))
        self.assertNotIn("do not quote", self.report("a.json"))

    def test_kinds_of_regions(self):
        """What writes files is outside of a repeat."""
        text = self.report(self.sample("a.json", timers={**TIMERS, "checkpoint": (3, 0.5, 0.5, 0.5, 0)}))
        self.assertEqual(["checkpoint" in part for part in text.split("Outside the measured time")], [False, True])

    def test_verdicts(self):
        """An inconclusive run, whose error may be below its tolerance, has not failed; neither has figures."""
        text = self.report(self.sample("a.json", passed=False, figures=()))
        self.assert_rows(text, "FAILED  max error  1e-06  1e-05", "none: verification failed")
        self.changed(lambda run: run["verification"].update(conclusive=False, remark="too coarse"), passed=False,
                     figures=())
        self.assert_rows(self.report("a.json"), "inconclusive  max error  1e-06  1e-05", "too coarse",
                         "none: verification inconclusive")
        self.assertRegex(self.report("a.json", self.sample("b.json")), r"a\.json .* inconclusive\n")

    def test_the_record_decides_which_fraction_can_be(self):
        """A withheld one leaves a remark; one above 1 is of sweeps that share a pass through memory."""
        withheld = {"name": "cell_updates", "value": 13.0, "unit": "1/s", "remark": "no fraction"}
        told = {"name": "effective_bandwidth", "value": 13.0, "unit": "B/s", "attainable": 10.0, "fraction": 1.3}
        self.assert_rows(self.report(self.sample("a.json", figures=(withheld, told))),
                         "cell updates  13.0 /s  -  -  no fraction",
                         "effective bandwidth  13.0 B/s  10.0 B/s  130.0 %  -")

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
        self.report("a.json", "b.json", *(["--plot", "out.png"] if PLOTS else []))
        for history in ({"iteration": [1, 2], "residual": [1.0]}, {"iteration": [1], "residual": ["x"]}):
            self.write("c.json", json.dumps(record | {"history": history}))
            self.assert_fails(self.reported("c.json"), "c.json: cannot be shown: ")


class Curves(ReportTest):
    """Runs that measured times over sizes."""

    def curves(self, **differences):
        add_curves(self.folder / self.sample("a.json", app="pingpong"), **differences)
        return self.report("a.json")

    def test_times_and_ratios_by_size(self):
        text = self.curves()
        self.assert_rows(text, "64  512 B  1.01 us +- 1.0 %  1.01 us +- 1.0 %  1.000 [0.990, 1.010]",
                         "16384  131 kB  2.64 us +- 1.0 %  2.69 us +- 1.0 %  1.020 [1.010, 1.030]")
        change_run(self.folder / "a.json", lambda run: run.update(curves=run["curves"][:3], ratios=run["ratios"][:1]))
        self.assert_rows(self.report("a.json"), "1024  8.19 kB  1.10 us +- 1.0 %  -  -")

    def test_parts_of_the_time(self):
        """By time, with the ratio to the fastest; what moves nothing is the last."""
        text = self.curves(split=True)
        self.assert_rows(text, "size  series  time  of fastest  pack  post  wait  unpack  messages  bytes",
                         "256  view  51.2 us  2.00  5.12 us  10.2 us  25.6 us  5.12 us  4  8.19 kB")
        order = [line.split()[1] for line in text.splitlines() if line.startswith("   256")]
        self.assertEqual(order, ["shm", "view", "null"])


class Comparison(ReportTest):
    def test_speed_is_relative_to_the_first(self):
        self.sample("b.json", backend="raw", overlap=0, figures=({**UPDATES, "value": 1.5e9}, BANDWIDTH))
        text = self.report(self.sample("a.json"), "b.json", self.sample("c.json", passed=False, figures=()))
        self.assertIn("speed: relative to a.json, above 1 is faster", text)
        self.assert_rows(
            text, "a.json  view, overlap on  2  2.00 s  1.20 G updates/s  60.0 %  22.5 %  passed  1.000",
            "b.json  raw, overlap off  2  2.00 s  1.50 G updates/s  60.0 %  22.5 %  passed  1.250",
            "c.json  view, overlap on  2  2.00 s  -  -  22.5 %  FAILED  -")

    def test_apps_and_problems(self):
        """Apps have tables and baselines of their own; another problem is named."""
        other = DECK.replace("[40, 30]", "[80, 60]")
        text = self.report(self.sample("a.json"), self.sample("b.json", app="cg"), self.sample("c.json", deck=other),
                           self.sample("e.json"))
        self.assertLess(text.index("e.json"), text.index("b.json"))
        self.assertIn("cg  (rate: cell updates; speed: relative to b.json", text)
        self.assertIn("c.json: another problem than a.json: problem.cells is [80, 60], not [40, 30]", text)
        self.assertNotIn("e.json: another", text)


@unittest.skipUnless(PLOTS, "no matplotlib")
class Plots(ReportTest):
    def test_pictures(self):
        self.sample("a.json")
        self.sample("failed.json", passed=False, figures=())
        for name, split in ("curves.json", False), ("parts.json", True):
            add_curves(self.folder / self.sample(name, app="pingpong"), split=split)
        for name, method in ("c.json", "classic"), ("d.json", "merged"):
            write_solve(self.folder / name, method=method)
        for files in "a.json", "curves.json parts.json", "a.json failed.json c.json d.json":
            self.report(*files.split(), "--plot", "out.png")
            self.assertEqual((self.folder / "out.png").read_bytes()[1:4], b"PNG")
            (self.folder / "out.png").unlink()

    @unittest.skipUnless(FIELDS, "no h5py")
    def test_fields(self):
        """Points lie at the ends of the mesh, centres of cells half a cell inside. And the plane through the middle of a
        space."""
        import h5py

        from kontor.report.fields import field_charts
        for places, shape, where in (("Cell", (40,), 0.0125), ("Point", (40,), 0.0), ("Cell", (30, 40), (0, 1, 0, 1)),
                                     ("Cell", (6, 30, 40), (0, 1, 0, 1))):
            path = self.folder / self.sample("a.h5")
            add_field(path, shape=shape)
            with h5py.File(path, "a") as file:
                file[f"VTKHDF/{places}Data/temperature"] = file["fields/temperature"]
                middle = file["fields/temperature"][3, 0, 0] if len(shape) == 3 else 0
            with self.subTest(places, shape=shape):
                (chart,) = field_charts(str(path))
                self.assertIn(f"{places.lower()}s)" + ", z = 0.35" * (len(shape) == 3), chart.title)
                if chart.image:
                    for found, expected in zip(chart.image.extent, where):
                        self.assertAlmostEqual(found, expected)
                    self.assertEqual((chart.image.values.shape, chart.image.values[0, 0]), ((30, 40), middle))
                else:
                    self.assertAlmostEqual(chart.lines[0].x[0], where)
            path.unlink()
