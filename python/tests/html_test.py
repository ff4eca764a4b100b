# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages that kontor report writes."""

import base64
import re
import unittest
from html.parser import HTMLParser
from xml.etree import ElementTree

from report_case import ReportTest, find_spec
from sample_file import add_curves
from sample_solve import write_solve
from sample_study import write_study

from kontor.report.report_parts import Bar, Chart, Line, Section, Table
from kontor.report.reports import ROOM, html, pixels

MOST = 500_000  # bytes of a page
SVG = "data:image/svg+xml;base64,"


class Tree(HTMLParser):
    """Fails where an element is not closed; counts names, and notes what refers to somewhere else and the charts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.count, self.refers, self.charts, self.words = [], {}, [], [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in ("meta", "link", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.refers += [value for name, value in attrs if name in ("src", "href", "xlink:href", "data", "action")]
        if tag == "img":
            image = dict(attrs)
            self.charts.append(ElementTree.fromstring(base64.b64decode(image["src"].removeprefix(SVG))))
            self.words.append(image["alt"])

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> ends {self.open[-3:]}"
        self.open.pop()


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
        self.assertEqual(len(tree.charts), 7, "times, efficiency, ratios, regions of two series, fractions, predictions")
        self.assertGreater(tree.count["table"], 8)
        self.assertEqual(tree.count["table"], len(re.findall(r'<div class="scroll[^>]*><table>', text)))
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
        self.assertEqual(self.page("a.h5"), self.page("a.h5"), "made again")

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
