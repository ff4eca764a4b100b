# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A machine of 16 nodes whose figures are round, and numbers that are close."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / "lab/model"
sys.path[:0] = [str(MODEL), str(ROOT / "python")]
try:
    import yaml
    from kontor_model.machine import machine_of
except ModuleNotFoundError as error:
    print(f"skipped: python3-{error.name} is not installed")
    sys.exit(77)

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


class Close(unittest.TestCase):
    def assert_close(self, found, expected):
        self.assertLessEqual(abs(found - expected), 1e-9 * abs(expected), f"{found}, expected {expected}")
