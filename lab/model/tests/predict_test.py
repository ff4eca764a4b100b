# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor predict: the model by cases that can be computed by hand, machine files, and steps that SimGrid simulates."""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / "lab/model"
sys.path[:0] = [str(MODEL), str(ROOT / "python")]
try:
    import yaml
except ModuleNotFoundError as error:
    print(f"skipped: python3-{error.name} is not installed")
    sys.exit(77)

from kontor.messages import Failure
from kontor_model import cg, heat, matmul
from kontor_model.collectives import allreduce
from kontor_model.command import main
from kontor_model.compare import measured_seconds
from kontor_model.exchange import Exchange
from kontor_model.grid import DividedBox, faces, halo, smallest_surface_grid
from kontor_model.machine import machine_of, read_machine
from kontor_model.measured import machine_values, rates_of
from kontor_model.network import Message, SharedLink, links
from kontor_model.platform import hosts, options, platform
from kontor_model.rates import Rate, kernel_times_text
from kontor_model.steps import Steps

BUILD = Path(os.environ.get("KONTOR_DECK_READER", ROOT / "build/bin/kontor-deck")).resolve().parent.parent
FAT_TREE = str(MODEL / "machines/fat-tree.yaml")

# Of round figures.
MACHINE = """name: tiny
nodes: 16
node: {ranks: 2, latency: 1e-6, bandwidth: 1e9}
network: {latency: 5e-6, bandwidth: 1e9, nodes_per_switch: 4, uplinks: 2}
message: {send: 1e-6, receive: 2e-6}
compute:
  heat/sweep: [[100, 1e-4], [10000, 3e-4]]
  cg/product: [[64, 64e-6]]
  cg/vectors: [[64, 64e-7]]
  matmul/gemm: [[1000, 1e-6]]
"""


def machine(text=MACHINE, **changes):
    values = yaml.safe_load(text.replace("e-", ".0e-").replace("1e9", "1.0e+9"))
    values["node"] = {"latency": 0.0, "copies": False, **values["node"], **changes.pop("node", {})}
    return machine_of({"about": "", **values, **changes}, "tiny.yaml")


class ModelTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def assert_close(self, found, expected):
        self.assertLessEqual(abs(found - expected), 1e-9 * abs(expected), f"{found}, expected {expected}")

    def read(self, text):
        (self.folder / "m.yaml").write_text(text)
        return read_machine(str(self.folder / "m.yaml"))


