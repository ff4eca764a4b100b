# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A machine as its file describes it: nodes, network, what a message costs, what kernels take. Read as strictly as decks are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kontor.study.kinds import FLAG, Key, Kind, ListOf, Section, text, whole
from kontor.study.problems import Problems, StudyError
from kontor.study.tree import Node, parse

from .rates import KERNELS, Rate

MOST = 10**7


@dataclass
class Number(Kind):
    """A number from `low`, or above it."""

    low: float = 0.0
    above: bool = False

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        value = node.plain_value()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            if value > self.low or (value == self.low and not self.above):
                return float(value)
        return self.refuse(problems, node, key, f"a number {'above' if self.above else 'from'} {self.low:g}")


class Points(Kind):
    """[[size, seconds], ...] with sizes that grow."""

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        pairs = ListOf(ListOf(Number())).read(key, node, problems)
        if pairs is None or any(pair is None or None in pair for pair in pairs):
            return None
        sizes = [pair[0] for pair in pairs]
        if any(len(pair) != 2 for pair in pairs) or sizes != sorted(set(sizes)) or sizes[0] <= 0:
            return self.refuse(problems, node, key, "pairs [size, seconds], with sizes above 0 that grow")
        return [tuple(pair) for pair in pairs]


SECONDS, BANDWIDTH = Number(), Number(above=True)
FILE = Section({
    "name": Key(text(), "what it is called", required=True),
    "about": Key(text(), "what it is, and where its figures come from", ""),
    "nodes": Key(whole(1, MOST), "nodes that there are", 1),
    "node": Key(Section({
        "ranks": Key(whole(1, MOST), "ranks on a node: its cores or GPUs", required=True),
        "cores": Key(whole(1, MOST), "cores or GPUs of a node, if ranks may be more: then they take turns", None),
        "latency": Key(SECONDS, "s of a message between two ranks of a node, without what it costs their processors", 0.0),
        "bandwidth": Key(BANDWIDTH, "B/s of a message between them", required=True),
        "copies": Key(FLAG, "the receiving processor copies such messages while it waits, one after the other", False),
    }), "a node", required=True),
    "network": Key(Section({
        "latency": Key(SECONDS, "s of one link; a message goes by two to another node of the switch, by four further on", 0.0),
        "bandwidth": Key(BANDWIDTH, "B/s of one link, each way; every node has one", 1e10),
        "nodes_per_switch": Key(whole(1, MOST), "nodes of one switch; all of them unless it is given", MOST),
        "uplinks": Key(whole(1, MOST), "links of a switch to the level above, where there are several switches", 1),
    }), "between nodes", None),
    "message": Key(Section({
        "send": Key(SECONDS, "s that a message costs the processor that sends it", 0.0),
        "receive": Key(SECONDS, "s that it costs the one that receives it", 0.0),
    }), "what a message costs at its ends", {"send": 0.0, "receive": 0.0}),
    "compute": Key(Section({name: Key(Points(), f"[[size, s], ...]: seconds of {words}") for name, words in KERNELS.items()}),
                   "what kernels take on one rank, by the size of its part", {}),
})


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
        """Raises StudyError if the machine does not say."""
        if kernel not in self.rates:
            raise StudyError(f"{self.file}: compute.{kernel} is missing: [[size, seconds], ...]; runs on few ranks give it by --records")
        return self.rates[kernel]

    def require_ranks(self, ranks: int) -> None:
        if ranks > self.nodes * self.ranks_per_node:
            raise StudyError(f"{self.file}: {ranks} ranks, but '{self.name}' has {self.nodes} nodes of {self.ranks_per_node}: "
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
    """Raises StudyError with all that is wrong."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise StudyError(f"{path}: cannot read the machine: {error.strerror}; lab/model/machines/ has some") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path}: not a machine: it is not UTF-8 text") from error
    problems = Problems()
    tree = parse(text, path, "machine")
    values = FILE.read("machine", tree, problems)
    problems.raise_any()
    if values["nodes"] > 1 and values["network"] is None:
        problems.add(tree.keys["nodes"], f"machine.nodes is {values['nodes']}, so machine.network is needed")
    problems.raise_any()
    return machine_of(values, path)


def machine_of(values: dict[str, Any], path: str) -> Machine:
    node, message = values["node"], values["message"]
    cores = node.get("cores") or node["ranks"]
    network = values["network"] or {"latency": 0.0, "bandwidth": node["bandwidth"], "nodes_per_switch": MOST, "uplinks": 1}
    rates = {kernel: Rate(points) for kernel, points in (values["compute"] or {}).items() if points}
    return Machine(path, values["name"], values["about"] or "", values["nodes"], node["ranks"], cores, node["latency"],
                   node["bandwidth"], node["copies"], network["latency"], network["bandwidth"], network["nodes_per_switch"], network["uplinks"],
                   message["send"], message["receive"], rates)
