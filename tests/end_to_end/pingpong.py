# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pingpong: what it refuses, says and records."""

import subprocess
import sys

from launch import PINGPONG, ROOT, HeatTest
from recorded import RecordTest
from refusal import RefusalTest

SMALL = """\
app: pingpong
problem:
  measure: roundtrip
  sizes: {from: 4, to: 16}
  repetitions: 3
  warm_up: 2
output: {file: out.h5}
"""
MEASURES = ("roundtrip", "halo", "collectives", "model", "exchange", "calls")


def deck(measure, **problem):
    """SMALL with another measure and more keys."""
    keys = "".join(f"  {key}: {value}\n" for key, value in problem.items())
    return SMALL.replace("  measure: roundtrip\n", f"  measure: {measure}\n{keys}")


class Refused(RefusalTest):
    program = PINGPONG

    def test_decks(self):
        """On two ranks: what the deck is, and what is said of it."""
        keys = "3:12: problem.measure", "4:24: problem.sizes.to", "5:24: problem.sizes.to", "4:16: problem.dimensions[0]"
        for text, error_id, place, *facts in (
            (SMALL.replace("out.h5}", "out.h5, every: 5}"), "E-DECK-CONFLICT", "7:31: output.every", "5"),
            (deck("roundtrip", dimensions="[3]", scalars="[double]").replace("to: 16", "to: 16, memory: 1000"),
             "E-MEMORY", "6:17: problem.sizes.from", "size 4, 3-D double", "1.02e-06 GB", "problem.sizes.memory"),
            (deck("roundtrip", dimensions="[3]").replace("to: 16", "to: 2000"), "E-DECK-RANGE", keys[2], "2000", "2147483647"),
            (SMALL.replace("to: 16", "to: 2"), "E-DECK-CONFLICT", keys[1], "2", "problem.sizes.from, 4"),
            (deck("model").replace("to: 16", "to: 8"), "E-DECK-CONFLICT", keys[1], "8", "problem.sizes.factor 2"),
            *((deck(measure, dimensions=f"[{other}]"), "E-DECK-CONFLICT", keys[3], f"{other}", f"{measure} takes {known}")
              for measure, other, known in (("collectives", 3, "1"), ("model", 3, "1"), ("exchange", 3, "1, 2"))),
            (deck("roundtrip", scalars="[int, flaot]"), "E-DECK-WORD", "4:18: problem.scalars[1]", '"flaot"', "int or double"),
        ):
            self.refused(error_id, f"deck.yaml:{place}", *facts, deck=text, ranks=(2,))
        text = deck("halo", backends="[view]", patterns="[rma]", packings="[datatype]")
        self.refused("E-COMM-BACKEND", keys[0], "view rma datatype: ", "'kernel'", deck=text, ranks=(2,), lines=2)

    def test_numbers_of_ranks(self):
        for measure in MEASURES:
            facts = "deck.yaml:3:12: problem.measure", measure, "2 ranks", "is 1"
            self.refused("E-DECK-RANKS", *facts, deck=deck(measure), ranks=(1,))
        for measure in "roundtrip", "exchange", "calls":
            facts = "deck.yaml:3:12: problem.measure", measure, "are 3", "problem.pairs"
            self.refused("E-DECK-RANKS", *facts, deck=deck(measure, dimensions="[2]"), ranks=(3,))

    def test_checkpoints(self):
        """Its measurements are short: no key asks for one, and it resumes from none."""
        for key, value in ("every", "5"), ("seconds", "5"), ("walltime", "1:00"):
            text = f"{SMALL}checkpoint: {{{key}: {value}}}\n"
            self.refused("E-DECK-CONFLICT", "deck.yaml:8:1: checkpoint", "pingpong", deck=text)
        self.refused("E-DECK-CONFLICT", "--restart", "pingpong", words=("--restart", "c.h5"), deck=SMALL)

    def test_overrides(self):
        halo, conflict = "halo, exchange or device", "E-DECK-CONFLICT"
        for measure, key, value, needs in (
            ("calls", "backends", "[raw]", halo), ("calls", "paths", "[direct]", halo), ("calls", "fields", "2", "halo"),
            ("collectives", "pairs", "one", "roundtrip"), ("model", "pairs", "one", "calls"),
        ):
            self.refused_set(f"problem.{key}={value}", conflict, f"problem.{key} is {value}", needs, deck=deck(measure), ranks=(2,))

    def test_ways_to_exchange_a_halo(self):
        """Faces that cannot travel unpacked, and a backend that is not there."""
        for keys, lines, *facts in (
            ({"dimensions": "[3]", "backends": "[view]", "packings": "[none]"}, None,
             "E-COMM-BACKEND", "view nonblocking none: exchange 'pingpong/halo': on rank ", "'kernel'"),
            ({"backends": "[vieww]"}, 1, "E-DECK-WORD", "deck.yaml:4:14: problem.backends[0]", "raw, view, ", "mean view?"),
        ):
            self.write("deck.yaml", deck("halo", **keys))
            result = self.ends(2, "deck.yaml", ranks=2, limit=10)
            self.assertEqual(result.out, "")
            self.names(result.err, *facts, lines=lines or result.err.count("\n"))


