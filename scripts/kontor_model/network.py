# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way of a message through a machine: its latency, and the links that it shares with others."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf

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


class Traffic:
    """Messages that are sent again and again, over links that share their bandwidth equally among what is on them. A link carries
    what was posted in one step before what is posted in the next. Inside a node messages do not share."""

    def __init__(self, machine: Machine, messages: list[Message]) -> None:
        self.bandwidth = machine.link_bandwidth
        self.sizes = [message.size for message in messages]
        self.on: dict[Link, list[int]] = defaultdict(list)  # messages by link
        for number, message in enumerate(messages):
            for link in links(machine, message.source, message.destination):
                self.on[link].append(number)
        self.alone = [alone(machine, message) for message in messages]
        self.free: dict[Link, float] = {}  # when the messages of the step before have left

    def carried(self, posted: list[float]) -> list[float]:
        """When each message, posted then, has left the last of its links."""
        ends = [at + seconds for at, seconds in zip(posted, self.alone)]
        for link, numbers in self.on.items():
            free = self.free.get(link, 0.0)
            shared = _share(sorted((max(posted[number], free), number, self.sizes[number]) for number in numbers), self.bandwidth)
            for number, end in shared:
                ends[number] = max(ends[number], end)
            self.free[link] = shared[-1][1]
        return ends


def _share(arrivals: list[tuple[float, int, float]], bandwidth: float) -> list[tuple[int, float]]:
    """Messages (time, number, bytes) and their ends, in the order in which they leave a link. `given` is what each message that has
    been there all the time was given of it, in bytes."""
    under_way: list[tuple[float, int]] = []  # what must have been given when it leaves, number
    left: list[tuple[int, float]] = []
    now = given = 0.0
    for at, number, size in [*arrivals, (inf, -1, 0.0)]:
        while under_way and (ends := now + (under_way[0][0] - given) * len(under_way) / bandwidth) <= at:
            given, last = heappop(under_way)
            left.append((last, ends))
            now = ends
        if under_way:
            given += (at - now) / len(under_way) * bandwidth
        now = at
        heappush(under_way, (given + size, number))
    return left


def copying(machine: Machine, message: Message) -> float:
    """Seconds that the receiving processor copies."""
    same = machine.node_of(message.source) == machine.node_of(message.destination)
    return message.size / machine.node_bandwidth if machine.copies and same else 0.0
