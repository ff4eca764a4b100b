# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report of a study's folder, as Markdown."""

import json
import re

from report_case import ReportTest

from sample_study import write_study

from kontor.messages import SHARED_CORES
from kontor.report.parts import BACKENDS
from kontor.report.study import read_study
from kontor.report.study_sections import study_sections


class StudyReport(ReportTest):
    def study(self, **differences):
        write_study(self.folder / "study", **differences)
        return self.report("study")

    def sections(self, **differences):
        write_study(self.folder / "study", **differences)
        return study_sections(read_study(str(self.folder / "study")))

    def changed_plan(self, change):
        """The report after change(plan) of its study.json."""
        file = self.folder / "study/study.json"
        plan = json.loads(file.read_text())
        change(plan)
        file.write_text(json.dumps(plan))
        return self.report("study")

    def rows(self, text, section):
        """The cells of the tables of a section."""
        body = text.split(f"## {section}\n")[1].split("\n## ")[0]
        return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                for line in body.splitlines() if line.startswith("|")]

    def test_strong(self):
        """Each row by its series and number of workers."""
        text = self.study()
        self.assertEqual(re.findall(r"^#+ (.*)$", text, re.MULTILINE), [
            "sample", "Summary", "Scaling", "Backends", "Rates", "Where the time goes", "POP metrics", "Failures",
            "Not run", "Provenance"])
        for sentence in ("9 points of heat, 40 runs: 40 passed, 0 failed; 1 point cannot run here.",
                         "On 8 ranks view is the fastest with 322 ms.",
                         "Its lowest factor: computational scalability 0.81."):
            self.assertIn(sentence, text)
        scaling = self.rows(text, "Scaling")
        self.assertEqual(scaling[0], ["series", "workers", "time", "speed-up", "efficiency", "runs", "noise p99"])
        self.assertEqual(scaling[2], ["raw", "1 rank *", "2.00 s [1.99 s, 2.01 s]", "1.00", "1.00", "5", "1.02"])
        self.assertEqual([cell.split()[0] for cell in scaling[5]], ["raw", "8", "338", "5.93", "0.74", "5", "1.02"])
        self.assertEqual([cell.split(" [")[0] for cell in self.rows(text, "POP metrics")[4]],
                         ["raw", "4 ranks", "0.96", "0.85", "0.82", "0.90", "0.74", "6.1 %",
                          "communication efficiency 0.85"])
        for section, row in (("Not run", ["p008", "1024 ranks, backend raw", "needs 1024 cores; there are 2 here"]),
                             ("Provenance", ["seed", "4711"])):
            self.assertIn(row, self.rows(text, section))
        # view's 322.5 ms over raw's 337.5 ms: a ratio below 1 is faster; on 2 ranks it is slower.
        relative = {row[2]: row for row in self.rows(text, "Backends")}
        self.assertEqual([relative["8"][:2], relative["8"][5].split()[0], relative["8"][6], relative["2"][6]],
                         [["view", "raw"], "0.956", "faster", "slower"])

    def test_charts(self):
        """A backend has its colour everywhere. A point below 1 is faster."""
        sections = self.sections(backends=("shm", "view"))
        lines = [line for section in sections for chart in section.charts for line in chart.lines]
        for backend in "shm", "view":
            self.assertEqual({line.colour for line in lines if line.name == backend}, {BACKENDS[backend]})
        (chart,) = [chart for section in sections for chart in section.charts if section.title == "Backends"]
        self.assertEqual((chart.title, chart.y_label, chart.lines[0].name),
                         ("Time relative to shm: below 1 is faster than shm", "time / time of shm", "view"))

    def test_a_disturbed_study_says_so(self):
        """By logs in which the launcher says that cores were shared, and by noise; no factor is blamed then."""
        write_study(self.folder / "study", change=lambda point, repeat, made:
                    made["noise"].update(p99=847.0) if point["id"] == "p003" else None)
        for run in "p000-r1", "p000-r2", "p003-r1":
            self.write(f"study/runs/{run}.log", f"kontor: {SHARED_CORES}another run is under way\n")
        text = self.report("study")
        self.assertIn("Warning: do not quote these times: 3 of 40 runs shared cores, noise p99 is up to 847.", text)
        scaling = self.rows(text, "Scaling")
        self.assertEqual([row[6:] for row in (scaling[0], scaling[2], scaling[3], scaling[5])],
                         [["noise p99", "shared cores"], ["1.02", "2 runs"], ["1.02", "-"], ["847", "1 runs"]])
        self.assertEqual([row[-1] == "-" for row in self.rows(text, "POP metrics")[2:6]], [True, False, False, True])
        self.assertNotRegex(text, "raw: 8 ranks are .* lowest factor")
        text = self.changed_plan(lambda plan: plan["points"][1].update(oversubscribed=True))
        self.assertIn("8 of 40 runs shared cores", text)

    def test_one_rate_for_a_point(self):
        """Not that of its first run in one table and a median in another: 40 runs differ by 0.2 % a repeat."""
        text = self.study(change=lambda point, repeat, made: made["figures_of_merit"]["cell_updates"].update(
            value=1e9 * repeat, attainable=8e9) if point["ranks"] == 8 else None)
        self.assertEqual([cell.split(" [")[0] for cell in self.rows(text, "Rates")[5]],
                         ["raw", "8 ranks", "cell updates", "3.00 G/s", "8.00 G/s", "37.5 %", "0.253"])
        self.assertEqual(text.count("3.00 G/s"), 2, "of raw and of view")

    def test_regions_keep_one_order(self):
        """And their colours, in all pictures, whatever the order in a record or what a run lacks."""
        def turn(point, repeat, made):
            if point["ranks"] == 2:
                made["timers"].reverse()
            if point["id"] == "p000":
                made["timers"] = [row for row in made["timers"] if row["region"] != "compute"]
        bars = [chart for section in self.sections(change=turn) for chart in section.charts if chart.bars]
        orders = {tuple(name for name, _ in bar.parts) for chart in bars for bar in chart.bars}
        self.assertEqual(orders, {("compute", "pack", "wait"), ("pack", "wait", "other")})
        self.assertEqual({tuple(chart.colours.items()) for chart in bars}, {tuple(bars[0].colours.items())})
        self.assertEqual(list(bars[0].colours), ["compute", "pack", "wait", "other"])

    def test_failures_are_shown(self):
        """A run that fails, one whose record is gone, one that is damaged, one whose record says that it is wrong, one
        tried again; an interrupted one is no failure."""
        self.study(change=lambda point, repeat, made: not (point["id"] == "p001" and repeat == 2))
        runs = self.folder / "study/runs"
        (runs / "p002-r1.json").unlink()
        (runs / "p003-r1.json").write_text("{")
        wrong = json.loads((runs / "p005-r1.json").read_text())
        (runs / "p005-r1.json").write_text(json.dumps(wrong | {"verification": {"passed": False}}))

        def change(plan):
            plan["runs"].insert(0, {**plan["runs"][0], "state": "failed"})
            plan["runs"][-1].update(state="ended early", exit_code=130)
        text = self.changed_plan(change)
        failures = self.rows(text, "Failures")
        for *cells, says in (("p000", "1 rank, backend raw", "1", "passed after 2 attempts", "runs/p000-r1.log"),
                             ("p001", "2 ranks, backend raw", "2", "failed", "exit code 3; no memory \\| on rank 1"),
                             ("p002", "4 ranks, backend raw", "1", "not read", "no file"),
                             ("p003", "8 ranks, backend raw", "1", "not read", "damaged"),
                             ("p005", "2 ranks, backend view", "1", "failed", "verification failed")):
            self.assertTrue(any(row[:4] == cells and says in row[4] for row in failures), failures)
        self.assertEqual(len(failures), 2 + 5)
        self.assertIn("40 runs: 35 passed, 4 failed, 1 interrupted; ", text)
        self.assertIn("repeat 5 was interrupted", self.rows(text, "Not run")[3][2])

    def test_a_baseline_that_the_study_names(self):
        """view on 2 ranks: T = 1.11 s. Its series comes first, and others are relative to it."""
        text = self.study(baseline={"ranks": 2, "comm.backend": "view"})
        rows = self.rows(text, "Scaling")
        self.assertEqual([row[:2] for row in rows[2:4]], [["view", "1 rank"], ["view", "2 ranks *"]])
        self.assertEqual([cell.split()[0] for cell in rows[9][2:6]], ["338", "3.11", "0.78", "5"])
        self.assertIn("relative to 2 ranks (p005)", text)
        self.assertEqual(self.rows(text, "Backends")[2][:2], ["raw", "view"])

    def test_what_is_not_known(self):
        """On GPUs, of one run, of memory that is a word, and before the first run."""
        text = self.study(repeats=1, change=lambda point, repeat, made: made.update(
            memory="host", per_rank={**made["per_rank"], "useful": 0}))
        self.assertEqual(self.rows(text, "POP metrics"), [])
        self.assertNotIn("[", self.rows(text, "Scaling")[3][2])
        self.assertIn("With 1 measurement of a point", text)
        self.assertIn("9 points of heat, 8 runs: 8 passed, ", text)
        self.assertIn("No point has a record yet", self.changed_plan(lambda plan: plan.update(runs=[])))
        self.write("empty/study.json", "{}")
        self.assertIn("# ", self.report("empty"))

    def test_decks_are_not_compared(self):
        """Two decks are two problems: no ratio of their times, and no fastest of them."""
        self.study(ranks=(2,))

        def change(plan):
            plan["app"] = None
            for point in plan["points"]:
                point["factors"]["deck"] = f"{point['factors'].get('comm.backend', 'raw')}.yaml"
        text = self.changed_plan(change)
        self.assertEqual([said in text for said in ("points of heat,", "deck compared", "is the fastest")],
                         [True, False, False])

    def test_what_is_no_study(self):
        (self.folder / "empty").mkdir()
        self.assert_fails(self.reported("empty"), "empty", "study.json")
        self.write("empty/study.json", "{")
        self.assert_fails(self.reported("empty"), "study.json", "damaged")
        self.assert_fails(self.reported("empty", "a.json"), "alone")
