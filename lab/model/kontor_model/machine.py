# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A machine as its file describes it: nodes, network, what a message costs, what kernels take. Read as strictly as decks are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from kontor.messages import Failure
from kontor.place import Place, nearest
from kontor.study.study import by_key, reader_says

from .rates import KERNELS, Rate

MOST = 10**7
# By key, what a machine's file may have; lab/model/README.md says what each is.
WHOLE = ("nodes", "node.ranks", "node.cores", "network.nodes_per_switch", "network.uplinks")
ABOVE_0 = ("node.bandwidth", "network.bandwidth")
FROM_0 = ("node.latency", "network.latency", "message.send", "message.receive")
COMPUTE = tuple(f"compute.{kernel}" for kernel in KERNELS)
SECTIONS = ("node", "network", "message", "compute")
KEYS = (*WHOLE, *ABOVE_0, *FROM_0, *COMPUTE, "name", "about", "node.copies")
REQUIRED = ("name", "node.ranks", "node.bandwidth")


@dataclass
class Machine:
    file: str
    name: str
    about: str
    nodes: int
    ranks_per_node: int
    cores: int  # of a node
    node_latency: float
    node_bandwidth: float
    copies: bool
    link_latency: float
    link_bandwidth: float
    nodes_per_switch: int
    uplinks: int
    send: float
    receive: float
    rates: dict[str, Rate] = field(default_factory=dict)

    def rate(self, kernel: str) -> Rate:
        """Raises Failure if the machine does not say."""
        if kernel not in self.rates:
            raise Failure(f"{self.file}: compute.{kernel} is missing: [[size, seconds], ...]; runs on few ranks give it by --records")
        return self.rates[kernel]

    def require_ranks(self, ranks: int) -> None:
        if ranks > self.nodes * self.ranks_per_node:
            raise Failure(f"{self.file}: {ranks} ranks, but '{self.name}' has {self.nodes} nodes of {self.ranks_per_node}: "
                             f"{self.nodes * self.ranks_per_node} ranks at most")

    def ranks_of_core(self, ranks: int) -> int:
        """How many of so many ranks share the core that has most of them."""
        return -(-min(ranks, self.ranks_per_node) // self.cores)

    def for_ranks(self, ranks: int) -> Machine:
        """As one of so many ranks sees it: what a processor does takes as many times longer as ranks share it."""
        share = self.ranks_of_core(ranks)
        if share == 1:
            return self
        return replace(self, send=self.send * share, receive=self.receive * share,
                       node_bandwidth=self.node_bandwidth / share if self.copies else self.node_bandwidth,
                       rates={kernel: rate.times(share) for kernel, rate in self.rates.items()})

    def node_of(self, rank: int) -> int:
        return rank // self.ranks_per_node


def read_machine(path: str) -> Machine:
    """Ends the command, or raises Failure, with all that is wrong."""
    given = by_key(reader_says(Place.here(), "--json", path))
    wrong = [f"{key} is missing" for key in REQUIRED if key not in given]
    wrong += [f"{key} {what}" for key, value in given.items() if (what := mistake(key, value))]
    if given.get("nodes", 1) != 1 and "network" not in given:
        wrong.append(f"nodes is {given['nodes']}, so network is needed")
    if wrong:
        raise Failure("\n".join(f"{path}: {each}" for each in wrong), error_id="E-DECK-KEY")
    return machine_of(given, path)


def mistake(key: str, value: Any) -> str:
    """What is wrong with the value of a key, in words; empty if nothing is."""
    if key in SECTIONS:
        return "" if isinstance(value, dict) else "takes a section"
    if key not in KEYS:
        return f"is unknown{nearest(key, KEYS)}"
    if key in WHOLE:
        return "" if is_number(value) and value == int(value) and 1 <= value <= MOST else f"takes a whole number from 1, found {value}"
    if key in ABOVE_0:
        return "" if is_number(value) and value > 0 else f"takes a number above 0, found {value}"
    if key in FROM_0:
        return "" if is_number(value) and value >= 0 else f"takes a number from 0, found {value}"
    if key in COMPUTE:
        are_pairs = isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 and all(map(is_number, pair)) for pair in value)
        sizes = [pair[0] for pair in value] if are_pairs else []
        grow = sizes and sizes == sorted(set(sizes)) and sizes[0] > 0
        return "" if grow else "takes pairs [size, seconds], with sizes above 0 that grow"
    return "" if key != "node.copies" or isinstance(value, bool) else "takes true or false"


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def machine_of(values: dict[str, Any], path: str) -> Machine:
    node, message = values["node"], values.get("message") or {}
    network = values.get("network") or {"bandwidth": node["bandwidth"]}
    rates = {kernel: Rate(points) for kernel, points in (values.get("compute") or {}).items()}
    return Machine(path, str(values["name"]), str(values.get("about", "")), values.get("nodes", 1), node["ranks"],
                   node.get("cores", node["ranks"]), node.get("latency", 0.0), node["bandwidth"], node.get("copies", False),
                   network.get("latency", 0.0), network.get("bandwidth", 1e10), network.get("nodes_per_switch", MOST),
                   network.get("uplinks", 1), message.get("send", 0.0), message.get("receive", 0.0), rates)
