# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report of a study's folder, as Markdown."""

import json
import re

from report_case import ReportTest

from sample_study import write_study

from kontor.report.colours import BACKENDS
from kontor.report.reports import study_sections
from kontor.report.study import read_study


class StudyReport(ReportTest):
    def study(self, **differences):
        write_study(self.folder / "study", **differences)
        return self.report("study")

    def rows(self, text, section):
        """The cells of the tables of a section."""
        body = text.split(f"## {section}\n")[1].split("\n## ")[0]
        return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in body.splitlines() if line.startswith("|")]

    def test_sections(self):
        text = self.study()
        self.assertEqual(re.findall(r"^#+ (.*)$", text, re.MULTILINE), [
            "sample", "Summary", "Scaling", "Backends", "Where the time goes", "Exposed communication", "Fraction of attainable", "POP metrics",
            "Messages and volume", "Failures", "Provenance"])
        self.assertIn("11 points of heat, 50 runs: 50 passed, 0 did not; 1 point cannot run here.", text)
        self.assertIn("On 8 ranks view is the fastest with 322 ms.", text)
        self.assertIn("raw is faster on 4 and view on 8 workers: they cross near 4.84.", text)

    def test_tables(self):
        """Each row by its series and number of workers."""
        text = self.study()
        scaling = self.rows(text, "Scaling")
        self.assertEqual(scaling[0], ["series", "workers", "time", "speed-up", "efficiency", "runs"])
        self.assertEqual(scaling[2], ["raw", "1 rank *", "2.00 s [1.99 s, 2.01 s]", "1.00", "1.00", "5"])
        self.assertEqual([cell.split()[0] for cell in scaling[5]], ["raw", "8", "338", "5.93", "0.74", "5"])
        backends = [row for row in self.rows(text, "Backends") if row[2] == "8"]
        self.assertEqual((backends[0][0], backends[0][1], backends[0][5].split()[0], backends[0][6]), ("raw", "view", "0.956", "view"))
        exposed = self.rows(text, "Exposed communication")
        self.assertEqual([cell.split(" [")[0] for cell in exposed[2]], ["raw", "4 ranks", "575 ms", "57.5 ms", "10.0 %", "115 ms"])
        pop = self.rows(text, "POP metrics")
        self.assertEqual([cell.split(" [")[0] for cell in pop[4]], ["raw", "4 ranks", "0.96", "0.85", "0.82", "0.90", "0.74", "6.1 %", "communication"])
        self.assertIn(["raw", "4 ranks", "0.85", "0.94", "0.90"], [[cell.split(" [")[0] for cell in row] for row in pop])
        self.assertNotIn(["raw", "2 ranks"], [row[:2] for row in pop if len(row) == 5])
        self.assertIn("Serialisation and transfer are not given where", text)
        self.assertEqual(self.rows(text, "Messages and volume")[4][2:], ["20", "2.08 kB", "0.00 B"])
        self.assertIn(["p010", "1024 ranks, backend raw", "-", "skipped", "needs 1024 cores; there are 2 here"], self.rows(text, "Failures"))
        self.assertIn(["seed of the order", "4711"], self.rows(text, "Provenance"))

    def test_failures_are_shown(self):
        """A run that fails, one whose record is gone, one that is damaged, one whose record says that it is wrong, one tried again."""
        text = self.study(change=lambda point, repeat, made: not (point["id"] == "p001" and repeat == 2))
        folder = self.folder / "study"
        (folder / "runs/p002-r1.json").unlink()
        (folder / "runs/p003-r1.json").write_text('{"app": "heat", "ranks": "x"}')
        wrong = json.loads((folder / "runs/p005-r1.json").read_text())
        (folder / "runs/p005-r1.json").write_text(json.dumps({**wrong, "verification": {"passed": False, "error": 1, "tolerance": 0}}))
        plan = json.loads((folder / "study.json").read_text())
        plan["runs"].insert(0, {**plan["runs"][0], "state": "failed"})
        plan["runs"].append({"point": "p999", "repeat": 1, "state": "passed"})
        (folder / "study.json").write_text(json.dumps(plan))
        text = self.report("study")
        failures = self.rows(text, "Failures")
        self.assertIn(["p000", "1 rank, backend raw", "1", "passed after 2 attempts", "runs/p000-r1.log"], failures)
        self.assertIn(["p001", "2 ranks, backend raw", "2", "failed", "exit code 3; no memory \\| on rank 1"], failures)
        for *cells, says in (("p002", "4 ranks, backend raw", "1", "not read", "no file"), ("p003", "8 ranks, backend raw", "1", "not read", "damaged"),
                             ("p005", "2 ranks, backend view", "1", "failed", "verification failed")):
            self.assertTrue(any(row[:4] == cells and says in row[4] for row in failures), failures)
        self.assertIn("point 'p999', which the study does not have", text)

    def test_runs_on_gpus_have_no_pop_metrics(self):
        text = self.study(change=lambda point, repeat, made: made["per_rank"].update(useful=False))
        self.assertEqual(self.rows(text, "POP metrics"), [])
        self.assertIn("Not given for 8 points: raw, 1 rank: kernels ran on a GPU", text)

    def test_one_run_has_no_interval(self):
        text = self.study(repeats=1)
        self.assertNotIn("[", self.rows(text, "Scaling")[3][2])
        self.assertIn("raw, 2 ranks: measured once, so there is no confidence interval", text)

    def test_a_baseline_that_the_study_names(self):
        """view on 2 ranks: T = 1.11 s. Its series comes first; all points are set beside it."""
        text = self.study(baseline={"ranks": 2, "comm.backend": "view"})
        rows = self.rows(text, "Scaling")
        self.assertEqual(rows[0][5], "time of p005 / time")
        self.assertEqual([row[:2] for row in rows[2:4]], [["view", "1 rank"], ["view", "2 ranks *"]])
        self.assertEqual([cell.split()[0] for cell in rows[9][2:]], ["338", "3.11", "0.78", "3.29", "5"])
        self.assertIn("view: 8 ranks are", text)
        self.assertIn("times as fast as 2 ranks (p005)", text)

    def test_a_study_that_has_not_begun(self):
        text = self.study(change=lambda *_: False)
        self.assertIn("No point has a record yet", text)
        self.assertEqual(self.report("study"), text)
        for name, plan in ("empty", {}), ("odd", {"points": [1, {"id": 3, "ranks": "x", "factors": 7}], "runs": "none", "machine": []}):
            self.write(f"{name}/study.json", json.dumps(plan))
            self.assertIn("# ", self.report(name))

    def test_decks_are_not_compared(self):
        """Two decks are two problems: no ratio of their times, and no fastest of them."""
        write_study(self.folder / "study", ranks=(2,), repeats=5)
        file = self.folder / "study/study.json"
        plan = json.loads(file.read_text())
        for point in plan["points"]:
            point["factors"]["deck"] = f"{point['factors'].get('comm.backend', 'raw')}.yaml"
        file.write_text(json.dumps({**plan, "app": None}))
        text = self.report("study")
        self.assertEqual([said in text for said in ("points of heat,", "deck compared", "is the fastest")], [True, False, False])

    def test_memory_that_is_a_word(self):
        """Pingpong's record says which memory its Views are in, matmul's how much it takes."""
        write_study(self.folder / "study", ranks=(1, 2), repeats=1)
        for file in (self.folder / "study/runs").glob("*.json"):
            file.write_text(json.dumps({**json.loads(file.read_text()), "memory": "host"}))
        self.assertNotIn("not read", self.report("study"))

    def test_what_is_no_study(self):
        (self.folder / "empty").mkdir()
        self.assert_fails(self.reported("empty"), "empty", "study.json")
        self.write("empty/study.json", "{")
        self.assert_fails(self.reported("empty"), "study.json", "damaged")
        self.assert_fails(self.reported("empty", "a.h5"), "alone")
        self.assert_fails(self.reported(self.sample("a.h5"), "--html", "no/a.html"), "--html", "no/a.html")

    def test_a_folder_by_its_command(self):
        """Isolated, as users have it."""
        write_study(self.folder / "study", ranks=(1, 2), repeats=2)
        self.assertTrue(self.succeeds("report", "study").stdout.startswith("# sample\n"))

    def test_a_backend_has_its_colour_everywhere(self):
        write_study(self.folder / "study", backends=("shm", "view"))
        sections = study_sections(read_study(str(self.folder / "study")))
        lines = [line for section in sections for chart in section.charts for line in chart.lines]
        for backend in "shm", "view":
            self.assertEqual({line.colour for line in lines if line.name.split(",")[0] == backend}, {BACKENDS[backend]})