class Machines(ModelTest):
    def test_reads(self):
        found = self.read(MACHINE)
        self.assertEqual((found.nodes, found.ranks_per_node, found.uplinks, found.send), (16, 2, 2, 1e-6))
        self.assertEqual(found.rate("heat/sweep")(100), 1e-4)
        self.assertFalse(found.copies)
        for file in (MODEL / "machines").glob("*.yaml"):
            self.assertTrue(read_machine(str(file)).name, file)

    def test_refused(self):
        product = "[[64, 64e-6]]"
        for old, new, *facts in (
            ("nodes: 16", "nodez: 16", "nodez", "did you mean nodes"),
            ("ranks: 2", "ranks: 0", "node.ranks", "from 1", "found 0"),
            ("bandwidth: 1e9}\nnet", "bandwidth: 0}\nnet", "node.bandwidth", "above 0", "found 0"),
            ("send: 1e-6", "send: fast", "message.send", "found fast"),
            (product, "[[2, 1e-6], [1, 1e-6]]", "cg/product", "that grow"),
            (product, "[[1, 1e-6, 3]]", "cg/product", "pairs"),
            ("network:", "#", "nodes is 16", "network is needed"),
            ("name:", "name: x\nname:", "m.yaml:2:1", "twice"),
            (MACHINE, "", "m.yaml", "empty"),
        ):
            told = io.StringIO()
            with self.subTest(new), redirect_stderr(told), self.assertRaises((Failure, SystemExit)) as caught:
                self.read(MACHINE.replace(old, new))
            for fact in facts:
                self.assertIn(fact, f"{told.getvalue()}{caught.exception}")
            self.assertEqual(caught.exception.code, 2)
        with redirect_stderr(io.StringIO()) as told, self.assertRaises(SystemExit):
            read_machine("/nowhere.yaml")
        self.assertIn("/nowhere.yaml", told.getvalue())
        for words, call in (
            ("33 ranks.*32 ranks at most", lambda: machine().require_ranks(33)),
            ("compute.heat/sweep is missing", lambda: machine(compute={}).rate("heat/sweep")),
            ("cannot be divided among 7", lambda: smallest_surface_grid(7, [6, 6])),
        ):
            self.assertRaisesRegex(Failure, words, call)

    def test_more_ranks_than_cores(self):
        found = self.read(MACHINE.replace("node: {ranks: 2", "node: {ranks: 8, cores: 2, copies: true"))
        self.assertEqual([found.ranks_of_core(ranks) for ranks in (1, 2, 3, 8, 16)], [1, 1, 2, 4, 4])
        self.assertIs(found.for_ranks(2), found)
        shared, alone = found.for_ranks(8), found.for_ranks(1)
        times = {name: getattr(shared, name) / getattr(alone, name) for name in
                 ("send", "receive", "node_bandwidth", "node_latency", "link_latency", "link_bandwidth")}
        self.assertEqual(list(times.values()), [4, 4, 1 / 4, 1, 1, 1], times)
        for kernel in found.rates:
            self.assertEqual(shared.rate(kernel)(1000), 4 * alone.rate(kernel)(1000))

    def test_rates(self):
        """Lines between sizes; and as programs read them."""
        rate = Rate([(1100, 3e-6), (100, 1e-6)])
        for size, seconds in (600, 2e-6), (50, 0.5e-6), (2200, 6e-6):
            self.assert_close(rate(size), seconds)
        self.assertTrue(rate.covers(100) and not rate.covers(99))
        self.assertEqual(kernel_times_text({"heat/sweep": Rate([(4, 0.5), (8, 0.25)])}), "heat/sweep 4 0.5\nheat/sweep 8 0.25\n")

    def test_grids(self):
        for ranks, cells, grid in (6, [100, 100], [2, 3]), (6, [900, 100], [6, 1]), (8, [64, 64, 64], [2, 2, 2]):
            self.assertEqual(smallest_surface_grid(ranks, cells), grid)
        box = DividedBox((10, 9), (2, 2), (True, False))
        self.assertEqual([box.block(rank) for rank in range(4)], [(5, 5), (5, 5), (5, 4), (5, 4)])
        self.assertEqual([box.neighbour(0, way) for way in ((1, 0), (-1, 0), (0, 1), (0, -1))], [1, 1, 2, None])
        self.assertEqual(box.interior(0), 3 * 4)
        sent = [(m.destination, m.size) for m in halo(box, faces(2), 8) if m.source == 0]
        self.assertEqual(sent, [(1, 40), (1, 40), (2, 40)])


class Network(ModelTest):
    def test_ways(self):
        m = machine()
        self.assertEqual(links(m, 0, 1), [])
        self.assertEqual(links(m, 0, 2), [("out", 0, 0), ("in", 1, 0)])
        self.assertEqual(links(m, 0, 2 * 5), [("out", 0, 0), ("in", 5, 0), ("up", 0, 1), ("down", 1, 1)])

    def test_shared_links(self):
        link = SharedLink(1e9)
        link.enter(0.0, (0, 0), 10_000)
        link.enter(2e-6, (1, 0), 5_000)  # 2000 bytes of the first one have passed
        link.enter(4e-6, (2, 0), 1_000)  # and 1000 of each
        left = []
        while link.on:
            at = link.next_leaves()
            left.append((link.leave(at), at))
        for (found, at), (expected, seconds) in zip(left, (((2, 0), 7e-6), ((1, 0), 13e-6), ((0, 0), 16e-6))):
            self.assertEqual(found, expected)
            self.assert_close(at, seconds)


