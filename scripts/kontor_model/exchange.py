# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an exchange takes: every rank posts its messages, may compute, and waits for those that come to it.

LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): o at each end, L on the way, G for each byte, of which the most loaded link
on the way decides. docs/model.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from .machine import Machine
from .network import Message, carried, copying, latency

STEPS = 24  # after which steps are regular, and as many that are looked at


@dataclass(frozen=True)
class Arrival:
    """A message that a rank waits for, in seconds since its source began the exchange."""

    source: int
    after: float
    copying: float


class Exchange:
    """The messages of all ranks, in the order in which each posts them."""

    def __init__(self, machine: Machine, ranks: int, messages: list[Message]) -> None:
        self.machine, self.ranks = machine, ranks
        self.posts = [0.0] * ranks  # seconds until a rank's last message is on its way
        self.arrivals: list[list[Arrival]] = [[] for _ in range(ranks)]
        self.bytes, self.messages = sum(message.size for message in messages), len(messages)
        posted = []
        for message in messages:
            self.posts[message.source] += machine.send
            posted.append((message, self.posts[message.source]))
        for (message, _), end in zip(posted, carried(machine, posted)):
            after = end + latency(machine, message.source, message.destination)
            self.arrivals[message.destination].append(Arrival(message.source, after, copying(machine, message)))

    def ends(self, begins: list[float], meanwhile: list[float]) -> list[float]:
        """When each rank has ended the exchange that it began then, computing so long between posting and waiting."""
        found = []
        for rank in range(self.ranks):
            now = begins[rank] + self.posts[rank] + meanwhile[rank]
            for at, copies in sorted((begins[arrival.source] + arrival.after, arrival.copying) for arrival in self.arrivals[rank]):
                now = max(now, at) + self.machine.receive + copies
            found.append(now)
        return found

    def once(self) -> float:
        """Begun everywhere at once, until the last rank has ended it."""
        return max(self.ends([0.0] * self.ranks, [0.0] * self.ranks))

    def step(self, meanwhile: list[float], afterwards: list[float]) -> float:
        """Seconds of a step that is made again and again: the exchange, what is computed meanwhile, and what is computed after it.
        A rank begins its next step when it has ended one; ranks wait for their neighbours alone."""
        now, middle = [0.0] * self.ranks, 0.0
        for number in range(2 * STEPS):
            if number == STEPS:
                middle = max(now)
            now = [end + more for end, more in zip(self.ends(now, meanwhile), afterwards)]
        return (max(now) - middle) / STEPS