class PeerInfo(HeatTest):
    program = PINGPONG

    def test_what_is_said(self):
        """By a deck on so many ranks, with more words."""
        row = r"\n  1d {} +{} +{} +raw \S+  typed \S+   typed/raw \S+ \[\S+, \S+\]\n"
        for text, ranks, words, *patterns in (
            (SMALL, 2, ["--quiet"], r"\AFOM typed_over_raw = \S+ 1\nFOM typed_over_raw_worst = \S+ 1\nVERIFICATION PASSED\n\Z"),
            (SMALL, 2, [], *(row.format(name, size, size * width) for size in (4, 8, 16) for name, width in (("int", 4), ("double", 8)))),
            (SMALL, 3, ["--set", "problem.pairs=one"], r"\n  ranks 0 and 1 are measured, the other 1 are idle\n"),
            (deck("exchange", dimensions="[1, 2]", scalars="[int]", patterns="[nonblocking]"), 2, ["--set", "problem.packings=[kernel]"],
             *(rf"\n  {curve} int +16 +64 +\w+ nonblocking kernel( \w+)? \d+\.\d" for curve in ("contiguous", "column")), "FOM one_way_bandwidth = ", r"\A(?s:(?!.*null))"),
            (deck("model", scalars="[double]"), 3, [], r"one message \(Hockney\): \S+ us \+ bytes / \S+ GB/s",
             r"LogP: L \S+ us, o \S+ us to send and \S+ us to receive, g \S+ us",
             r"FOM latency = \S+ s\nFOM bandwidth = \S+ B/s\n"),
            (deck("halo", dimensions="[2]", backends="['null']"), 2, [], r"\nVERIFICATION OFF: "),
        ):
            self.write("deck.yaml", text)
            said = self.passes("deck.yaml", *words, ranks=ranks).out
            for pattern in patterns:
                with self.subTest(pattern):
                    self.assertRegex(said, pattern)