class Messages(ModelTest):
    def test_exchange(self):
        # Both messages of rank 0: 1 us each to post. The second one arrives after 2 + 2 x 5 + 1000 bytes / 1e9, and costs 2 us.
        exchange = Exchange(machine(), 3, [Message(0, 1, 0), Message(0, 2, 1000), Message(1, 0, 0)])
        ends = exchange.ends([0.0] * 3, [0.0] * 3)
        self.assert_close(ends[2], 2e-6 + 10e-6 + 1e-6 + 2e-6)
        self.assert_close(ends[0], 1e-6 + 1e-6 + 2e-6)  # from rank 1 at 2 us, when rank 0 has posted
        self.assert_close(exchange.once(), ends[2])
        self.assert_close(exchange.ends([0.0] * 3, [0.0, 0.0, 100e-6])[2], 102e-6)  # hidden, but for what the processor does
        self.assert_close(exchange.ends([5e-6, 0.0, 0.0], [0.0] * 3)[2], 20e-6)  # rank 0 is late

    def test_messages_share_links(self):
        # To nodes 4, 6 and 5, 1 us to post each. The first two share a link up until the smaller one has left it; the last two share
        # theirs, which they leave after 4 and 5 us. Beside that the latency of four links, 20 us, and 2 us to receive each.
        messages = [Message(0, 8, 10_000), Message(2, 12, 5_000), Message(4, 10, 3_000), Message(4, 10, 1_000)]
        ends = Exchange(machine(), 14, messages).ends([0.0] * 14, [0.0] * 14)
        for rank, expected in ((8, 1 + 15 + 22), (12, 1 + 10 + 22), (10, 28)):
            self.assert_close(ends[rank], 1e-6 * expected)

    def test_steps_share_links(self):
        # Ranks 0 and 1 send 10 kB over one link. The one of rank 0 is alone from 1 us on, shares it from 7 us on with that of rank 1, and from
        # 11 us on with its own next one, too: they have left after 17, 29 and 31 us. A latency of 10 us, 2 us to receive.
        exchange = Exchange(machine(), 4, [Message(0, 2, 10_000), Message(1, 3, 10_000)])
        first, second = Steps(exchange, [9e-6, 1e-3, 0.0, 0.0], [0.0] * 4, 2).ends([0.0, 6e-6, 0.0, 0.0])
        for found, expected in zip((first[0], first[2], first[3], second[2]), (10e-6, 29e-6, 41e-6, 43e-6)):
            self.assert_close(found, expected)

    def test_copies_are_the_receivers_work(self):
        exchange = Exchange(machine(node={"copies": True}), 2, [Message(0, 1, 1000), Message(0, 1, 1000)])
        self.assert_close(exchange.ends([0.0] * 2, [0.0, 50e-6])[1], 50e-6 + 2 * (2e-6 + 1e-6))

    def test_steps(self):
        # Ranks 0 and 1 send to each other: 1 to post, 1 on the way, 2 to receive, and what they compute. One that waits for the
        # other half of the time takes the mean of both.
        exchange = Exchange(machine(), 2, [Message(0, 1, 0), Message(1, 0, 0)])
        self.assert_close(exchange.step([0.0, 0.0], [7e-6, 7e-6]), 11e-6)
        self.assert_close(exchange.step([6e-6, 6e-6], [1e-6, 1e-6]), 10e-6)
        self.assert_close(exchange.step([0.0, 0.0], [9e-6, 8e-6]), 12.5e-6)
        self.assert_close(exchange.step([0.0, 0.0], [9e-6, 8e-6], 1), 13e-6)  # 1 + 1 + 2 + 9: the other one is not late yet
        self.assert_close(exchange.step([0.0, 0.0], [9e-6, 8e-6], 100), 12.5e-6)

    def test_allreduce(self):
        m = machine()
        inside, near, far = 4e-6, 13e-6, 23e-6  # o + L + o of an empty message
        self.assertEqual(allreduce(m, 1, 0), 0)
        self.assert_close(allreduce(m, 2, 0), inside)
        self.assert_close(allreduce(m, 4, 0), inside + near)
        self.assert_close(allreduce(m, 16, 0), inside + 2 * near + far)
        self.assert_close(allreduce(m, 3, 0), 2 * inside + near)  # rank 0 gives to 1, 1 and 2 double, 1 gives back
        self.assert_close(allreduce(m, 4, 1000), inside + near + 2 * 1e-6)


HEAT = {"problem.cells": [20, 20], "comm.overlap": False, "solver.check_every": 10, "solver.tolerance": 0,
        "solver.max_sweeps": 100, "problem.equation": "steady", "problem.precision": "double"}
