# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an exchange takes: every rank posts its messages, may compute, and waits for those that come to it.

LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): o at each end, L on the way, G for each byte, on links that messages share.
lab/model/README.md describes the model. steps.py computes the steps.
"""

from .machine import Machine
from .network import Message, alone, copying, latency, links
from .steps import Steps

STEPS = 24  # after which steps are regular, and as many that are looked at


class Exchange:
    """The messages of all ranks, in the order in which each posts them."""

    def __init__(self, machine: Machine, ranks: int, messages: list[Message]) -> None:
        self.machine, self.ranks, self.sent = machine, ranks, messages
        self.posts = [0.0] * ranks  # seconds until a rank's last message is on its way
        self.bytes, self.messages = sum(message.size for message in messages), len(messages)
        self.posted = []  # of each message, since its source began the exchange
        self.of: list[list[int]] = [[] for _ in range(ranks)]  # numbers of the messages that a rank sends
        self.coming = [0] * ranks  # messages that come to a rank
        for number, message in enumerate(messages):
            self.posts[message.source] += machine.send
            self.posted.append(self.posts[message.source])
            self.of[message.source].append(number)
            self.coming[message.destination] += 1
        self.ways = [links(machine, message.source, message.destination) for message in messages]
        self.alone = [alone(machine, message) for message in messages]
        self.latencies = [latency(machine, message.source, message.destination) for message in messages]
        self.copying = [copying(machine, message) for message in messages]

    def ends(self, begins: list[float], meanwhile: list[float]) -> list[float]:
        """When each rank has ended the exchange that it began then, computing so long between posting and waiting."""
        return Steps(self, meanwhile, [0.0] * self.ranks, 1).ends(begins)[0]

    def once(self) -> float:
        """Begun everywhere at once, until the last rank has ended it."""
        return max(self.ends([0.0] * self.ranks, [0.0] * self.ranks))

    def step(self, meanwhile: list[float], afterwards: list[float], count: int | None = None) -> float:
        """Seconds of a step that is made again and again: the exchange, what is computed meanwhile, and what is computed after it.
        A rank begins its next step when it has ended one; ranks wait for their neighbours alone. The mean of so many steps, which all
        ranks begin together; None: of one when they have become regular."""
        steps = Steps(self, meanwhile, afterwards, min(count or 2 * STEPS, 2 * STEPS))
        ended = [max(end + more for end, more in zip(ends, afterwards)) for ends in steps.ends([0.0] * self.ranks)]
        if count and count <= 2 * STEPS:
            return ended[-1] / count
        regular = (ended[-1] - ended[STEPS - 1]) / STEPS
        return (ended[-1] + (count - 2 * STEPS) * regular) / count if count else regular
