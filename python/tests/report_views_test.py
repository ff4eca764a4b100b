# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The views of one run: who sends to whom, tails, noise, energy, timelines; and of several: rooflines and curves over sizes.
And the pages."""

import base64
import json
import re
import unittest
from xml.etree import ElementTree

from report_case import ReportTest, find_spec
from sample_file import add_curves, write_solve
from sample_study import write_study

from kontor.report.show import energy_sections
from kontor.report.rates import place_of
from kontor.report.record import Record, read_record
from kontor.report.report_parts import Bar, Chart, Line, Section, Table
from kontor.report.reports import ROOM, html, pixels
from kontor.report.trace import matrix_sections

MOST = 500_000  # bytes of a page
SVG = "data:image/svg+xml;base64,"
REFERENCES = ("src", "href", "data", "action")
# Half of rank 1's exchange is covered by its computing, three quarters of rank 0's, which is longer.
TRACE = [{"rank": rank, "region": region, "begin": begin, "end": end} for rank, region, begin, end in (
    (0, "compute", 0.0, 2.0), (1, "compute", 0.0, 1.0), (0, "wait", 0.5, 2.5), (1, "wait", 0.5, 1.5), (0, "compute", 2.5, 4.0))]


def ring(hosts, size=lambda rank: 8):
    """Ranks on these hosts, each of which sends one message to the next."""
    traffic = [{"rank": rank, "neighbour": (rank + 1) % len(hosts), "messages": 1, "bytes": size(rank)} for rank in range(len(hosts))]
    placement = [{"rank": rank, "host": host} for rank, host in enumerate(hosts)]
    return Record("a.h5", {"hosts": hosts}, traffic=traffic, placement=placement)


class Views(ReportTest):
    def with_members(self, **members):
        """A run whose record has these, too."""
        return self.changed(lambda run: run.update(members), field=False)

    def test_nothing_is_shown_of_what_is_absent(self):
        text = self.report(self.sample("a.h5"))
        for title in "Timeline", "Single exchanges", "Noise", "Energy", "Roofline", "Throughput":
            self.assertNotIn(f"\n{title}", text)

    def test_matrix_by_rank(self):
        """A ring of 12 ranks: rank r sends 100 (r + 1) bytes to the next."""
        (section,) = matrix_sections(ring(["n0"] * 12, lambda rank: 100 * (rank + 1)))
        table, *words, chart = section.parts
        self.assertEqual(table.rows[1][:5], ["1", "-", "-", "200 B", "-"])
        self.assertEqual(words, ["all ranks: 12 messages, 7.80 kB", "inside nodes 7.80 kB, between nodes 0.00 B (0.0 %)"])
        self.assertEqual((chart.image.values[11, 0], chart.image.names[11]), (1200, "11"))

    def test_matrix_by_node(self):
        """20 ranks in a ring on 4 nodes of 5: each node sends 5 messages, one of them to the next node."""
        (section,) = matrix_sections(ring([f"n{rank // 5}" for rank in range(20)]))
        self.assertEqual(section.note, "exact, by node")
        self.assertEqual(section.parts[0].rows[0], ["n0", "32.0 B", "8.00 B", "-", "-", "40.0 B"])
        self.assertIn("inside nodes 128 B, between nodes 32.0 B (20.0 %)", section.parts)

    def test_matrix_of_many_ranks_on_one_node(self):
        """1000 ranks in a ring: 250 squares of 4 ranks, which send 3 messages among themselves and 1 to the next."""
        (section,) = matrix_sections(ring(["n0"] * 1000))
        self.assertEqual(section.charts[0].image.values[:2, :2].tolist()[0], [24.0, 8.0])
        self.assertEqual(section.parts[0].rows[0], ["0...", "8.00 B", "24.0 B", "2", "24.0 B"])

    def test_distributions_and_noise(self):
        """Noise is ratios to the fastest."""
        noise = {"quantum": 1e-4, "samples": 400, "p50": 1.01, "p99": 1.2, "max": 3.5, "slowest_rank": 1}
        exchange = {"name": "exchange", "count": 200, "p50": 1e-6, "p95": 2e-6, "p99": 3e-6, "max": 8e-6, "slowest_rank": 1}
        name = self.with_members(distributions=[exchange], noise=noise)
        self.assert_rows(self.report(name), "exchange  200  1.00 µs  2.00 µs  3.00 µs  8.00 µs  8.0  1", "100 µs  400  1.01  1.2  3.5  1")

    def test_energy(self):
        """1.2 G updates/s for 2 s by 40 J: 20 W, 60 M updates a J; what cannot be read is told with its reason."""
        text = self.report(self.with_members(energy={"package": 40.0, "gpu_remark": "not readable: no GPU"}))
        self.assert_rows(text, "processor packages  40.0 J  20.0 W  60.0 M updates/J")
        self.assertIn("GPUs: not readable: no GPU", text)
        both = Record("a.h5", {}, repeats=[2.0], energy={"package": 40.0, "gpu": 60.0})
        self.assertEqual(energy_sections(both)[0].parts[0].rows[-1], ["all", "100 J", "50.0 W", "-"])

    def test_chrome_trace(self):
        self.report(self.with_members(trace=TRACE), "--trace", "out.json")
        events = json.loads((self.folder / "out.json").read_text())["traceEvents"]
        self.assertEqual([event["pid"] for event in events if event["ph"] == "M"], [0, 1])
        wait = next(event for event in events if event["name"] == "wait")
        self.assertEqual((wait["pid"], wait["cat"], wait["ts"], wait["dur"]), (0, "communication", 5e5, 2e6))

    def test_traces_that_cannot_be_written(self):
        self.with_members(trace=TRACE)
        for name, says in ("out.txt", "ends in .json"), ("no/out.json", "no/out.json cannot be written"):
            self.assert_fails(self.reported("a.h5", "--trace", name), says)
        self.assert_fails(self.reported(self.sample("b.h5"), "--trace", "out.json"), "b.h5: no trace in it", "measure.trace")
        self.with_members(trace=[{"rank": 0, "region": "gemm", "begin": None, "end": 1.0}])
        self.assert_fails(self.reported("a.h5", "--trace", "out.json"), "a.h5", "damaged: /run/trace lacks begin")

    def test_roofline(self):
        """4 Gflop/s for 2 s and 16 GB: half a flop per byte; 8 Gflop/s would be attainable, by 16 GB/s."""
        figure = {"name": "flops", "value": 4e9, "unit": "flop/s", "bytes_read": 12e9, "bytes_written": 4e9, "attainable": 8e9}
        text = self.report(self.sample("a.h5", figures=(figure,), repeats=(2.0,)))
        self.assert_rows(text, "a.h5  0.5  4.00 Gflop/s  8.00 Gflop/s  50.0 %")
        self.assertEqual(place_of(read_record(str(self.folder / "a.h5")), "a").ceilings, {"attainable": 16e9, "memory, triad": 32e9})

    def test_throughput_over_size(self):
        """Two runs that differ in size; not of one size."""
        for values, shown in ((1000, 4000), True), ((1000, 1000), False):
            files = [self.sample(f"{number}.h5", field_memory=value, figures=({"name": "rate", "value": 1e6 * value, "unit": "1/s"},))
                     for number, value in enumerate(values)]
            self.report(*files, "--html", "out.html")
            text = (self.folder / "out.html").read_text(encoding="utf-8")
            self.assertEqual(["Rate over size" in text, "4.00 kB" in text], [shown] * 2)


class Tree:
    """A page, which is well-formed XML: its elements, what refers to somewhere else, the charts and their words."""

    def __init__(self, text):
        self.all = list(ElementTree.fromstring(text).iter())
        self.refers = [value for one in self.all for name, value in one.items() if name in REFERENCES]
        images = [one for one in self.all if one.tag == "img"]
        self.charts = [ElementTree.fromstring(base64.b64decode(one.get("src").removeprefix(SVG))) for one in images]
        self.words = [one.get("alt") for one in images]

    def count(self, tag):
        return sum(one.tag == tag for one in self.all)


def texts(chart):
    return [element.text for element in chart.iter("{http://www.w3.org/2000/svg}text")]


@unittest.skipUnless(find_spec("matplotlib") and find_spec("jinja2"), "no matplotlib or no jinja2")
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
        self.assertEqual(len(tree.charts), 6, "times, efficiency, ratios, regions of two series, fractions")
        self.assertGreater(tree.count("table"), 8)
        self.assertEqual(tree.count("table"), len(re.findall(r'<div class="scroll[^>]*><table>', text)))
        self.assertEqual([to for to in tree.refers if not to.startswith(("#", "data:,", SVG))], [])
        self.assertNotRegex(text, r"https?:|<script")
        self.assertTrue({"raw", "view", "workers", "8", "2 s"} <= set(texts(tree.charts[0])), texts(tree.charts[0]))
        self.assertEqual(tree.words[0], "time over workers: raw; view; ideal, from 1 rank (p000)")
        self.assertIn("; 8 ranks: 338 ms (compute 246 ms, pack 16.9 ms, wait 74.2 ms)", tree.words[3])

    def test_runs(self):
        self.sample("a.h5", field=False)
        add_curves(self.folder / self.sample("curves.h5", field=False), curves=("1-D int",))
        write_solve(self.folder / "solve.h5")
        write_solve(self.folder / "other.h5", method="merged")
        for files, charts in (("a.h5",), 2), (("curves.h5",), 5), (("solve.h5",), 3), (("a.h5", "solve.h5", "other.h5"), 6):
            with self.subTest(files):
                self.assertEqual(len(Tree(self.page(*files)).charts), charts)
        made = self.page("a.h5")
        from matplotlib import rc_context
        with rc_context({"text.usetex": True, "font.size": 30}):
            self.assertEqual(self.page("a.h5"), made, "made again, whatever a matplotlibrc says")

    def test_tables_fit_a_window(self):
        """In their own box, which scrolls; those wider than the window are set smaller and folded."""
        for length, box in (40, "scroll"), (150, "scroll wide"):
            table = Table(["name", "value"], [["a" * length, "1"]])
            text = html("t", [Section("s", [table])])
            self.assertEqual((re.findall(r'<div class="(scroll[ a-z]*)"[^>]*><table>', text), pixels(table) < ROOM), ([box], box == "scroll"))
            self.assertRegex(text, r"\.scroll \{ overflow-x: auto;")
            self.assertEqual(re.findall(r"body \{[^}]*max-width: (\w+);", text)[0], "75rem", "1,200 pixels at 16 a rem")

    def test_words_of_a_file_are_no_markup(self):
        text = self.page(self.sample("a.h5", command="heat <script>alert(1)</script> \x1b[2J"))
        self.assertIn("heat &lt;script&gt;alert(1)&lt;/script&gt; \\x1b[2J", text)
        lines = Chart("<b>", "<i>\x1b", "<y>\x1b", lines=[Line('<u>"$x$\x1b', "#000000", [1, 2], [1, 2])])
        bars = Chart("t", "x", bars=[Bar("<u>", [("<s>", 1.0)], "<b>")])
        text = html("<em>", [Section("<p>", ["<a>", lines, bars])])
        self.assertNotRegex(text, r"<(b|i|u|s|em|a)>")
        shown = list(map(texts, Tree(text).charts))
        self.assertTrue({"<i>\\x1b", "<y>\\x1b", '<u>"$x$\\x1b'} <= set(shown[0]), shown)
        self.assertTrue({"<u>", "<s>", " <b>"} <= set(shown[1]), shown)
