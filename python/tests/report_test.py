# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report of one run and of several: tables, pictures and pages."""

import base64
import json
import unittest
from xml.etree import ElementTree

from report_case import FIELDS, PLOTS, ReportTest, find_spec

from sample_file import BANDWIDTH, DECK, TIMERS, UPDATES, add_curves, add_field, change_run, set_run, write_solve
from sample_study import write_study

from kontor.report.parts import Bar, Chart, Line, Section, level, lines_of
from kontor.report.statistics import Estimate, number
from kontor.report.text import percent

SVG = "data:image/svg+xml;base64,"
PLACES = [{"rank": rank, "host": f"n{rank // 5}", "cores": "0-1", "threads": "0 1"} for rank in range(20)]
RING = [{"rank": rank, "neighbour": (rank + 1) % 20, "messages": 1, "bytes": 8} for rank in range(20)]
EXCHANGE = {"name": "exchange", "count": 200, "p50": 1e-6, "p99": 3e-6, "max": 8e-6, "slowest_rank": 1}
FLOPS = {"name": "flops", "value": 4e9, "unit": "flop/s", "bytes_read": 12e9, "bytes_written": 4e9,
         "attainable": 8e9, "fraction": 0.5}
WITHHELD = {"name": "cell_updates", "value": 13.0, "unit": "1/s", "remark": "no fraction"}
SHARED = {"name": "effective_bandwidth", "value": 13.0, "unit": "B/s", "attainable": 10.0, "fraction": 1.3}
INCONCLUSIVE = {"passed": False, "conclusive": False, "measure": "max error", "error": 1e-6, "tolerance": 1e-5,
                "remark": "too coarse"}
# What differs from the sample, and rows of its report.
ROWS = {
    "all": ({}, ["app  heat", "hosts  node1", "ranks  2", "process grid  2 x 1", "pattern  nonblocking",
                 "problem  cells [40, 30]", "passed  max error  1e-06  1e-05", "cell updates  1.20 G updates/s  -  -",
                 "effective bandwidth  19.2 GB/s  32.0 GB/s  60.0 %", "other  -  -  -  -  -  2.5 %",
                 "compute  500  1.40 s  1.50 s  1.60 s  1  75.0 %", "setup  1  10.0 ms  10.0 ms  10.0 ms  0",
                 "messages  2", "bytes  16.0 kB", "working set read bandwidth  90.0 GB/s", "latency  1.00 us"]),
    "placed": ({"placement": PLACES}, ["15  n3  0-1  0 1", "... 20 ranks"]),
    "a ring of 20 ranks on 4 nodes": ({"placement": PLACES, "traffic": RING},
                                      ["messages  20", "bytes  160 B", "between nodes  32.0 B (20.0 %)"]),
    "tails, noise, energy": ({"distributions": [EXCHANGE], "noise": {"quantum": 1e-4, "p99": 1.2},
                              "energy": {"package": 40.0, "gpu_remark": "not readable: no GPU"}},
                             ["exchange  200  1.00 us  3.00 us  8.00 us  1", "quantum  100 us", "p99  1.2",
                              "package  40.0 J", "gpu remark  not readable: no GPU"]),
    # 4 Gflop/s for 2 s and 16 GB: half a flop per byte.
    "intensity": ({"figures": (FLOPS,), "repeats": (2.0,)}, ["flops  4.00 Gflop/s  8.00 Gflop/s  50.0 %  0.5"]),
    # The record decides which fraction can be: one above 1 is of sweeps that share a pass through memory.
    "fractions": ({"figures": (WITHHELD, SHARED)}, ["cell updates  13.0 /s  -  -  no fraction",
                                                    "effective bandwidth  13.0 B/s  10.0 B/s  130.0 %  -"]),
    "failed": ({"passed": False, "figures": ()}, ["FAILED  max error  1e-06  1e-05", "none: verification failed"]),
    "inconclusive": ({"verification": INCONCLUSIVE, "figures": ()},
                     ["inconclusive  max error  1e-06  1e-05", "too coarse", "none: verification inconclusive"]),
    "control characters": ({"command": "heat \x1b[2J\nplate.yaml"}, [r"command  heat \x1b[2J\nplate.yaml"]),
}


