# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of all ranks and their messages, gone through in the order of time."""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from .network import SharedLink

if TYPE_CHECKING:
    from .exchange import Exchange


class Steps:
    """So many steps of an exchange, with what each rank computes meanwhile and after it. A message is told by its number and its step."""

    def __init__(self, exchange: Exchange, meanwhile: list[float], afterwards: list[float], count: int) -> None:
        self.exchange, self.meanwhile, self.afterwards, self.count = exchange, meanwhile, afterwards, count
        numbers = {link: number for number, link in enumerate(dict.fromkeys(link for way in exchange.ways for link in way))}
        self.ways = [[numbers[link] for link in way] for way in exchange.ways]
        self.links = [SharedLink(exchange.machine.link_bandwidth) for _ in numbers]
        # Time, a link or -1; then how often the link had changed, or the number and the step of the message that is posted.
        self.agenda: list[tuple[float, int, int, int]] = []
        self.links_left: dict[tuple[int, int], int] = {}  # that a message on its way has not left yet
        self.arrivals: list[dict[int, list[tuple[float, float]]]] = [defaultdict(list) for _ in range(exchange.ranks)]  # by step
        self.begun: list[tuple[int, float]] = [(-1, 0.0)] * exchange.ranks  # step, time
        self.found = [[0.0] * exchange.ranks for _ in range(count)]

    def ends(self, begins: list[float]) -> list[list[float]]:
        """When each rank has ended the exchange of each step, by step. It begins the first one then."""
        for rank, begin in enumerate(begins):
            self._begin(rank, 0, begin)
        while self.agenda:
            now, link, number, step = heappop(self.agenda)
            if link < 0:
                self._post(now, number, step)
            elif number == self.links[link].changes:
                self._leave(now, link)
        return self.found

    def _begin(self, rank: int, step: int, now: float) -> None:
        self.begun[rank] = (step, now)
        for number in self.exchange.of[rank]:
            heappush(self.agenda, (now + self.exchange.posted[number], -1, number, step))
        self._end(rank)

    def _post(self, now: float, number: int, step: int) -> None:
        way = self.ways[number]
        self.links_left[number, step] = len(way)
        for link in way:
            self.links[link].enter(now, (number, step), self.exchange.sent[number].size)
            self._look_at(link)
        if not way:
            self._arrive(now + self.exchange.alone[number], number, step)

    def _leave(self, now: float, link: int) -> None:
        message = self.links[link].leave(now)
        if self.links[link].on:
            self._look_at(link)
        self.links_left[message] -= 1
        if not self.links_left[message]:
            self._arrive(now, *message)

    def _look_at(self, link: int) -> None:
        """Again when the next message leaves it."""
        shared = self.links[link]
        heappush(self.agenda, (shared.next_leaves(), link, shared.changes, 0))

    def _arrive(self, left: float, number: int, step: int) -> None:
        rank = self.exchange.sent[number].destination
        self.arrivals[rank][step].append((left + self.exchange.latencies[number], self.exchange.copying[number]))
        self._end(rank)

    def _end(self, rank: int) -> None:
        """The step that the rank has begun, if all is there that comes to it."""
        step, begin = self.begun[rank]
        if step < 0 or step == self.count or len(self.arrivals[rank][step]) < self.exchange.coming[rank]:
            return
        now = begin + self.exchange.posts[rank] + self.meanwhile[rank]
        for at, copies in sorted(self.arrivals[rank].pop(step)):
            now = max(now, at) + self.exchange.machine.receive + copies
        self.found[step][rank] = now
        if step + 1 < self.count:
            self._begin(rank, step + 1, now + self.afterwards[rank])
        else:
            self.begun[rank] = (self.count, now)
