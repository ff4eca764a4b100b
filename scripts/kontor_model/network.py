# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way of a message through a machine: its latency, and the links that it shares with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .machine import Machine

Link = tuple[str, int, int]


@dataclass(frozen=True)
class Message:
    source: int
    destination: int
    size: float  # bytes


def links(machine: Machine, source: int, destination: int) -> list[Link]:
    """Those between two ranks; none inside a node. In a fat tree of two levels the destination decides which link goes up, as
    D-mod-k routing has it (Zahavi, Johnson, Kerbyson, Lang, 2010), and SimGrid."""
    a, b = machine.node_of(source), machine.node_of(destination)
    if a == b:
        return []
    up, down = a // machine.nodes_per_switch, b // machine.nodes_per_switch
    way = [("out", a, 0), ("in", b, 0)]
    if up != down:
        middle = b % machine.uplinks
        way += [("up", up, middle), ("down", down, middle)]
    return way


def latency(machine: Machine, source: int, destination: int) -> float:
    way = links(machine, source, destination)
    return len(way) * machine.link_latency if way else machine.node_latency


def loads(machine: Machine, messages: Iterable[Message]) -> Counter[Link]:
    """Bytes that go over each link, of messages that are on their way together."""
    found: Counter[Link] = Counter()
    for message in messages:
        for link in links(machine, message.source, message.destination):
            found[link] += message.size
    return found


def transfer(machine: Machine, message: Message, shared: Counter[Link]) -> float:
    """Seconds of its bytes on the most loaded of its links; inside a node it has the bandwidth to itself. Nothing where the
    receiving processor copies it: that is time of the processor."""
    way = links(machine, message.source, message.destination)
    if not way:
        return 0.0 if machine.copies else message.size / machine.node_bandwidth
    return max(shared[link] for link in way) / machine.link_bandwidth


def copying(machine: Machine, message: Message) -> float:
    """Seconds that the receiving processor copies."""
    same = machine.node_of(message.source) == machine.node_of(message.destination)
    return message.size / machine.node_bandwidth if machine.copies and same else 0.0
