# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model of messages, the links that they share, steps and reductions, by cases that can be computed by hand."""

import unittest

from predict_case import Close, machine

from kontor_model.collectives import allreduce
from kontor_model.exchange import Exchange
from kontor_model.network import Message, SharedLink, links
from kontor_model.steps import Steps


class Network(Close):
    def test_ways(self):
        m = machine()
        self.assertEqual(links(m, 0, 1), [])
        self.assertEqual(links(m, 0, 2), [("out", 0, 0), ("in", 1, 0)])
        self.assertEqual(links(m, 0, 2 * 5), [("out", 0, 0), ("in", 5, 0), ("up", 0, 1), ("down", 1, 1)])

    def test_shared_links(self):
        link = SharedLink(1e9)
        link.enter(0.0, (0, 0), 10_000)
        link.enter(2e-6, (1, 0), 5_000)  # 2000 bytes of the first one have passed
        link.enter(4e-6, (2, 0), 1_000)  # and 1000 of each
        left = []
        while link.on:
            at = link.next_leaves()
            left.append((link.leave(at), at))
        for (found, at), (expected, seconds) in zip(left, (((2, 0), 7e-6), ((1, 0), 13e-6), ((0, 0), 16e-6))):
            self.assertEqual(found, expected)
            self.assert_close(at, seconds)


class Messages(Close):
    def test_exchange(self):
        # Both messages of rank 0: 1 us each to post. The second one arrives after 2 + 2 x 5 + 1000 bytes / 1e9, and costs 2 us.
        exchange = Exchange(machine(), 3, [Message(0, 1, 0), Message(0, 2, 1000), Message(1, 0, 0)])
        ends = exchange.ends([0.0] * 3, [0.0] * 3)
        self.assert_close(ends[2], 2e-6 + 10e-6 + 1e-6 + 2e-6)
        self.assert_close(ends[0], 1e-6 + 1e-6 + 2e-6)  # from rank 1 at 2 us, when rank 0 has posted
        self.assert_close(exchange.once(), ends[2])
        self.assert_close(exchange.ends([0.0] * 3, [0.0, 0.0, 100e-6])[2], 102e-6)  # hidden, but for what the processor does
        self.assert_close(exchange.ends([5e-6, 0.0, 0.0], [0.0] * 3)[2], 20e-6)  # rank 0 is late

    def test_messages_share_links(self):
        # To nodes 4, 6 and 5, 1 us to post each. The first two share a link up until the smaller one has left it; the last two share
        # theirs, which they leave after 4 and 5 us. Beside that the latency of four links, 20 us, and 2 us to receive each.
        messages = [Message(0, 8, 10_000), Message(2, 12, 5_000), Message(4, 10, 3_000), Message(4, 10, 1_000)]
        ends = Exchange(machine(), 14, messages).ends([0.0] * 14, [0.0] * 14)
        for rank, expected in ((8, 1 + 15 + 22), (12, 1 + 10 + 22), (10, 28)):
            self.assert_close(ends[rank], 1e-6 * expected)

    def test_steps_share_links(self):
        # Ranks 0 and 1 send 10 kB over one link. The one of rank 0 is alone from 1 us on, shares it from 7 us on with that of rank 1, and from
        # 11 us on with its own next one, too: they have left after 17, 29 and 31 us. A latency of 10 us, 2 us to receive.
        exchange = Exchange(machine(), 4, [Message(0, 2, 10_000), Message(1, 3, 10_000)])
        first, second = Steps(exchange, [9e-6, 1e-3, 0.0, 0.0], [0.0] * 4, 2).ends([0.0, 6e-6, 0.0, 0.0])
        for found, expected in zip((first[0], first[2], first[3], second[2]), (10e-6, 29e-6, 41e-6, 43e-6)):
            self.assert_close(found, expected)

    def test_copies_are_the_receivers_work(self):
        exchange = Exchange(machine(node={"copies": True}), 2, [Message(0, 1, 1000), Message(0, 1, 1000)])
        self.assert_close(exchange.ends([0.0] * 2, [0.0, 50e-6])[1], 50e-6 + 2 * (2e-6 + 1e-6))

    def test_steps(self):
        # Ranks 0 and 1 send to each other: 1 to post, 1 on the way, 2 to receive, and what they compute. One that waits for the
        # other half of the time takes the mean of both.
        exchange = Exchange(machine(), 2, [Message(0, 1, 0), Message(1, 0, 0)])
        self.assert_close(exchange.step([0.0, 0.0], [7e-6, 7e-6]), 11e-6)
        self.assert_close(exchange.step([6e-6, 6e-6], [1e-6, 1e-6]), 10e-6)
        self.assert_close(exchange.step([0.0, 0.0], [9e-6, 8e-6]), 12.5e-6)
        self.assert_close(exchange.step([0.0, 0.0], [9e-6, 8e-6], 1), 13e-6)  # 1 + 1 + 2 + 9: the other one is not late yet
        self.assert_close(exchange.step([0.0, 0.0], [9e-6, 8e-6], 100), 12.5e-6)

    def test_allreduce(self):
        m = machine()
        inside, near, far = 4e-6, 13e-6, 23e-6  # o + L + o of an empty message
        self.assertEqual(allreduce(m, 1, 0), 0)
        self.assert_close(allreduce(m, 2, 0), inside)
        self.assert_close(allreduce(m, 4, 0), inside + near)
        self.assert_close(allreduce(m, 16, 0), inside + 2 * near + far)
        self.assert_close(allreduce(m, 3, 0), 2 * inside + near)  # rank 0 gives to 1, 1 and 2 double, 1 gives back
        self.assert_close(allreduce(m, 4, 1000), inside + near + 2 * 1e-6)


if __name__ == "__main__":
    unittest.main()
