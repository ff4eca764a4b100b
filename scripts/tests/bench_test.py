# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ratios of kontor bench, of records with known times."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import bench  # noqa: E402


def record(deck, ranks, settings, must_verify=True):
    """A machine where raw takes 4 s, view 1 % longer, the waiting 10 %, and one rank twice as long."""
    time = 4.0 if "comm.backend=raw" in settings else 4.04
    time *= (1.1 if "comm.overlap=false" in settings else 1) * (2 if ranks == 1 else 1)
    return {
        "repeats": [time, 9 * time, 0.5 * time],
        "figures_of_merit": {"updates": {"value": 1}, "bandwidth": {"fraction": 0.85}},
        "calibration": {"triad_bandwidth": 20e9 * ranks},
        "start_to_first_step": 0.25,
        "wall": 0.75 if "max_sweeps=1" in settings[0] else 60,
        "peak_memory": 345,
        "field_memory": 300,
    }


class Ratios(unittest.TestCase):
    def setUp(self):
        self.measures = {measure.name: measure for measure in bench.measure(record, 3, 2, quick=False)}

    def assert_measure(self, name, value, verdict):
        self.assertAlmostEqual(self.measures[name].median, value)
        self.assertEqual(self.measures[name].verdict(), verdict)
        self.assertEqual(len(self.measures[name].values), 3)

    def test_values(self):
        self.assert_measure("bandwidth / triad of the same job", 0.85, "met")
        self.assert_measure("speed-up, 1 to 2 ranks", 2, "met")
        self.assert_measure("the same / that of triad", 1, "")
        self.assert_measure("time, view / raw", 1.01, "met")
        self.assert_measure("time, overlap on / off", 1 / 1.1, "met")
        self.assert_measure("start to first sweep", 0.25, "met")
        self.assert_measure("run of one sweep, launcher included", 0.75, "")
        self.assert_measure("peak memory / two fields with halos", 1.15, "short")

    def test_best(self):
        self.assertAlmostEqual(self.measures["speed-up, 1 to 2 ranks"].best, 2)
        self.assertAlmostEqual(self.measures["time, view / raw"].best, 1.01)
        self.assertIsNone(self.measures["start to first sweep"].best)

    def test_what_a_record_lacks_is_no_value(self):
        measure = bench.Measure("memory", [None, None], at_most=1)
        self.assertEqual(measure.row(), ["memory", "-", "", "", "<= 1", "no value"])

    def test_range(self):
        measure = bench.Measure("time", [1.0, 3.0, 2.0], "s", at_most=1.5)
        self.assertEqual(measure.row(), ["time [s]", "2.000", "[1.000 .. 3.000]", "", "<= 1.5", "short"])


if __name__ == "__main__":
    unittest.main()