class OneRun(ReportTest):
    def test_rows(self):
        for name, (differences, rows) in ROWS.items():
            with self.subTest(name):
                self.assert_rows(self.report(self.sample("a.json", **differences)), *rows)

    def test_what_is_absent(self):
        text = self.report(self.sample("a.json"))
        self.assertIn("3 repeats: 2.00 s, 1.90 s to 2.10 s", text)
        for absent in "between nodes", "Single exchanges", "Noise", "Energy", "Matrix", "Solution", "do not quote":
            self.assertNotIn(absent, text)
        set_run(self.folder / "bare.json", {"app": "heat"})
        self.assertIn("not verified", self.report("bare.json"))
        text = self.report(self.sample("a.json", timers={**TIMERS, "checkpoint": (3, 0.5, 0.5, 0.5, 0)}))
        self.assertEqual(["checkpoint" in part for part in text.split("Outside the measured time")], [False, True])

    def test_small_numbers_are_not_zero(self):
        self.assertEqual([percent(value) for value in (0.003, 0.0003, 2e-6, 0, -0.003, 0.5)],
                         ["0.3 %", "0.03 %", "0.0002 %", "0.0 %", "-0.3 %", "50.0 %"])
        self.assertEqual([number(value) for value in (0.003, 0.0964, 1.004, 0)], ["0.003", "0.10", "1.00", "0.00"])

    def test_a_disturbed_run_says_so(self):
        """By its own noise, or as its ranks share cores; alone, and next to others."""
        self.sample("b.json", noise={"p99": 1.4})
        for member, says in (({"noise": {"p99": 847.0}}, "noise p99 is 847"),
                             ({"calibration": {"oversubscribed": True}}, "ranks and threads share cores")):
            self.sample("a.json", **member)
            self.assertIn(f"Warning: {says}: do not quote these times", self.report("a.json"))
            text = self.report("a.json", "b.json")
            self.assertIn(f"Warning: a.json: {says}: do not quote these times", text)
            self.assertEqual(text.count("do not quote"), 1)

    def test_what_is_no_number(self):
        """null in the JSON of a run."""
        record = {"app": "heat", "ranks": 2, "repeats": [2.0, 2.0], "calibration": {"latency": None},
                  "verification": {"passed": False, "error": None, "tolerance": 1e-3},
                  "history": {"iteration": [10, 20, 30], "residual": [0.5, None, None]},
                  "figures_of_merit": {"updates": {"name": "updates", "value": None, "unit": "1/s"}},
                  "timers": [{"region": "total", "calls": 1, "min": 2.0, "median": 2.0, "max": 2.0, "mean": None}]}
        self.write("a.json", json.dumps(record))
        self.write("b.json", json.dumps(record | {"repeats": [float("nan"), float("inf")]}))
        self.assert_rows(self.report("a.json"), "FAILED  error  nan  0.001", "from 5.000e-01 to nan in 20 iterations")
        self.report("a.json", "b.json", *(["--plot", "out.png"] if PLOTS else []))

    def test_chrome_trace(self):
        """Times in microseconds."""
        trace = [{"rank": 1, "region": "wait", "begin": 0.5, "end": 2.5}]
        self.report(self.sample("a.json", trace=trace), "--trace", "out.json")
        (event,) = json.loads((self.folder / "out.json").read_text())["traceEvents"]
        self.assertLessEqual({"name": "wait", "pid": 1, "cat": "communication", "ts": 5e5, "dur": 2e6}.items(),
                             event.items())
        none = self.reported(self.sample("b.json"), "--trace", "out.json")
        self.assert_fails(none, "b.json: no trace in it", "measure.trace")

    def test_times_and_ratios_by_size(self):
        add_curves(self.folder / self.sample("a.json", app="pingpong"))
        self.assert_rows(self.report("a.json"), "64  512 B  1.01 us +- 1.0 %  1.01 us +- 1.0 %  1.000 [0.990, 1.010]",
                         "16384  131 kB  2.64 us +- 1.0 %  2.69 us +- 1.0 %  1.020 [1.010, 1.030]")
        change_run(self.folder / "a.json", lambda run: run.update(curves=run["curves"][:3], ratios=run["ratios"][:1]))
        self.assert_rows(self.report("a.json"), "1024  8.19 kB  1.10 us +- 1.0 %  -  -")

    def test_parts_of_the_time(self):
        """By time, with the ratio to the fastest; what moves nothing is the last."""
        add_curves(self.folder / self.sample("a.json", app="pingpong"), split=True)
        text = self.report("a.json")
        self.assert_rows(text, "size  series  time  of fastest  pack  post  wait  unpack  messages  bytes",
                         "256  view  51.2 us  2.00  5.12 us  10.2 us  25.6 us  5.12 us  4  8.19 kB")
        order = [line.split()[1] for line in text.splitlines() if line.startswith("   256")]
        self.assertEqual(order, ["shm", "view", "null"])


