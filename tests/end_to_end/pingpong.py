# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pingpong: what it refuses, says and records. pingpong/tests has the decks that its measures do not take,
docs/record_reference the columns of tables."""

import subprocess
import sys

from launch import PINGPONG, ROOT, RecordTest

SMALL = """\
app: pingpong
problem:
  measure: roundtrip
  sizes: {from: 4, to: 16}
  repetitions: 3
  warm_up: 2
output: {file: out.h5}
"""


def deck(measure, **problem):
    """SMALL with another measure and more keys."""
    keys = "".join(f"  {key}: {value}\n" for key, value in problem.items())
    return SMALL.replace("  measure: roundtrip\n", f"  measure: {measure}\n{keys}")


class Pingpong(RecordTest):
    program = PINGPONG

    def test_refused(self):
        """A measurement is short: no key asks for a checkpoint or a series, and it resumes from none."""
        for text, words, *facts in (
            (SMALL.replace("out.h5}", "out.h5, every: 5}"), (), "deck.yaml:7:31: output.every", "5"),
            (f"{SMALL}checkpoint: {{every: 5}}\n", (), "deck.yaml:8:1: checkpoint", "pingpong"),
            (SMALL, ("--restart", "c.h5"), "--restart", "pingpong"),
        ):
            self.refused("E-DECK-CONFLICT", *facts, deck=text, words=words)
        # Faces that are one datatype in a window, and that are in pieces without packing.
        for fact, keys in (("deck.yaml:3:12: ", {"patterns": "[rma]", "packings": "[datatype]"}),
                           ("view nonblocking none: ", {"dimensions": "[3]", "packings": "[none]"})):
            text = deck("halo", backends="[view]", **keys)
            self.refused("E-COMM-BACKEND", fact, "'kernel'", deck=text, ranks=2, lines=0)

    def run_measure(self, text, **others):
        run = self.run_of(text, "out.h5", **{"ranks": 2, **others})
        for row in run["curves"]:
            self.assertTrue(0 < row["min"] <= row["median"], row)
        return run

    def assert_said(self, *patterns):
        for pattern in patterns:
            self.assertRegex(self.said.out, pattern)

    def test_roundtrip(self):
        run = self.run_measure(deck("roundtrip", dimensions="[1, 2, 3]"))
        self.assertEqual(len(run["curves"]), 3 * 2 * 3 * 2, "dimensions, scalars, sizes, series")
        self.assertEqual({row["series"] for row in run["curves"]}, {"raw", "typed"})
        row = next(row for row in run["curves"] if row["curve"] == "3d double" and row["size"] == 8)
        self.assertEqual([row[key] for key in ("elements", "bytes", "repetitions", "messages")], [512, 4096, 3, 1])
        for row in run["ratios"]:
            self.assertTrue(0 < row["low"] <= row["ratio"] <= row["high"], row)
        self.assertEqual(run["measure"], "roundtrip")
        row = r"\n  1d {} +{} +{} +raw \S+  typed \S+   typed/raw \S+ \[\S+, \S+\]\n"
        self.assert_said(row.format("int", 4, 16), row.format("double", 16, 128), r"FOM typed_over_raw = \S+ 1\n")
        report = subprocess.run([sys.executable, ROOT / "python/kontor", "report", "out.h5"], cwd=self.folder,
                                capture_output=True, text=True, check=False)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("3d double", report.stdout)

    def test_halo(self):
        """On 2 x 2 ranks, periodic: two columns go to one rank. Of five fields, columns travel in one message to each
        rank, or as datatypes alone; rows lie in one piece and travel alone."""
        run = self.run_measure(deck("halo", dimensions="[2]", scalars="[int]", backends="[view, 'null']"), ranks=4)
        rows = {row["series"]: row for row in run["curves"] if row["size"] == 16}
        for name, messages in ("view nonblocking kernel", 1 + 2), ("view nonblocking datatype", 4):
            self.assertEqual([rows[name][key] for key in ("elements", "bytes", "messages")], [64, 256, messages])
        self.assertLessEqual({"view persistent datatype", "null blocking kernel"}, rows.keys())
        self.assertEqual(len(run["best"]), 3)
        for row in run["best"]:
            self.assertFalse(row["series"].startswith("null"), "what moves nothing is not the best")
        refused = {row["series"]: row["why"] for row in run["not_possible"]}
        self.assertIn("windows in one piece", refused["view rma datatype"])
        self.assertEqual(run["figure_of_merit"]["name"], "halo_exchange")
        packed = rows["view nonblocking kernel"]
        self.assertTrue(packed["pack"] > 0 and packed["unpack"] > 0, packed)
        run = self.run_measure(deck("halo", dimensions="[2]", scalars="[double]", fields="5", backends="[view]",
                                    patterns="[nonblocking]", packings="[kernel, datatype]"), ranks=4)
        rows = [row for row in run["curves"] if row["size"] == 16]
        self.assertEqual({row["series"]: row["messages"] for row in rows},
                         {"view nonblocking kernel": 1 + 10, "view nonblocking datatype": 20})
        self.assertEqual({row["bytes"] for row in rows}, {5 * 4 * 16 * 8})
        self.run_measure(deck("halo", dimensions="[2]", backends="['null']"))
        self.assert_said(r"\nVERIFICATION OFF: ")

    def test_measures(self):
        """What is said on three ranks, the curves and figures."""
        collectives = ("bcast", "allreduce", "allgather", "alltoall", "allgatherv", "alltoallv",
                       "alltoallv_with_counts", "sparse_alltoall", "alltoallv_along_grid")
        calls = ("send_recv", "isend_irecv_wait", "exchange_step", "persistent_step", "allreduce")
        idle = r"\n  ranks 0 and 1 are measured, the other 1 are idle\n"
        one_way = [rf"\n  {curve} int +16 +64 +\w+ (nonblocking|rma) \w+( \w+)? \d+\.\d"
                   for curve in ("contiguous", "column")]
        for measure, keys, curves, figures, *patterns in (
            ("exchange", {"dimensions": "[1, 2]", "patterns": "[nonblocking, rma]", "pairs": "one"},
             ("contiguous", "column"), ["one_way_bandwidth"], idle, *one_way),
            ("model", {}, None, ["latency", "bandwidth"], r"one message \(Hockney\): \S+ us \+ bytes / \S+ GB/s",
             r"LogP: L \S+ us, o \S+ us to send and \S+ us to receive, g \S+ us"),
            ("collectives", {}, collectives, ["typed_over_raw_worst"]),
            ("calls", {"pairs": "one"}, calls, [f"{kind}_added" for kind in calls]),
        ):
            with self.subTest(measure):
                run = self.run_measure(deck(measure, scalars="[int]", **keys), ranks=3, comm__backend="view")
                if curves:
                    self.assertEqual({row["curve"] for row in run["curves"]}, {f"{curve} int" for curve in curves})
                self.assertLessEqual(set(figures), set(run["figures_of_merit"]))
                self.assert_said(*patterns, *(rf"FOM {figure} = " for figure in figures))