class Recorded(RecordTest):
    program = PINGPONG
    CURVES = ("curve", "series", "size", "elements", "bytes", "repetitions", "mean", "standard_error", "median", "min",
              "pack", "post", "wait", "unpack", "messages")  # fmt: skip
    RATIOS = ("curve", "series", "baseline", "size", "bytes", "ratio", "low", "high")

    def run_measure(self, text, **others):
        run = self.run_of(text, "out.h5", **{"ranks": 2, **others})
        self.assertEqual(tuple(run["curves"][0]), self.CURVES)
        for row in run["curves"]:
            self.assertTrue(0 < row["min"] <= row["median"], row)
        return run

    def test_roundtrip(self):
        run = self.run_measure(deck("roundtrip", dimensions="[1, 2, 3]"))
        self.assertEqual(len(run["curves"]), 3 * 2 * 3 * 2, "dimensions, scalars, sizes, series")
        self.assertEqual({row["series"] for row in run["curves"]}, {"raw", "typed"})
        row = next(row for row in run["curves"] if row["curve"] == "3d double" and row["size"] == 8)
        self.assertEqual((row["elements"], row["bytes"], row["repetitions"], row["messages"]), (512, 4096, 3, 1))
        self.assertEqual(tuple(run["ratios"][0]), self.RATIOS)
        for row in run["ratios"]:
            self.assertTrue(0 < row["low"] <= row["ratio"] <= row["high"], row)
        self.assertEqual(run["measure"], "roundtrip")
        report = subprocess.run([sys.executable, ROOT / "python/kontor", "report", "out.h5"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("3d double", report.stdout)

    def test_halo(self):
        run = self.run_measure(deck("halo", dimensions="[2]", scalars="[int]", backends="[view, 'null']"), ranks=4)
        for name, messages in ("view nonblocking kernel", 1 + 2), ("view nonblocking datatype", 4):  # 2 x 2 ranks, periodic: two columns to one rank
            row = next(row for row in run["curves"] if row["size"] == 16 and row["series"] == name)
            self.assertEqual((row["elements"], row["bytes"], row["messages"]), (64, 256, messages))
        series = {row["series"] for row in run["curves"]}
        self.assertLessEqual({"view nonblocking kernel", "view persistent datatype", "null blocking kernel"}, series)
        self.assertEqual(len(run["best"]), 3)
        for row in run["best"]:
            self.assertFalse(row["series"].startswith("null"), "what moves nothing is not the best")
        refused = {row["series"]: row["why"] for row in run["not_possible"]}
        self.assertIn("windows in one piece", refused["view rma datatype"])
        self.assertEqual(run["figure_of_merit"]["name"], "halo_exchange")
        packed = [row for row in run["curves"] if row["series"] == "view nonblocking kernel"]
        self.assertTrue(all(row["pack"] > 0 and row["unpack"] > 0 for row in packed))

    def test_halo_of_fields(self):
        """Columns of five fields travel in one message to each rank, or as datatypes alone; rows lie in one piece and travel alone."""
        run = self.run_measure(deck("halo", dimensions="[2]", scalars="[double]", fields="5", backends="[view]", patterns="[nonblocking]",
                                    packings="[kernel, datatype]"), ranks=4)
        rows = {row["series"]: row for row in run["curves"] if row["size"] == 16}
        expected = {"view nonblocking kernel": 1 + 10, "view nonblocking datatype": 20}
        self.assertEqual({name: row["messages"] for name, row in rows.items()}, expected)
        self.assertEqual({row["bytes"] for row in rows.values()}, {5 * 4 * 16 * 8})

    def test_measures(self):
        """Their curves, by a deck on three ranks."""
        names = ("bcast", "allreduce", "allgather", "alltoall", "allgatherv", "alltoallv", "alltoallv_with_counts", "sparse_alltoall", "alltoallv_along_grid")
        kinds = ("send_recv", "isend_irecv_wait", "exchange_step", "persistent_step", "allreduce")
        for text, curves, rows, figures in (
            (deck("exchange", dimensions="[1, 2]", scalars="[double]", pairs="one", patterns="[nonblocking, rma]"), {"contiguous double", "column double"}, None, {"one_way_bandwidth"}),
            (deck("model", scalars="[double]"), None, None, {"latency", "bandwidth"}),
            (deck("collectives", scalars="[int]"), {f"{name} int" for name in names}, len(names) * 3 * 2, {"typed_over_raw_worst"}),
            (deck("calls", scalars="[double]", pairs="one"), {f"{kind} double" for kind in kinds}, None, {f"{kind}_added" for kind in kinds}),
        ):
            with self.subTest(text):
                run = self.run_measure(text, ranks=3, comm__backend="view")
                found = {row["curve"] for row in run["curves"]}
                self.assertEqual(found, curves or found)
                self.assertEqual(len(run["curves"]), rows or len(run["curves"]))
                self.assertLessEqual(figures, set(run["figures_of_merit"]))