class Comparison(ReportTest):
    def test_speed_is_relative_to_the_first(self):
        self.sample("b.json", backend="raw", overlap=0, figures=({**UPDATES, "value": 1.5e9}, BANDWIDTH))
        self.sample("d.json", placement=PLACES[:2])
        text = self.report(self.sample("a.json"), "b.json", self.sample("c.json", passed=False, figures=()), "d.json")
        self.assertIn("speed: relative to a.json, above 1 is faster", text)
        self.assert_rows(
            text, "a.json  view, overlap on  2  2.00 s  1.20 G updates/s  60.0 %  22.5 %  passed  1.000",
            "b.json  raw, overlap off  2  2.00 s  1.50 G updates/s  60.0 %  22.5 %  passed  1.250",
            "c.json  view, overlap on  2  2.00 s  -  -  22.5 %  FAILED  -",
            "d.json  view, overlap on  2 x 2 threads  2.00 s  1.20 G updates/s  60.0 %  22.5 %  passed  1.000")

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
class Pictures(ReportTest):
    def test_files(self):
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
        for places, shape, begin in (("Cell", (30, 40), 0.0), ("Point", (30, 40), -0.0125), ("Cell", (6, 30, 40), 0.0)):
            path = self.folder / self.sample("a.h5")
            add_field(path, shape=shape)
            with h5py.File(path, "a") as file:
                file[f"VTKHDF/{places}Data/temperature"] = file["fields/temperature"]
                middle = file["fields/temperature"][3, 0, 0] if len(shape) == 3 else 0
            with self.subTest(places, shape=shape):
                (chart,) = field_charts(str(path))
                self.assertIn(f"{places.lower()}s)" + ", z = 0.35" * (len(shape) == 3), chart.title)
                self.assertEqual((chart.image.values.shape, chart.image.values[0, 0]), ((30, 40), middle))
                for found, expected in zip(chart.image.extent[:2], (begin, begin + 1)):
                    self.assertAlmostEqual(found, expected)
            path.unlink()

    def test_bands(self):
        """Of intervals, to whose ends the axis reaches; each in the colour of its line, and pale."""
        from matplotlib.figure import Figure

        from kontor.report.draw import draw
        points = [(x, Estimate(1 / x, 0.9 / x, 9 / x)) for x in (1, 2, 4)]
        lines = lines_of([("raw", points), ("view", points), ("alone", [(1, Estimate(1.0))])])
        for log in False, True:
            axes = Figure().subplots()
            draw(Chart("", "workers", "time", [*lines, level("ideal", 1.0, lines)], log_x=log, log_y=log), axes)
            self.assertEqual([band.get_alpha() for band in axes.collections], [0.2, 0.2])
            self.assertGreaterEqual(axes.get_ylim()[1], 9)


def charts_of(page):
    """The texts of each chart of a page, which is well-formed XML."""
    images = [one.get("src") for one in ElementTree.fromstring(page).iter("img")]
    charts = [ElementTree.fromstring(base64.b64decode(source.removeprefix(SVG))) for source in images]
    return [[text.text for text in chart.iter("{http://www.w3.org/2000/svg}text")] for chart in charts]


@unittest.skipUnless(PLOTS and find_spec("jinja2"), "no matplotlib or no jinja2")
class Pages(ReportTest):
    def page(self, *files):
        self.report(*files, "--html", "page.html")
        return (self.folder / "page.html").read_text(encoding="utf-8")

    def test_a_study(self):
        """With all charts and tables; it loads nothing and has no script."""
        write_study(self.folder / "study")
        page = self.page("study")
        charts = charts_of(page)
        self.assertLess(len(page), 500_000)
        self.assertEqual(len(charts), 6, "times, efficiency, ratios, roofline, regions of two series")
        self.assertGreater(page.count("<table>"), 5)
        refers = [value for one in ElementTree.fromstring(page).iter() for name, value in one.items()
                  if name in ("src", "href", "data", "action")]
        self.assertEqual([to for to in refers if not to.startswith(("#", "data:,", SVG))], [])
        self.assertNotRegex(page, r"https?:|<script")
        self.assertLessEqual({"raw", "view", "workers", "8", "2 s"}, set(charts[0]))

    def test_runs(self):
        """The same page again, whatever a matplotlibrc says."""
        made = self.page(self.sample("a.json"), self.sample("b.json", repeats=(3.0,)))
        self.assertEqual(len(charts_of(made)), 1)
        from matplotlib import rc_context
        with rc_context({"text.usetex": True, "font.size": 30}):
            self.assertEqual(self.page("a.json", "b.json"), made)

    def test_words_of_a_file_are_no_markup(self):
        page = self.page(self.sample("a.json", command="heat <script>alert(1)</script> \x1b[2J"))
        self.assertIn("heat &lt;script&gt;alert(1)&lt;/script&gt; \\x1b[2J", page)
        from kontor.report.draw import html
        lines = Chart("<b>", "<i>\x1b", "<y>\x1b", lines=[Line('<u>"$x$\x1b', "#000000", [1, 2], [1, 2])])
        bars = Chart("t", "x", bars=[Bar("<u>", [("<s>", 1.0)], "<b>")])
        page = html("<em>", [Section("<p>", ["<a>", lines, bars])])
        self.assertNotRegex(page, r"<(b|i|u|s|em|a)>")
        for shown, words in zip(charts_of(page), ({"<i>\\x1b", "<y>\\x1b", '<u>"$x$\\x1b'}, {"<u>", "<s>", " <b>"})):
            self.assertLessEqual(words, set(shown))