CG = {"problem.kind": "stencil", "problem.stencil.points": [4, 4, 8], "problem.stencil.size": 27, "comm.overlap": True,
      "solver.preconditioner": "none", "solver.sums": "any_order", "solver.method": "classic", "solver.tolerance": 0,
      "solver.max_iterations": 10}
MATMUL = {"problem.m": 100, "problem.n": 100, "problem.k": 100, "problem.precision": "double", "comm.overlap": True}


class Apps(ModelTest):
    def predict(self, app, deck, ranks, on=None, **changes):
        """Of a deck with these changes."""
        values = deck | {key.replace("__", "."): value for key, value in changes.items()}
        return app.predict(values.get, ranks, on or machine())

    def test_heat(self):
        found = self.predict(heat, HEAT, 4)
        # 10 x 10 cells, 100 us. Two messages of 80 bytes, one of them to another node: posted 2, arrived 12.16, because
        # another one uses the link, and 2 us.
        self.assert_close(found.compute, 100 * 100e-6)
        self.assert_close(found.exchange, 100 * 14.16e-6)
        self.assert_close(found.reduction, 10 * (4.008e-6 + 13.008e-6))
        self.assertEqual((found.steps, found.grid, found.part, found.bound), (100, (2, 2), "10 x 10", "compute"))
        # 2 x 9 cells need no ghosts: 18 us, so what remains is 2 us to post and 4 us to receive.
        self.assert_close(self.predict(heat, HEAT, 4, comm__overlap=True).exchange, 100 * 6e-6)
        # 104.16 us until the message is there, 82 us for what reads it or shares a cache line with what does.
        far = machine(network={"latency": 50e-6, "bandwidth": 1e9, "nodes_per_switch": 4, "uplinks": 2})
        self.assert_close(self.predict(heat, HEAT, 4, far, comm__overlap=True).exchange, 100 * 86.16e-6)
        self.assertEqual(self.predict(heat, HEAT, 4, solver__tolerance=1e-6).steps, None)
        (remark,) = self.predict(heat, HEAT, 1, problem__cells=[4, 4]).remarks  # sizes that were not measured
        for fact in ("heat/sweep", "16", "100", "10000"):
            self.assertIn(fact, remark)

    def test_ranks_drift_apart(self):
        """Links are busy for most of a sweep. Were all blocks to begin it together, it would take 54.4 us; SimGrid 3.32
        finds 48.44. Ranks ahead share links with those behind: the links of nodes are busy for 47.2 us of a sweep, and
        SimGrid 3.32 finds 60.45 us; with latencies it gives less of a link to a message over four of them than to one
        over two (lab/model/README.md)."""
        fat_tree = read_machine(FAT_TREE)
        for cells, ranks, on, expected in (
            ([192, 384, 384], 256, fat_tree, 48.44e-6), ([384, 384, 768], 1024, replace(fat_tree, link_latency=0.0), 60.45e-6),
        ):
            keys = {"solver__check_every": 0, "solver__max_sweeps": 10}
            found = self.predict(heat, HEAT, ranks, on, problem__cells=cells, comm__overlap=True, **keys)
            self.assertAlmostEqual(found.seconds / 10 / expected, 1, delta=0.01)

    def test_cg(self):
        found = self.predict(cg, CG, 2)
        # 64 rows: 64 us and two loops of 6.4 us. The interior's 48 us hide the message, but for 1 us and 2 us.
        # Before them come a product, five loops, and sums of one number and of two.
        self.assert_close(found.compute, 10 * (64e-6 + 12.8e-6) + 64e-6 + 32e-6)
        self.assert_close(found.exchange, 11 * 3e-6)
        self.assert_close(found.reduction, 11 * (4.016e-6 + 4.008e-6))
        found = self.predict(cg, CG, 2, solver__method="pipelined")
        self.assert_close(found.reduction, 4.008e-6 + 4.024e-6)
        self.assert_close(found.hidden, 10 * 4.024e-6)
        self.assertEqual(self.predict(cg, CG, 2, solver__method="pipelined", solver__tolerance=1e-6).reduction, 0)
        with self.assertRaisesRegex(Failure, "chebyshev.*none and jacobi"):
            self.predict(cg, CG, 2, solver__preconditioner="chebyshev")

    def test_matmul(self):
        found = self.predict(matmul, MATMUL, 4)
        # Blocks of 50 x 50 elements, 20 kB, 20 us. Two products of 250 us; the shift of both blocks hides behind the
        # first. Skew and back: A inside of a node, 24 us, B between two, 33 us. Shifts: two messages to post and to
        # receive.
        self.assert_close(found.compute, 2 * 250e-6)
        self.assert_close(found.exchange, 2 * (24e-6 + 33e-6) + 6e-6)
        self.assert_close(found.reduction, 4.016e-6 + 13.016e-6)
        self.assertEqual((found.steps, found.grid), (1, (2, 2)))

    def test_cannon_on_any_grid(self):
        cannon = matmul.Cannon(12, 12, 12, 2, 3, 8)  # 6 panels of 2 columns: blocks of A have two, of B three
        self.assertEqual(cannon.segments(), [(0, 2), (2, 3), (3, 4), (4, 6)])
        # Row 1 begins with panel 3: of A's blocks one panel goes one rank on, the other two ranks. 6 rows x 2 columns.
        sent = [(m.source, m.destination, m.size) for m in cannon.skew_of_a() if m.source == 3]
        self.assertEqual(sent, [(3, 5, 6 * 2 * 8), (3, 4, 6 * 2 * 8)])
        back = [(m.source, m.destination) for m in cannon.skew_of_a(back=True) if m.destination == 3]
        self.assertEqual(back, [(5, 3), (4, 3)])
        first = cannon.shift_of_b()[0]
        self.assertEqual((first.source, first.destination, first.size), (0, 3, 192.0))


