# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The views of a run: traffic, tails, noise, energy, timelines and rooflines. And pages."""

import base64
import json
import unittest
from xml.etree import ElementTree

from report_case import PLOTS, ReportTest, find_spec
from sample_study import write_study

from kontor.report.parts import Bar, Chart, Line, Section, level, lines_of
from kontor.report.statistics import Estimate

MOST = 500_000  # bytes of a page
SVG = "data:image/svg+xml;base64,"
REFERENCES = ("src", "href", "data", "action")
# Half of rank 1's exchange is covered by its computing, three quarters of rank 0's, which is longer.
TRACE = [{"rank": rank, "region": region, "begin": begin, "end": end} for rank, region, begin, end in (
    (0, "compute", 0.0, 2.0), (1, "compute", 0.0, 1.0), (0, "wait", 0.5, 2.5), (1, "wait", 0.5, 1.5))]


class Views(ReportTest):
    def with_members(self, **members):
        """A run whose record has these, too."""
        return self.changed(lambda run: run.update(members))

    def test_traffic_between_nodes(self):
        """Of a ring of 20 ranks on 4 nodes of 5; unknown where the ranks are not placed."""
        traffic = [{"rank": rank, "neighbour": (rank + 1) % 20, "messages": 1, "bytes": 8} for rank in range(20)]
        placement = [{"rank": rank, "host": f"n{rank // 5}"} for rank in range(20)]
        rows = "messages  20", "bytes  160 B", "between nodes  32.0 B (20.0 %)"
        self.assert_rows(self.report(self.with_members(traffic=traffic, placement=placement)), *rows)
        self.assertNotIn("between nodes", self.report(self.with_members(traffic=traffic)))

    def test_distributions_noise_and_energy(self):
        """Noise is ratios."""
        exchange = {"name": "exchange", "count": 200, "p50": 1e-6, "p99": 3e-6, "max": 8e-6, "slowest_rank": 1}
        text = self.report(self.with_members(distributions=[exchange], noise={"quantum": 1e-4, "p99": 1.2},
                                             energy={"package": 40.0, "gpu_remark": "not readable: no GPU"}))
        self.assert_rows(text, "exchange  200  1.00 us  3.00 us  8.00 us  1", "quantum  100 us", "p99  1.2",
                         "package  40.0 J", "gpu remark  not readable: no GPU")

    def test_chrome_trace(self):
        self.report(self.with_members(trace=TRACE), "--trace", "out.json")
        events = json.loads((self.folder / "out.json").read_text())["traceEvents"]
        wait = next(event for event in events if event["name"] == "wait")
        self.assertEqual((wait["pid"], wait["cat"], wait["ts"], wait["dur"]), (0, "communication", 5e5, 2e6))
        none = self.reported(self.sample("b.json"), "--trace", "out.json")
        self.assert_fails(none, "b.json: no trace in it", "measure.trace")


    def test_roofline(self):
        """4 Gflop/s for 2 s and 16 GB: half a flop per byte; 8 Gflop/s would be attainable. statistics_test.py has
        ceilings."""
        figure = {"name": "flops", "value": 4e9, "unit": "flop/s", "bytes_read": 12e9, "bytes_written": 4e9,
                  "attainable": 8e9, "fraction": 0.5}
        text = self.report(self.sample("a.json", figures=(figure,), repeats=(2.0,)))
        self.assert_rows(text, "flops  4.00 Gflop/s  8.00 Gflop/s  50.0 %  0.5")


class Tree:
    """A page, which is well-formed XML: its elements, what refers to somewhere else and the charts."""

    def __init__(self, text):
        self.all = list(ElementTree.fromstring(text).iter())
        self.refers = [value for one in self.all for name, value in one.items() if name in REFERENCES]
        images = [one for one in self.all if one.tag == "img"]
        self.charts = [ElementTree.fromstring(base64.b64decode(one.get("src").removeprefix(SVG))) for one in images]

    def count(self, tag):
        return sum(one.tag == tag for one in self.all)


def texts(chart):
    return [element.text for element in chart.iter("{http://www.w3.org/2000/svg}text")]


@unittest.skipUnless(PLOTS, "no matplotlib")
class Charts(unittest.TestCase):
    def test_error_bars_do_not_lie_on_one_another(self):
        """Of two lines with the same points; the axis still ends where the intervals do."""
        from matplotlib.figure import Figure

        from kontor.report.draw import draw
        points = [(x, Estimate(1 / x, 0.9 / x, 9 / x)) for x in (1, 2, 4)]
        lines = lines_of([("raw", points), ("view", points)])
        for log in False, True:
            axes = Figure().subplots()
            draw(Chart("", "workers", "time", [*lines, level("ideal", 1.0, lines)], log_x=log, log_y=log), axes)
            axes.figure.canvas.draw()
            bars = [bars.get_transform().transform(bars.get_segments()[1])[0][0]
                    for container in axes.containers for bars in container.lines[2]]
            self.assertEqual(len(bars), 2)
            self.assertGreater(abs(bars[1] - bars[0]), 4)
            self.assertGreaterEqual(axes.get_ylim()[1], 9)


@unittest.skipUnless(PLOTS and find_spec("jinja2"), "no matplotlib or no jinja2")
class Pages(ReportTest):
    def page(self, *files):
        self.report(*files, "--html", "page.html")
        return (self.folder / "page.html").read_text(encoding="utf-8")

    def test_a_study(self):
        """With all charts and tables; it loads nothing and has no script."""
        write_study(self.folder / "study")
        text = self.page("study")
        tree = Tree(text)
        self.assertLess(len(text), MOST)
        self.assertEqual(len(tree.charts), 6, "times, efficiency, ratios, roofline, regions of two series")
        self.assertGreater(tree.count("table"), 5)
        self.assertEqual([to for to in tree.refers if not to.startswith(("#", "data:,", SVG))], [])
        self.assertNotRegex(text, r"https?:|<script")
        self.assertTrue({"raw", "view", "workers", "8", "2 s"} <= set(texts(tree.charts[0])), texts(tree.charts[0]))

    def test_runs(self):
        """The same page again, whatever a matplotlibrc says."""
        made = self.page(self.sample("a.json"), self.sample("b.json", repeats=(3.0,)))
        self.assertEqual(len(Tree(made).charts), 1)
        from matplotlib import rc_context
        with rc_context({"text.usetex": True, "font.size": 30}):
            self.assertEqual(self.page("a.json", "b.json"), made)

    def test_words_of_a_file_are_no_markup(self):
        text = self.page(self.sample("a.json", command="heat <script>alert(1)</script> \x1b[2J"))
        self.assertIn("heat &lt;script&gt;alert(1)&lt;/script&gt; \\x1b[2J", text)
        from kontor.report.draw import html
        lines = Chart("<b>", "<i>\x1b", "<y>\x1b", lines=[Line('<u>"$x$\x1b', "#000000", [1, 2], [1, 2])])
        bars = Chart("t", "x", bars=[Bar("<u>", [("<s>", 1.0)], "<b>")])
        text = html("<em>", [Section("<p>", ["<a>", lines, bars])])
        self.assertNotRegex(text, r"<(b|i|u|s|em|a)>")
        shown = list(map(texts, Tree(text).charts))
        self.assertTrue({"<i>\\x1b", "<y>\\x1b", '<u>"$x$\\x1b'} <= set(shown[0]), shown)
        self.assertTrue({"<u>", "<s>", " <b>"} <= set(shown[1]), shown)
