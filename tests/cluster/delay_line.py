# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""delay_line.py A B SECONDS BYTES_PER_SECOND: a link between two network interfaces.

A frame that comes by one leaves by the other as many seconds after its last byte would have come by a wire of this
bandwidth. Says "ready" on stdout; ends by a signal. tc's netem would do the same where the kernel has that module.
"""

import contextlib
import os
import select
import socket
import struct
import sys
import time
from collections import deque

ALL_PROTOCOLS, SOL_PACKET, SO_RCVBUFFORCE = 0x0003, 263, 33
ADD_MEMBERSHIP, VNET_HDR, IGNORE_OUTGOING = 1, 15, 23
PROMISCUOUS = 1
HEADER = 10  # bytes before a frame, which say how it is to be cut
LARGEST = 66_000  # bytes: TCP's segments come in one piece, to be cut by the last interface
FRAMES = 1024  # that a wire holds


def open_interface(name):
    """All frames that come by it."""
    interface = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    interface.setsockopt(SOL_PACKET, VNET_HDR, 1)
    interface.setsockopt(SOL_PACKET, IGNORE_OUTGOING, 1)
    interface.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
    interface.bind((name, ALL_PROTOCOLS))
    interface.setsockopt(SOL_PACKET, ADD_MEMBERSHIP, struct.pack("iHH8x", socket.if_nametoindex(name), PROMISCUOUS, 0))
    return interface


class Wire:
    def __init__(self, source, target, delay, bandwidth):
        self.source, self.target, self.delay, self.bandwidth = source, target, delay, bandwidth
        self.frames = deque()  # when each is due, and its bytes
        self.free = 0.0  # when the last byte will have come

    def take(self):
        with contextlib.suppress(OSError):  # no more, or the host is gone
            while len(self.frames) < FRAMES:
                frame = self.source.recv(LARGEST)
                self.free = max(self.free, time.monotonic()) + (len(frame) - HEADER) / self.bandwidth
                self.frames.append((self.free + self.delay, frame))

    def give(self):
        while self.frames and self.frames[0][0] <= time.monotonic():
            try:
                self.target.send(self.frames[0][1])
            except BlockingIOError:
                return
            except OSError:
                pass  # it is lost, as on any network
            self.frames.popleft()


def main(first, second, delay, bandwidth):
    ends = open_interface(first), open_interface(second)
    wires = [Wire(*pair, float(delay), float(bandwidth)) for pair in (ends, ends[::-1])]
    with contextlib.suppress(OSError):  # where it is allowed: ranks that wait take all cores
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    print("ready", flush=True)
    while True:
        wanted = [wire.source for wire in wires if len(wire.frames) < FRAMES]
        left = min((wire.frames[0][0] - time.monotonic() for wire in wires if wire.frames), default=1.0)
        select.select(wanted, [], [], max(0.0, left))
        for wire in wires:
            wire.take()
            wire.give()


if __name__ == "__main__":
    main(*sys.argv[1:])