def heat_record(ranks, seconds, cells=100, **more):
    return {"app": "heat", "ranks": ranks, "cells": [cells, cells], "sweeps": 10, "repeats": [1.0],
            "started": "2030-01-01T00:00:00Z",
            "timers": [{"region": "compute", "calls": 10, "median": seconds, "mean": seconds}],
            "calibration": {"latency": 1e-6, "bandwidth": 5e9} if ranks > 1 else {}, **more}


class Records(ModelTest):
    def test_rates(self):
        rates = rates_of([heat_record(1, 1.0), heat_record(4, 0.2), heat_record(4, 0.3)])
        for point, expected in zip(rates["heat/sweep"].points, ((2500, 0.025), (10000, 0.1))):
            self.assert_close(point[0], expected[0])
            self.assert_close(point[1], expected[1])
        few = rates_of([heat_record(1, 1.0), heat_record(4, 0.2)], 3)["heat/sweep"].points
        self.assertEqual([point[0] for point in few], [10000])
        with self.assertRaisesRegex(Failure, "simulated"):
            rates_of([heat_record(1, 1.0, simulated="kernels")])

    def test_a_machine_of_records(self):
        values = machine_values([heat_record(1, 1.0), heat_record(2, 0.5)], "here")
        self.assertEqual((values["node"]["ranks"], values["node"]["bandwidth"], values["message"]["send"]), (2, 5e9, 5e-7))
        self.assertEqual(self.read(yaml.safe_dump(values)).rate("heat/sweep").points, ((5000, 0.05), (10000, 0.1)))
        places = [{"rank": rank, "host": host, "cores": cores} for rank, (host, cores) in
                  enumerate((("a", "0-1"), ("a", "0-1,6"), ("b", "0-7")))]
        bound = heat_record(1, 1.0, placement=[{"rank": 0, "host": "a", "cores": "0"}])
        for records, cores in ([bound, heat_record(8, 0.5, placement=places)], 3), ([heat_record(2, 0.5, placement=places)], 2):
            self.assertEqual(machine_values(records, "here")["node"]["cores"], cores)
        with self.assertRaisesRegex(Failure, "2 ranks or more"):
            machine_values([heat_record(1, 1.0)], "here")

    def test_measured_runs_of_the_same_point(self):
        point = SimpleNamespace(ranks=2, set={"problem.cells": [8, 8]}, deck="a.yaml")
        other = {"p1": {"ranks": 4}, "p2": {"deck": "b.yaml"}}
        points = [{"id": name, "ranks": 2, "set": point.set, "deck": "a.yaml", **other.get(name, {})} for name in ("p0", "p1", "p2")]
        runs = [{"point": f"p{number}", "state": state, "record": f"{number}{state}.json"}
                for number in range(3) for state in ("passed", "failed")]
        for run in runs:
            seconds = [3.0, 1.0, 2.0] if run["record"] == "0passed.json" else [9.0]
            (self.folder / run["record"]).write_text(json.dumps({"sweeps": 4, "repeats": seconds}))
        (self.folder / "study.json").write_text(json.dumps({"points": points, "runs": runs}))
        self.assertEqual(measured_seconds(self.folder, point), 0.5)
        point.ranks = 8
        self.assertIsNone(measured_seconds(self.folder, point))
        with self.assertRaisesRegex(Failure, "no study.json"):
            measured_seconds(self.folder / "elsewhere", point)

    def test_usage(self):
        record = self.folder / "x.json"
        for text, words, fact in (
            ("", ["study.yaml"], "--machine"), ('{"no": "record"}', ["--records", record], "no record of a run"),
            ("{", ["--records", record], str(record)),
        ):
            record.write_text(text)
            more = ["--write-machine", str(self.folder / "m.yaml")] if "--records" in words else []
            said = io.StringIO()
            with redirect_stderr(said), self.subTest(text):
                try:
                    code = main([*map(str, words), *more])
                except SystemExit as end:
                    code = end.code
                self.assertEqual(code, 2)
                self.assertIn(fact, said.getvalue())


