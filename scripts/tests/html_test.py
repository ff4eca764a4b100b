# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages that kontor report writes: what is in them, and how a browser shows them."""

import base64
import re
import time
import unittest
from html.parser import HTMLParser

import browser
from report_case import ReportTest

from sample_curves import add_curves
from sample_solve import write_solve
from sample_study import write_study

try:
    import jinja2  # noqa: F401
except ModuleNotFoundError:
    print("skipped: no jinja2")
    raise SystemExit(77) from None

from kontor_report.axis import linear_axis, log_axis, nice
from kontor_report.html_page import html
from kontor_report.report_parts import Bar, Chart, Line, Section

CHROMIUM = browser.find()
MOST = 500_000  # bytes of a page


class Tree(HTMLParser):
    """Fails where an element is not closed; counts names, and notes what refers to somewhere else."""

    def __init__(self):
        super().__init__()
        self.open, self.count, self.refers = [], {}, []

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.refers += [value for name, value in attrs if name in ("src", "href", "xlink:href", "data", "action")]
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> ends {self.open[-3:]}"
        self.open.pop()


class PageTest(ReportTest):
    def page(self, *files):
        self.report(*files, "--html", "page.html")
        return (self.folder / "page.html").read_text(encoding="utf-8")

    def tree(self, text):
        tree = Tree()
        tree.feed(text)
        self.assertEqual(tree.open, [])
        return tree


class Pages(PageTest):
    def test_a_study(self):
        write_study(self.folder / "study")
        text = self.page("study")
        tree = self.tree(text)
        self.assertLess(len(text), MOST)
        self.assertEqual(tree.count["svg"], 7, "times, efficiency, ratios, regions of two series, fractions, predictions")
        self.assertGreater(tree.count["table"], 8)
        self.assertEqual([to for to in tree.refers if not to.startswith(("#", "data:,"))], [])
        self.assertNotRegex(text, r"https?:")
        self.assertIn("raw, 8 ranks: 0.74 [0.", text)

    def test_runs(self):
        for name, add in ("a.h5", None), ("curves.h5", add_curves):
            self.sample(name, field=False)
            if add:
                add(self.folder / name)
        write_solve(self.folder / "solve.h5")
        write_solve(self.folder / "other.h5", method="merged")
        for files, charts in (("a.h5",), 1), (("curves.h5",), 7), (("solve.h5",), 2), (("a.h5", "solve.h5", "other.h5"), 6):
            with self.subTest(files):
                tree = self.tree(self.page(*files))
                self.assertEqual(tree.count["svg"], charts)

    def test_words_of_a_file_are_no_markup(self):
        text = self.page(self.sample("a.h5", command="heat <script>alert(1)</script> \x1b[2J"))
        self.assertIn("heat &lt;script&gt;alert(1)&lt;/script&gt; \\x1b[2J", text)
        chart = Chart("<b>", "<i>", lines=[Line("<u>", "#000000", [1, 2], [1, 2])])
        bars = Chart("t", "x", bars=[Bar("<u>", [("<s>", 1.0)], "<b>")])
        self.assertNotRegex(re.sub(r"(?s)<(style|script)>.*?</\1>", "", html("<em>", [Section("<p>", ["<a>", chart, bars])])), r"<(b|i|u|s|em|a)>")

    def test_axes(self):
        self.assertEqual([nice(step) for step in (0.011, 0.3, 1, 7)], [0.02, 0.5, 1, 10])
        self.assertEqual(linear_axis([0, 0.93], 0, 100).ticks[-1], 1)
        self.assertEqual(linear_axis([0, 10], 0, 100).at(5), 50)
        self.assertAlmostEqual(log_axis([1, 100], 0, 100).at(10), 50)
        self.assertEqual(log_axis([1, 2, 4], 0, 100, only=[1, 2, 4]).ticks, [1, 2, 4])
        for values in [3.0], [0.0], [-1.0, 2.0]:
            axis = linear_axis(values, 0, 100)
            self.assertTrue(all(-1e-9 <= axis.at(value) <= 100 + 1e-9 for value in values), values)


