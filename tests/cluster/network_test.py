# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mini-apps on two hosts with a network of their own: what it carries and costs, and what is left when a host
vanishes."""

import json
import os
import re
import shlex
import statistics
import subprocess
import unittest

import hosts
import network
from hosts import KONTOR, ROOT, wait_for

LATENCY = 2e-3  # seconds
BANDWIDTH = 20e6  # bytes per second

HEAT = """\
app: heat
problem:
  cells: [48, 40]
  boundary: {y_max: {dirichlet: "sin(pi*x)"}}
solver: {tolerance: 0, max_sweeps: 1500, check_every: 0}
verification: {tolerance: 10}
measure: {calibrate: false}
"""
ENDLESS = HEAT.replace("1500, check_every: 0", "1000000000") + "comm: {check: cross_rank, timeout: 1}\n"
MODEL = """\
app: pingpong
problem: {measure: model, scalars: [double], sizes: {from: 1, to: 4096, factor: 8}, repetitions: 15}
"""


def setUpModule():
    hosts.require_isolation()
    network.require_network()
    os.environ["KONTOR_ABORT_SECONDS"] = "2"


class NetworkTest(hosts.FolderTest):
    def make(self, *properties):
        net = network.Network(self.folder, *properties)
        self.addCleanup(net.end)
        return net

    def start(self, net, per_host, deck, *words, ranks=None, launcher_options=()):
        """kontor run on the first host; what it says goes to the file `said`."""
        (self.folder / "deck.yaml").write_text(deck)
        with open(self.folder / "said", "w", encoding="utf-8") as said:
            run = [KONTOR, "run", "-n", str(ranks or 2 * per_host), "deck.yaml", "--results", "record.json", *words]
            return net.start(*run, cwd=self.folder, stdout=said, stderr=said,
                             env={**os.environ, "TMPDIR": str(self.folder),
                                  "KONTOR_LAUNCHER": " ".join([*net.launcher(per_host), *launcher_options])})

    def said(self):
        return (self.folder / "said").read_text(encoding="utf-8")

    def run_deck(self, *arguments, expected=0, **options):
        self.assertEqual(self.start(*arguments, **options).wait(60), expected, self.said())
        return json.loads((self.folder / "record.json").read_text()) if expected == 0 else None


class Carries(NetworkTest):
    def field(self):
        import h5py  # pylint: disable=import-outside-toplevel
        with h5py.File(self.folder / "deck.h5") as file:
            return file["fields/temperature"][...]

    def run_heat(self, net, backend, **options):
        """The record, the field, and how many packets ranks of the first host have sent to each other."""
        before = net.packets("lo")
        record = self.run_deck(net, 2, HEAT, "--set", f"comm.backend={backend}",
                               launcher_options=["--mca", "btl", "self,tcp"], **options)
        return record, self.field(), net.packets("lo") - before

    def test_shared_memory_inside_a_host_and_messages_between(self):
        net = self.make()
        record, field, inside = self.run_heat(net, "shm")
        self.assertIn("2 nodes", self.said())
        self.assert_placed(record)
        report = subprocess.check_output([KONTOR, "report", "deck.h5"], cwd=self.folder, text=True)
        self.assertIn(", ".join(network.NAMES), report)
        # By messages there would be two in each of 1,500 sweeps.
        self.assertLess(inside, 1000)
        alone, on_one_host, _ = self.run_heat(net, "shm", ranks=2)
        self.assertEqual(alone["hosts"], [network.NAMES[0]])
        self.assertTrue((field == on_one_host).all())

    def assert_placed(self, record):
        self.assertEqual(record["hosts"], list(network.NAMES))
        self.assertEqual([place["host"] for place in record["placement"]], sorted(2 * network.NAMES))

    def test_mini_apps(self):
        """As small as the line `# test:` of their decks makes them. Four ranks share the cores if there are fewer."""
        net = self.make()
        for name, *keys in ["cg/poisson7"], ["heat/plate", "problem.cells=[32,32]", "measure.calibrate=true"]:
            with self.subTest(name):
                deck = (ROOT / f"inputs/{name}.yaml").read_text()
                small = shlex.split(re.search("(?m)^# test: (.*)$|$", deck)[1] or "")
                words = [word for key in ("measure.calibrate=false", *keys) for word in ("--set", key)]
                record = self.run_deck(net, 2, deck, *small, *words)
                self.assertIn("VERIFICATION PASSED", self.said())
                self.assert_placed(record)
        machine = record["calibration"]
        for what in "latency", "bandwidth":
            self.assertTrue(machine[what] > 0 and machine[f"internode_{what}"] > 0, machine)
        self.assertNotEqual(machine["latency"], machine["internode_latency"])
        self.assertEqual(machine["oversubscribed"], len(os.sched_getaffinity(0)) < 2)

    def test_ipc_is_refused_by_name(self):
        """Of the hosts, where the build has it at all."""
        self.run_deck(self.make(), 2, HEAT, "--set", "comm.backend=ipc", expected=2)
        elsewhere = "works within one node.*ranks 0, 1 on alpha; ranks 2, 3 on beta-2"
        self.assertRegex(self.said(), f"'ipc' (is not in this build|{elsewhere})")


class Costs(NetworkTest):
    def test_pingpong_finds_latency_and_bandwidth(self):
        """The best latency and the median bandwidth of the fit and of the calibration, of at most five runs. Other
        work on these cores delays messages: a factor of two, as from a round trip taken for one way, is found, and
        nothing finer."""
        limits = {"latency": (0.75, 1.9), "bandwidth": (0.55, 1.5)}
        net = self.make(LATENCY, BANDWIDTH)
        found = {"latency": [], "bandwidth": []}
        for _ in range(5):
            record = self.run_deck(net, 1, MODEL)
            model, machine = record["model"], record["calibration"]
            found["latency"].append([model["alpha"] / LATENCY, machine["internode_latency"] / LATENCY])
            found["bandwidth"].append([1 / model.get("beta_rendezvous", model["beta"]) / BANDWIDTH,
                                       machine["internode_bandwidth"] / BANDWIDTH])
            best = [(min(runs), limits["latency"]) for runs in zip(*found["latency"])]
            best += [(statistics.median(runs), limits["bandwidth"]) for runs in zip(*found["bandwidth"])]
            if all(low < ratio < high for ratio, (low, high) in best):
                break
        else:
            self.fail(f"found / set: {found}")


class Vanishes(NetworkTest):
    def start_endless(self):
        net = self.make()
        (self.folder / "deck.h5").write_text("of another day")
        running = self.start(net, 2, ENDLESS)
        wait_for(lambda: running.poll() is not None or "sweep" in self.said(), self.said, 40)
        self.assertIsNone(running.poll(), self.said())
        return net, running

    def assert_ended(self, running):
        """By comm.timeout and KONTOR_ABORT_SECONDS; other tests run, so it may take longer."""
        self.assertEqual(running.wait(40), 3, self.said())
        self.assertEqual((self.folder / "deck.h5").read_text(), "of another day")
        self.assertFalse((self.folder / "record.json").exists())
        self.assertEqual(list(self.folder.glob("kontor-run.*")) + list(self.folder.glob("ompi.alpha.*/pid.*")), [])
        left = lambda: network.processes_of("heat", "mpirun", "nsenter")
        wait_for(lambda: not left(), left, 3)

    def test_a_host_that_is_not_heard_of_any_more(self):
        net, running = self.start_endless()
        net.cut()
        self.assert_ended(running)
        self.assertRegex(self.said(), r"exchange 'heat/halo of .*waited 1 s.*(missing: 2-3|for rank [23] )")
        self.assertRegex(self.said(), r"kontor: .*mpirun.* 2 s")

    def test_a_host_that_is_dead(self):
        net, running = self.start_endless()
        net.hosts[1].kill()
        self.assert_ended(running)
        self.assertRegex(self.said(), r"kontor: mpirun ended with code \d+ .*host")


if __name__ == "__main__":
    hosts.isolate()
    unittest.main(verbosity=2)