@unittest.skipUnless(shutil.which("smpirun") and shutil.which("smpicc"), "SimGrid (simgrid, libsimgrid-dev) is not installed")
class Simulated(ModelTest):
    """16 ranks on 8 nodes of two switches."""

    def test_steps(self):
        m = machine(message={"send": 3e-7, "receive": 3e-7})
        program, xml, places = (self.folder / name for name in ("steps", "m.xml", "hosts"))
        subprocess.run(["smpicc", str(MODEL / "tests/simulated_steps.c"), "-O1", "-o", program], check=True, capture_output=True)
        xml.write_text(platform(m, 8))
        places.write_text(hosts(m, 16))
        for size, seconds in ((8, 0), (8, 1e-4), (100_000, 0)):
            messages = [Message(rank, (rank + side) % 16, size) for rank in range(16) for side in (1, -1)]
            model = max(Exchange(m, 16, messages).ends([0.0] * 16, [seconds] * 16)) + allreduce(m, 16, 8)
            done = subprocess.run(["smpirun", "-np", "16", "-platform", xml, "-hostfile", places, *options(m, ""), program,
                                   str(size), str(seconds)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertAlmostEqual(model / float(done.stdout), 1, delta=0.1, msg=f"{size} bytes: {model} s by the model")

    @unittest.skipUnless((BUILD / "bin/heat").exists() and (ROOT / "build-smpi/bin/heat").exists(), "heat is not built with preset smpi")
    def test_heat(self):
        study, simulated, out = (self.folder / name for name in ("study.yaml", "simulated", "out.json"))
        study.write_text("study: halo\ndeck: inputs/heat/bandwidth.yaml\nkind: strong\nranks: [16]\nrepeats: 1\n"
                         "set: {problem.cells: [128, 128], solver.max_sweeps: 5, warm_up.sweeps: 1}\n")
        words = [study, "--machine", FAT_TREE, "--simulate", simulated, "--json", out]
        with patch.dict(os.environ, KONTOR_BUILD_DIR=str(BUILD)), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            self.assertEqual(main(list(map(str, words))), 0)
        (point,) = json.loads(out.read_text())["points"]
        self.assertAlmostEqual(point["seconds_a_step"] / point["simulated_seconds_a_step"], 1, delta=0.1)
        record = json.loads((simulated / "heat-p000-16.json").read_text())
        self.assertIn("KONTOR_KERNEL_TIMES", record["simulated"])
        self.assertNotIn("passed", record["verification"])


if __name__ == "__main__":
    unittest.main()
