# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is computed of a study, against values computed by hand."""

import tempfile
import unittest
from pathlib import Path

import report_case  # noqa: F401: skips where packages lack, and finds kontor.report
from sample_study import seconds, write_study

import numpy as np
from kontor.report.model import pop_of, useful_times
from kontor.report.record import Record
from kontor.report.scaling import scale, warnings
from kontor.report.series import compare, crossings, pairs, series_of
from kontor.report.statistics import Estimate, median_of, rank_sum_probability, ratio
from kontor.report.study import read_study
from kontor.report.trace import totals


class Statistics(unittest.TestCase):
    def test_interval_of_a_median(self):
        """Of three values all draws but those of three equal ones lie between the ends: each end has 7/27 of the medians."""
        for _ in range(2):  # the seed is fixed
            self.assertEqual(median_of([1, 2, 10]), Estimate(2, 1, 10))
        many = median_of(list(np.linspace(0, 1, 101)))
        self.assertAlmostEqual(many.value, 0.5)
        self.assertTrue(0.35 < many.low < 0.46 and 0.54 < many.high < 0.65, many)  # 0.5 -+ 1.96 * 0.5 / sqrt(101) = 0.40, 0.60

    def test_what_an_interval_excludes(self):
        """One measurement has none; of equal ones it is that value."""
        self.assertEqual(median_of([3]), Estimate(3))
        self.assertEqual(ratio([2, 2, 2], [4, 4, 4], 3), Estimate(1.5, 1.5, 1.5))
        self.assertEqual([Estimate(3).excludes(4), Estimate(1.5, 1.5, 1.5).excludes(1), Estimate(3).known], [False, True, False])

    def test_ranks(self):
        """Of 20 orders of 3 and 3, one in each direction parts them; of 70 of 4 and 4; C(10, 5) = 252."""
        for first, second, probability in (
            ([1, 2, 3], [4, 5, 6], 2 / 20), ([1, 2, 3, 4], [5, 6, 7, 8], 2 / 70), ([5, 6, 7, 8], [1, 2, 3, 4], 2 / 70),
            ([1, 2, 3, 4, 6], [5, 7, 8, 9, 10], 4 / 252), ([1, 1], [1, 1], 1),
        ):
            self.assertAlmostEqual(rank_sum_probability(first, second), probability)
        half = [float(value) for value in range(21)]
        self.assertAlmostEqual(rank_sum_probability(half, [value + 0.5 for value in half]), 0.8, delta=0.05)


class StudyCase(unittest.TestCase):
    def study(self, **differences):
        with tempfile.TemporaryDirectory(prefix="kontor-test-") as folder:
            return read_study(str(write_study(Path(folder) / "study", **differences)))

    def raw(self, **differences):
        return series_of(self.study(**differences))[0]

    def assert_almost(self, *pairs):
        for found, expected in pairs:
            self.assertAlmostEqual(found, expected)


def where(ranks, **values):
    """A change of the records on so many ranks."""
    return lambda point, repeat, made: made.update(values) if point["ranks"] == ranks else None


