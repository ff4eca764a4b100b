# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mini-apps on two ranks of each of two hosts, which mpirun reaches as it does by ssh."""

import json
import os
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

import hosts

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KONTOR_BUILD_DIR", ROOT / "build"))
HOSTS = ("alpha", "beta-2")
WITHOUT = ("--set", "measure.calibrate=false")


def setUpModule():
    hosts.require_isolation()


class TwoHosts(unittest.TestCase):
    def launch(self, folder, app, *words):
        """On ranks 0 and 1 of the first host, 2 and 3 of the second."""
        launcher = ["mpirun", "--quiet", "--allow-run-as-root", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent",
                    str(hosts.remote_shell(folder)), "--mca", "mpi_yield_when_idle", "1", "--bind-to", "none",
                    "--host", ",".join(f"{host}:2" for host in HOSTS), "-n", "4"]
        program = [str(BUILD / "bin" / app), *words, "--quiet", "--results", "record.json"]
        return subprocess.run([*hosts.on_host(HOSTS[0]), *launcher, *program], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60)

    def run_app(self, app, *words):
        """The record of a verified run."""
        with tempfile.TemporaryDirectory(prefix="kontor-") as folder:
            done = self.launch(folder, app, *words)
            self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
            self.assertIn("VERIFICATION PASSED", done.stdout)
            record = json.loads((Path(folder) / "record.json").read_text())
        self.assertEqual((record["ranks"], record["hosts"]), (4, list(HOSTS)))
        self.assertEqual([place["host"] for place in record["placement"]], [HOSTS[0]] * 2 + [HOSTS[1]] * 2)
        return record

    def assert_calibrated(self, machine):
        """A link of each kind, by the names of its ends. Four ranks share the cores if there are fewer."""
        self.assertEqual(machine["link"], f"ranks 0 and 1 of {HOSTS[0]}")
        self.assertEqual(machine["internode_link"], f"rank 0 of {HOSTS[0]} and rank 2 of {HOSTS[1]}")
        for kind in "latency", "bandwidth", "internode_latency", "internode_bandwidth":
            self.assertGreater(machine[kind], 0, kind)
        self.assertNotEqual(machine["latency"], machine["internode_latency"])
        self.assertEqual(machine["oversubscribed"], len(os.sched_getaffinity(0)) < 2)

    def run_deck(self, name, *words):
        """As small as its line `# test:` makes it."""
        path = ROOT / f"inputs/{name}.yaml"
        small = next((line for line in path.read_text().splitlines() if line.startswith("# test: ")), "# test: ")
        return self.run_app(name.split("/")[0], str(path), *shlex.split(small.removeprefix("# test: ")), *words)

    def test_heat(self):
        record = self.run_deck("heat/plate", "--set", "problem.cells=[32,32]")
        self.assert_calibrated(record["calibration"])

    def test_cg(self):
        self.run_deck("cg/poisson7", *WITHOUT)

    def test_pingpong(self):
        record = self.run_deck("pingpong/thesis-1d", *WITHOUT)
        self.assertGreater(len(record["curves"]), 0)

    def test_ipc_is_refused(self):
        """By the names of the hosts, where the build has it at all."""
        with tempfile.TemporaryDirectory(prefix="kontor-") as folder:
            done = self.launch(folder, "heat", str(ROOT / "inputs/heat/plate.yaml"), "--set", "comm.backend=ipc")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertFalse((Path(folder) / "record.json").exists())
        self.assertRegex(done.stderr, "'ipc' (is not in this build|works within one node.*ranks 0, 1 on alpha; ranks 2, 3 on beta-2)")


if __name__ == "__main__":
    hosts.isolate()
    unittest.main(verbosity=2)
