# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way of a message through a machine: its latency, and the links that it shares with others."""

from __future__ import annotations

from collections import defaultdict
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


def alone(machine: Machine, message: Message) -> float:
    """Seconds of its bytes if nothing else is on the way. Nothing where the receiving processor copies it: that is its work."""
    if machine.node_of(message.source) == machine.node_of(message.destination):
        return 0.0 if machine.copies else message.size / machine.node_bandwidth
    return message.size / machine.link_bandwidth


def carried(machine: Machine, posted: list[tuple[Message, float]]) -> list[float]:
    """When the last byte of each message leaves its most loaded link, if it was posted then. A link carries what is posted at one
    time together, one such group after the other. Inside a node messages do not share."""
    groups: dict[Link, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    ways = [links(machine, message.source, message.destination) for message, _ in posted]
    for (message, at), way in zip(posted, ways):
        for link in way:
            groups[link][round(at, 12)] += message.size
    ends: dict[tuple[Link, float], float] = {}
    for link, sizes in groups.items():
        free = 0.0
        for at in sorted(sizes):
            free = ends[link, at] = max(free, at) + sizes[at] / machine.link_bandwidth
    return [max((ends[link, round(at, 12)] for link in way), default=at + alone(machine, message)) for (message, at), way in zip(posted, ways)]


def copying(machine: Machine, message: Message) -> float:
    """Seconds that the receiving processor copies."""
    same = machine.node_of(message.source) == machine.node_of(message.destination)
    return message.size / machine.node_bandwidth if machine.copies and same else 0.0