class Scaling(StudyCase):
    """study_report_test.py has strong scaling."""

    def test_weak(self):
        """Times n (0.1 + 1.9/n): 2 s and 2.7 s on 8 ranks, E = 0.7407, S = 5.926. Half of what 8 times the
        ranks should do: half the efficiency by work, and a warning."""
        half = {"value": 8e9 / 2.7 / 2, "unit": "1/s", "name": "cell_updates"}
        little = self.raw(kind="weak", change=where(8, figure_of_merit=half, figures_of_merit={}))
        for raw, work in (self.raw(kind="weak"), 1), (little, 0.5):
            rows = scale(raw, weak=True)
            last, found = rows[-1], warnings(raw, rows, weak=True)
            self.assert_almost((last.seconds.value, 2.7), (last.efficiency.value, 2 / 2.7), (last.speedup.value, 16 / 2.7))
            self.assertAlmostEqual(last.by_work.value, work * 2 / 2.7, places=2)
            self.assertEqual(["0.50 of the baseline's" in text and "8 ranks" in text for text in found], [True] * (work < 1))

    def test_superlinear(self):
        raw = self.raw(change=where(2, repeats=[0.8]))
        rows = scale(raw, weak=False)
        self.assertEqual([row.superlinear for row in rows], [False, True, False, False])
        self.assertIn("raw, 2 ranks: superlinear, efficiency 1.25 of 1 rank (p000)", warnings(raw, rows, weak=False)[0])
        self.assertEqual(warnings(self.raw(), scale(self.raw(), weak=False), weak=False), [])

    def test_three_runs_prove_nothing(self):
        (pair,) = pairs(series_of(self.study(repeats=3)))
        self.assertTrue(all(row.ratio.excludes(1) for row in compare(*pair)))
        self.assertFalse(any(row.significant for row in compare(*pair)))

    def test_equal_times_do_not_cross(self):
        study = self.study(change=lambda point, repeat, made: where(4, repeats=[0.5 + 0.01 * repeat])(point, repeat, made))
        (pair,) = pairs(series_of(study))
        self.assertEqual(crossings(compare(*pair)), [])


KINDS = {"compute": "compute", "pack": "packing", "wait": "communication"}


def with_ranks(seconds_of_ranks, wall, kinds=KINDS, useful=True):
    timers = {region: {"kind": kind, "median": 1.0} for region, kind in kinds.items()}
    return Record("a.h5", {}, timers=timers, per_rank={"useful": useful, "regions": list(kinds), "seconds": [seconds_of_ranks], "wall": [wall]})


class Pop(StudyCase):
    def test_useful_time(self):
        """Ranks compute 6 and 3 s, pack 1 s each, and take 10 s: mean 5.5, most 7, of 11 s in all 2 pack."""
        (found,) = useful_times(with_ranks([[6, 1, 3], [3, 1, 6]], [10, 9.5]))
        self.assertEqual((found.mean, found.most, found.total, found.packing, found.wall), (5.5, 7, 11, 2, 10))

    def test_only_kinds_tell_what_is_useful(self):
        """Not names of regions, and not launches of a GPU's kernels; without kinds nothing is known."""
        self.assertEqual(useful_times(with_ranks([[6, 1, 3]], [10], useful=False)), [])
        self.assertEqual(useful_times(with_ranks([[6, 1, 3]], [10], dict.fromkeys(KINDS))), [])
        self.assertEqual(useful_times(Record("a.h5", {})), [])
        record = with_ranks([[6, 1, 3]], [10], {"gemm": "communication", "pack": "compute", "wait": "other"})
        self.assertEqual((useful_times(record)[0].total, useful_times(record)[0].packing), (4, 0))
        record.timers["total"] = {"median": 10.0}
        self.assertEqual(record.exchange_share, 0.1)

    def test_no_metrics_on_a_gpu(self):
        """Regions of a GPU have the time of launches."""
        raw = self.raw(change=lambda point, repeat, made: made["per_rank"].update(useful=0))
        self.assertIsNone(pop_of(raw.base, raw.base))

    def test_weak_is_by_work(self):
        raw = self.raw(kind="weak")
        four = pop_of(raw.points[2], raw.base)
        self.assertAlmostEqual(four.computation.value, 4 * 0.85 * 2 / (4 * 0.82 * 4 * seconds("raw", 4)))


class Volume(StudyCase):
    def test_volume_between_nodes(self):
        """Ranks 0 and 1 of n0, 2 of n1; unknown where the ranks are not placed."""
        traffic = [{"rank": 0, "neighbour": 1, "messages": 1, "bytes": 5}, {"rank": 1, "neighbour": 2, "messages": 2, "bytes": 7}]
        placement = [{"rank": rank, "host": host} for rank, host in enumerate(("n0", "n0", "n1"))]
        for hosts, placed, between in ((["n0", "n1"], placement, 7), (["n0", "n1"], [], None), (["n0"], [], 0)):
            record = Record("a.h5", {"hosts": hosts}, traffic=traffic, placement=placed)
            self.assertEqual(totals(record), (3, 12, between))
