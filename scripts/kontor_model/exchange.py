# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an exchange takes: every rank posts its messages, may compute, and waits for those that come to it.

LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): o at each end, L on the way, G for each byte, of which the most loaded link
on the way decides. docs/model.md.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from .machine import Machine
from .network import Message, copying, latency, loads, transfer


@dataclass(frozen=True)
class Arrival:
    """A message that a rank waits for, in seconds since the exchange began everywhere."""

    at: float
    copying: float


class Exchange:
    """The messages of all ranks, in the order in which each posts them."""

    def __init__(self, machine: Machine, messages: list[Message]) -> None:
        self.machine = machine
        self.posts: dict[int, float] = defaultdict(float)  # by rank: seconds until its last message is on its way
        self.arrivals: dict[int, list[Arrival]] = defaultdict(list)
        self.bytes = sum(message.size for message in messages)
        self.messages = len(messages)
        shared = loads(machine, messages)
        for message in messages:
            self.posts[message.source] += machine.send
            at = self.posts[message.source] + latency(machine, message.source, message.destination) + transfer(machine, message, shared)
            self.arrivals[message.destination].append(Arrival(at, copying(machine, message)))

    def seconds(self, rank: int, meanwhile: float = 0.0) -> float:
        """From the begin to the end of the exchange on that rank, which computes so long between posting and waiting."""
        now = self.posts[rank] + meanwhile
        for arrival in sorted(self.arrivals[rank], key=lambda arrival: arrival.at):
            now = max(now, arrival.at) + self.machine.receive + arrival.copying
        return now

    def exposed(self, rank: int, meanwhile: float = 0.0) -> float:
        """What it adds to the computation."""
        return self.seconds(rank, meanwhile) - meanwhile
