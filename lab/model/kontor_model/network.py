# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way of a message through a machine: its latency, and the links that it shares with others."""

from dataclasses import dataclass
from heapq import heappop, heappush

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


class SharedLink:
    """Its bandwidth is shared equally by what is on it at a time. `given` is what each message that has been there all the time was
    given of it, in bytes."""

    def __init__(self, bandwidth: float) -> None:
        self.bandwidth = bandwidth
        self.now = self.given = 0.0
        self.on: list[tuple[float, tuple[int, int]]] = []  # what must have been given when it leaves, and what it is
        self.changes = 0

    def enter(self, now: float, what: tuple[int, int], size: float) -> None:
        if self.on:
            self.given += (now - self.now) / len(self.on) * self.bandwidth
        self.now = now
        self.changes += 1
        heappush(self.on, (self.given + size, what))

    def leave(self, now: float) -> tuple[int, int]:
        """The one that leaves next, which it does now."""
        self.now = now
        self.changes += 1
        self.given, what = heappop(self.on)
        return what

    def next_leaves(self) -> float:
        """Unless the link changes before."""
        return self.now + max(0.0, self.on[0][0] - self.given) * len(self.on) / self.bandwidth


def copying(machine: Machine, message: Message) -> float:
    """Seconds that the receiving processor copies."""
    same = machine.node_of(message.source) == machine.node_of(message.destination)
    return message.size / machine.node_bandwidth if machine.copies and same else 0.0