@unittest.skipUnless(CHROMIUM, "no Chromium: apt-get install chromium-headless-shell")
class InBrowser(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser(CHROMIUM)
        cls.addClassCleanup(cls.browser.close)

    def show(self, scripts=True):
        write_study(self.folder / "study", ranks=(1, 2, 4), repeats=4)
        self.page("study")
        self.browser.open(self.folder / "page.html", scripts)

    def test_is_shown(self):
        """Charts are seen, nothing is wrong, nothing else is loaded."""
        self.show()
        sizes = self.browser.value("[...document.querySelectorAll('svg.chart')].map(c => c.getBoundingClientRect()).map(b => [b.width, b.height])")
        self.assertEqual(len(sizes), 7)
        self.assertTrue(all(width > 300 and height > 60 for width, height in sizes), sizes)
        self.assertEqual(self.browser.value("document.documentElement.scrollWidth <= window.innerWidth"), True, "no scrolling aside")
        self.assertEqual(self.browser.told("Log.entryAdded"), [])
        self.assertEqual(self.browser.told("Runtime.exceptionThrown"), [])
        self.assertEqual(self.browser.told("Runtime.consoleAPICalled"), [])
        loaded = [event["request"]["url"] for event in self.browser.told("Network.requestWillBeSent")]
        self.assertEqual([url for url in loaded if not url.startswith("data:")], [f"file://{self.folder}/page.html"])
        picture = base64.b64decode(self.browser.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"])
        self.assertGreater(len(picture), 20_000)
        blue = self.browser.value("getComputedStyle(document.querySelector('[data-series=raw] polyline')).stroke")
        self.assertEqual(blue, "rgb(0, 114, 178)")

    def test_series_are_chosen(self):
        self.show()
        seen = "[...document.querySelector('figure').querySelectorAll('.series')].map(s => getComputedStyle(s).display != 'none')"
        before = self.browser.value(seen)
        self.assertTrue(all(before))
        self.browser.value("document.querySelector('.legend button').focus()")
        self.browser.press("Enter")
        self.assertEqual(self.browser.value(seen), [False, *before[1:]])
        self.assertEqual(self.browser.value("document.querySelector('.legend button').getAttribute('aria-pressed')"), "false")
        self.browser.press("Enter")
        self.assertEqual(self.browser.value(seen), before)

    def test_values_are_shown(self):
        self.show()
        self.browser.value("document.querySelector('.chart').scrollIntoView()")
        end = time.monotonic() + 5
        while self.browser.value("document.getElementById('value').hidden") and time.monotonic() < end:  # a page scrolls when it is drawn
            x, y = self.browser.value("(b => [b.x + b.width / 2, b.y + b.height / 2])(document.querySelector('.chart .point').getBoundingClientRect())")
            self.browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x - 40, y=y)
            self.browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
            time.sleep(0.05)
        self.assertRegex(self.browser.value("document.getElementById('value').textContent"), r"raw, 1 rank: 2.00 s \[")
        self.browser.press("Escape")
        self.assertEqual(self.browser.value("document.getElementById('value').hidden"), True)

    def test_keyboard(self):
        """Tab comes by every link, table, button and point, in the order of the page, and each shows that it has the focus."""
        self.show()
        wanted = self.browser.value("document.querySelectorAll('a[href], button, [tabindex]').length")
        self.assertGreater(wanted, 60)
        self.browser.value("window.visited = new Set(); window.bare = []; document.addEventListener('focusin', e => { visited.add(e.target);"
                           "const s = getComputedStyle(e.target); if (s.outlineStyle == 'none' && s.strokeWidth != '2px') bare.push(e.target.outerHTML) })")
        for _ in range(wanted):
            self.browser.press("Tab")
        self.assertEqual(self.browser.value("visited.size"), wanted)
        self.assertEqual(self.browser.value("bare"), [])
        self.assertEqual(self.browser.value("document.querySelectorAll('[tabindex]:not([tabindex=\"0\"])').length"), 0)

    def test_without_scripts(self):
        """All is there, and the browser's own titles tell the values."""
        self.show(scripts=False)
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        self.assertIn("<title>raw, 4 ranks: ", page)
        pdf = base64.b64decode(self.browser.ask("Page.printToPDF", printBackground=True)["data"])
        self.assertGreater(len(pdf), 30_000)

    def test_prints(self):
        """On A4, nothing wider than the page, and what only a screen can do is left out."""
        self.show()
        self.browser.ask("Emulation.setEmulatedMedia", media="print")
        self.addCleanup(self.browser.ask, "Emulation.setEmulatedMedia", media="")
        self.browser.ask("Emulation.setDeviceMetricsOverride", width=680, height=990, deviceScaleFactor=1, mobile=False)  # 180 mm
        self.addCleanup(self.browser.ask, "Emulation.clearDeviceMetricsOverride")
        self.assertEqual(self.browser.value("getComputedStyle(document.querySelector('nav')).display"), "none")
        wide = self.browser.value("[...document.querySelectorAll('table, svg')].filter(t => t.getBoundingClientRect().right > 690).map(t => t.textContent.slice(0, 60))")
        self.assertEqual(wide, [])
        pdf = base64.b64decode(self.browser.ask("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)["data"])
        self.assertTrue(3 <= len(re.findall(rb"/Type /Page\b", pdf)) <= 12, len(re.findall(rb"/Type /Page\b", pdf)))


if __name__ == "__main__":
    unittest.main()
