# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is computed of a study, against values computed by hand."""

import tempfile
import unittest
from pathlib import Path

import report_case  # noqa: F401: skips where packages lack, and finds kontor.report
from sample_study import seconds, write_study

import numpy as np
from kontor.report.rates import Rate, roofline
from kontor.report.record import Record
from kontor.report.scaling import Scaled, series_of, useful_times
from kontor.report.statistics import Estimate, difference, median_of, rank_sum_probability, ratio
from kontor.report.study import read_study


class Statistics(unittest.TestCase):
    def test_interval_of_a_median(self):
        """Of three values all draws but those of three equal ones lie between the ends: each end has 7/27 of the
        medians. Of 101 even ones the interval is 0.5 -+ 1.96 * 0.5 / sqrt(101) = 0.40, 0.60."""
        for _ in range(2):  # the seed is fixed
            self.assertEqual(median_of([1, 2, 10]), Estimate(2, 1, 10))
        many = median_of(list(np.linspace(0, 1, 101)))
        self.assertAlmostEqual(many.value, 0.5)
        self.assertTrue(0.35 < many.low < 0.46 and 0.54 < many.high < 0.65, many)

    def test_what_an_interval_excludes(self):
        """One measurement has none; of equal ones it is that value."""
        self.assertEqual(median_of([3]), Estimate(3))
        self.assertEqual(ratio([2, 2, 2], [4, 4, 4], 3), Estimate(1.5, 1.5, 1.5))
        self.assertEqual([Estimate(3).excludes(4), Estimate(1.5, 1.5, 1.5).excludes(1)], [False, True])
        self.assertEqual([Estimate(3).shown(), Estimate(0.003, 0.002, 1.5).shown()], ["3.00", "0.003 [0.002, 1.50]"])

    def test_ranks(self):
        """Of 20 orders of 3 and 3, one in each direction parts them; of 70 of 4 and 4; C(10, 5) = 252."""
        for first, second, probability in (
            ([1, 2, 3], [4, 5, 6], 2 / 20), ([1, 2, 3, 4], [5, 6, 7, 8], 2 / 70), ([5, 6, 7, 8], [1, 2, 3, 4], 2 / 70),
            ([1, 2, 3, 4, 6], [5, 7, 8, 9, 10], 4 / 252), ([1, 1], [1, 1], 1),
        ):
            self.assertAlmostEqual(rank_sum_probability(first, second), probability)
        half = [float(value) for value in range(21)]
        self.assertAlmostEqual(rank_sum_probability(half, [value + 0.5 for value in half]), 0.8, delta=0.05)

    def test_verdicts(self):
        """Of the first sample: its times relative to those of the second."""
        slow, fast = [2.0, 2.1, 2.2, 2.3], [1.0, 1.1, 1.2, 1.3]
        pairs = (fast, slow), (slow, fast), (slow, slow), (fast[:3], slow[:3])
        self.assertEqual([difference(*pair).verdict for pair in pairs], ["faster", "slower", "", ""])


def weak(change=None):
    """The points of the first series of a weak study; study_report_test.py has strong scaling."""
    with tempfile.TemporaryDirectory(prefix="kontor-test-") as folder:
        study = read_study(str(write_study(Path(folder) / "study", kind="weak", change=change)))
    one = series_of(study)[0]
    return [Scaled(one, point, True) for point in one.points]


class Weak(unittest.TestCase):
    def test_by_time(self):
        """Times n (0.1 + 1.9/n): 2 s and 2.7 s on 8 ranks, E = 0.7407, S = 5.926."""
        rows = weak()
        for found, expected in ((rows[-1].time, 2.7), (rows[-1].efficiency, 2 / 2.7), (rows[-1].speedup, 16 / 2.7),
                                (rows[2].pop.computation, 4 * 0.85 * 2 / (4 * 0.82 * 4 * seconds("raw", 4)))):
            self.assertAlmostEqual(found.value, expected)
        self.assertEqual(rows[-1].warning, "")

    def test_half_of_what_8_times_the_ranks_should_do(self):
        half = {"cell_updates": {"value": 8e9 / 2.7 / 2, "unit": "1/s", "name": "cell_updates"}}
        rows = weak(lambda point, repeat, made: made.update(figures_of_merit=half) if point["ranks"] == 8 else None)
        self.assertAlmostEqual(rows[-1].efficiency.value, 2 / 2.7)
        self.assertIn("8 ranks: the work of a worker is 0.50 of the baseline's", rows[-1].warning)


class Rates(unittest.TestCase):
    def run_of(self, ranks, triad):
        """4 Gflop/s for 2 s and 16 GB: half a flop per byte."""
        figure = {"name": "flops", "value": 4e9, "unit": "flop/s", "bytes_read": 12e9, "bytes_written": 4e9,
                  "attainable": 8e9}
        return Record("a.json", {"ranks": ranks}, figures=[figure], repeats=[2.0],
                      calibration={"triad_bandwidth": triad, "gemm": {"rate": 1e9 * ranks}})

    def test_ceilings_are_of_the_ranks_of_the_points(self):
        """At one flop per byte, memory of 10 and 20 GB/s allows 10 and 20 Gflop/s; each in the colour of its points."""
        one, two = Rate("one", [self.run_of(1, 10e9)]), Rate("two", [self.run_of(2, 20e9)])
        (chart,) = roofline([one, two])
        lines = {line.name: line for line in chart.lines}
        for name, memory, gemm in (("one", "1 rank: memory 10.0 GB/s", "1 rank: matrix product 1.00 Gflop/s"),
                                   ("two", "2 ranks: memory 20.0 GB/s", "2 ranks: matrix product 2.00 Gflop/s")):
            self.assertEqual({lines[ceiling].colour for ceiling in (memory, gemm)}, {lines[name].colour})
            self.assertAlmostEqual(lines[memory].y[0] / lines[memory].x[0], 10e9 if name == "one" else 20e9)
        self.assertNotEqual(lines["one"].colour, lines["two"].colour)
        (alone,) = roofline([one])
        self.assertEqual([line.name for line in alone.lines[1:]], ["memory 10.0 GB/s", "matrix product 1.00 Gflop/s"])


KINDS = {"compute": "compute", "pack": "packing", "wait": "communication"}


def with_ranks(seconds_of_ranks, wall, kinds=KINDS, useful=True):
    timers = {region: {"kind": kind, "median": 1.0} for region, kind in kinds.items()}
    return Record("a.json", {}, timers=timers, per_rank={"useful": useful, "regions": list(kinds),
                                                         "seconds": [seconds_of_ranks], "wall": [wall]})


class Pop(unittest.TestCase):
    def test_useful_time(self):
        """Ranks compute 6 and 3 s, pack 1 s each, and take 10 s: mean 5.5, most 7, of 11 s in all 2 pack."""
        found = useful_times(with_ranks([[6, 1, 3], [3, 1, 6]], [10, 9.5]))
        self.assertEqual([list(values) for values in found], [[5.5], [7], [11], [2], [10]])

    def test_only_kinds_tell_what_is_useful(self):
        """Not names of regions, and not launches of a GPU's kernels."""
        self.assertIsNone(useful_times(with_ranks([[6, 1, 3]], [10], useful=False)))
        self.assertIsNone(useful_times(Record("a.json", {})))
        record = with_ranks([[6, 1, 3]], [10], {"gemm": "communication", "pack": "compute", "wait": "other"})
        self.assertEqual((useful_times(record).total, useful_times(record).packing), (4, 0))
        record.timers["total"] = {"median": 10.0}
        self.assertEqual(record.exchange_share, 0.1)
