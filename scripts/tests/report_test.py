# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report, and kontor run RESULT.h5, on files with made-up numbers."""

import json
import re
import sys
import unittest

from command import KontorTest

try:
    import h5py
    from sample_curves import add_curves, add_split_curves
    from sample_file import BANDWIDTH, DECK, UPDATES, write_sample
except ModuleNotFoundError:
    print("skipped: no h5py")
    sys.exit(77)

try:
    import matplotlib  # noqa: F401

    PLOTS = True
except ModuleNotFoundError:
    PLOTS = False


class ReportTest(KontorTest):
    def sample(self, name, **differences):
        write_sample(self.folder / name, **differences)
        return name

    def report(self, *arguments):
        done = self.kontor("report", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_picture(self, *arguments):
        self.report(*arguments, "--plot", "out.png")
        self.assertEqual((self.folder / "out.png").read_bytes()[1:4], b"PNG")

    def assert_row(self, text, *cells):
        """A line that has these cells in this order, and nothing else."""
        lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
        self.assertIn(list(cells), lines, text)


class OneRun(ReportTest):
    def test_tables(self):
        text = self.report(self.sample("a.h5"))
        self.assert_row(text, "app", "heat 0.1.0 (abc1234)")
        self.assert_row(text, "hosts", "node1")
        self.assert_row(text, "ranks", "2, process grid 2 x 1")
        self.assert_row(text, "exchange", "view, nonblocking, packing kernel, path direct, overlap on")
        self.assert_row(text, "passed", "max error", "1e-06", "1e-05")
        self.assert_row(text, "cell updates", "1.20 G updates/s", "-", "-")
        self.assert_row(text, "effective bandwidth", "19.2 GB/s", "32.0 GB/s", "60.0 %")
        self.assert_row(text, "compute", "500", "1.40 s", "1.50 s", "1.60 s", "1", "75.0 %")
        self.assert_row(text, "other", "2.5 %")
        self.assert_row(text, "setup", "1", "10.0 ms", "10.0 ms", "10.0 ms", "0")
        self.assertIn("3 repeats: 2.00 s, 1.90 s to 2.10 s", text)
        self.assert_row(text, "0", "1", "1", "8.00 kB")
        self.assert_row(text, "all", "all", "2", "16.0 kB")
        self.assert_row(text, "triad bandwidth", "32.0 GB/s")

    def test_a_failed_run_has_no_figures(self):
        text = self.report(self.sample("a.h5", passed=0, figures=()))
        self.assert_row(text, "FAILED", "max error", "1e-06", "1e-05")
        self.assertIn("none: the run failed its verification", text)

    def test_what_is_absent_is_left_out(self):
        with h5py.File(self.folder / "bare.h5", "w") as file:
            file.create_group("run").attrs["app"] = "heat"
        text = self.report("bare.h5")
        self.assertIn("not verified", text)
        self.assertNotIn("compiler", text)

    def test_json(self):
        (record,) = json.loads(self.report("--json", self.sample("a.h5")))
        self.assertEqual(record["run"]["ranks"], 2)
        self.assertEqual(record["figures"][1]["fraction"], 0.6)
        self.assertEqual(record["timers"]["wait"]["max"], 0.3)


class Curves(ReportTest):
    """Runs that measured times over sizes."""

    def curves(self, name, add=add_curves, **differences):
        add(self.folder / self.sample(name, app="pingpong", field=False, **differences))
        return name

    def test_times_and_ratios_by_size(self):
        text = self.report(self.curves("a.h5"))
        self.assert_row(text, "1-D int", "view / raw", "1.020", "1.000", "1.020", "1024", "2 of 3")
        self.assertIn("1-D double: mean time and its standard error", text)
        self.assert_row(text, "size", "bytes", "raw", "view", "view / raw")
        self.assert_row(text, "64", "512 B", "1.01 µs ± 1.0 %", "1.01 µs ± 1.0 %", "1.000 (0.990 to 1.010)")
        self.assert_row(text, "16384", "131 kB", "2.64 µs ± 1.0 %", "2.69 µs ± 1.0 %", "1.020 (1.010 to 1.030)")

    def test_parts_of_the_time(self):
        text = self.report(self.curves("a.h5", add_split_curves))
        self.assertNotIn("Ratios", text)
        self.assert_row(text, "size", "series", "time", "pack", "post", "wait", "unpack", "messages", "bytes")
        self.assert_row(text, "256", "view persistent", "51.2 µs", "5.12 µs", "10.2 µs", "25.6 µs", "5.12 µs", "4", "8.19 kB")

    def test_a_series_that_lacks_a_size(self):
        name = self.curves("a.h5")
        with h5py.File(self.folder / name, "a") as file:
            for table, left in (("curves", slice(0, 3)), ("ratios", slice(0, 1))):
                rows = file[f"run/{table}"][left]
                del file[f"run/{table}"]
                file[f"run/{table}"] = rows
        self.assert_row(self.report(name), "1024", "8.19 kB", "1.10 µs ± 1.0 %", "-", "-")

    def test_json(self):
        (record,) = json.loads(self.report("--json", self.curves("a.h5")))
        self.assertEqual(record["ratios"][1]["ratio"], 1.02)
        self.assertEqual(len(record["curves"]), 12)

    def test_comparison(self):
        typed = {"name": "typed_over_raw", "value": 1.02, "unit": "1"}
        text = self.report(self.curves("a.h5", figures=(typed,)), self.curves("b.h5", figures=(typed,), packing=None))
        self.assert_row(text, "b.h5", "pingpong", "view", "-", "2", "on", "2.00 s", "1.02", "-", "22.5 %", "passed", "1.000")

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_pictures(self):
        self.assert_picture(self.curves("a.h5"))
        self.assert_picture(self.curves("parts.h5", add_split_curves))
        self.assert_picture("a.h5", "parts.h5")


class Comparison(ReportTest):
    def test_speed_is_relative_to_the_first(self):
        self.sample("b.h5", backend="raw", overlap=0, figures=({**UPDATES, "value": 1.5e9}, BANDWIDTH))
        text = self.report(self.sample("a.h5"), "b.h5", self.sample("c.h5", passed=0, figures=()))
        self.assertIn("speed 1 is a.h5", text)
        self.assert_row(text, "a.h5", "heat", "view", "kernel", "2", "on", "2.00 s", "1.20 G updates/s", "60.0 %", "22.5 %",
                        "passed", "1.000")
        self.assert_row(text, "b.h5", "heat", "raw", "kernel", "2", "off", "2.00 s", "1.50 G updates/s", "60.0 %", "22.5 %",
                        "passed", "1.250")
        self.assert_row(text, "c.h5", "heat", "view", "kernel", "2", "on", "2.00 s", "-", "-", "22.5 %", "FAILED", "-")

    def test_apps_have_tables_and_baselines_of_their_own(self):
        flops = {"name": "flops", "value": 5e9, "unit": "flop/s"}
        files = [self.sample("a.h5"), self.sample("b.h5", app="cg", figures=(flops,)), self.sample("c.h5")]
        text = self.report(*files)
        self.assertLess(text.index("c.h5"), text.index("b.h5"))
        self.assertIn("cg  (figure of merit: flops; speed 1 is b.h5)", text)
        self.assertIn("5.00 Gflop/s", text)
        self.assertEqual([record["speed"] for record in json.loads(self.report("--json", *files))], [1, 1, 1])


class Errors(ReportTest):
    def test_messages(self):
        self.write("text.h5", "not at all")
        self.write("a.h5.tmp", "")
        h5py.File(self.folder / "other.h5", "w").close()
        cases = {
            "absent.h5": "kontor: absent.h5: no such file",
            "text.h5": "kontor: text.h5: not an HDF5 file",
            "other.h5": "kontor: other.h5: not a Kontor file: it has no group /run",
            "a.h5.tmp": "kontor: a.h5.tmp: unfinished: the run is still going on or was killed",
        }
        for name, message in cases.items():
            with self.subTest(name):
                self.assert_fails(self.kontor("report", name), message)

    def test_without_h5py(self):
        self.fake("python", "exit 1")
        message = "kontor: report needs Python with h5py: apt-get install python3-h5py, or set KONTOR_PYTHON"
        self.assert_fails(self.kontor("report", self.sample("a.h5")), message)

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_no_field(self):
        done = self.kontor("report", self.sample("a.h5", field=False), "--plot", "a.png")
        self.assert_fails(done, "kontor: a.h5: no field in it (its deck has output.fields: none)")

    @unittest.skipUnless(PLOTS, "no matplotlib")
    def test_a_plot_that_cannot_be_written(self):
        self.assert_fails(self.kontor("report", self.sample("a.h5"), "--plot", "no/a.png"), "--plot: no/a.png cannot be written")


@unittest.skipUnless(PLOTS, "no matplotlib")
class Plots(ReportTest):
    def test_fields(self):
        self.assert_picture(self.sample("plane.h5"))
        self.assert_picture(self.sample("space.h5", shape=(6, 5, 4)))

    def test_comparison(self):
        self.assert_picture(self.sample("a.h5"), self.sample("b.h5", passed=0, figures=()), self.sample("c.h5", app="cg"))


class Repeat(ReportTest):
    def repeat(self, *arguments):
        done = self.kontor("run", *arguments, KONTOR_LAUNCHER="start", TMPDIR=str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.sub(r"kontor\.\w+", "T", done.stdout)

    def test_same_deck_same_ranks(self):
        command = self.repeat(self.sample("a.h5", ranks=6), "--dry-run")
        self.assertEqual(command, f"OMP_NUM_THREADS=1 start -n 6 build/bin/heat {self.folder}/T/a.yaml -o a-repeat.h5\n")
        (deck,) = self.folder.glob("kontor.*/a.yaml")
        self.assertEqual(deck.read_text(), DECK)

    def test_what_is_asked_for_goes_first(self):
        command = self.repeat(self.sample("a.h5", ranks=6), "--dry-run", "-n", "3", "-o", "b.h5")
        self.assertEqual(command, f"OMP_NUM_THREADS=1 start -n 3 build/bin/heat {self.folder}/T/a.yaml -o b.h5\n")

    def test_no_deck_in_the_file(self):
        done = self.kontor("run", self.sample("a.h5", deck=None, ranks=None), "--dry-run")
        self.assert_fails(done, "kontor: a.h5: the run cannot be repeated: /run has no attribute deck and no ranks")

    def test_an_unfinished_file(self):
        self.write("a.h5.0123abcd.tmp", "")
        self.assert_fails(self.kontor("run", "a.h5.0123abcd.tmp"), "kontor: a.h5.0123abcd.tmp: unfinished")


if __name__ == "__main__":
    unittest.main()
