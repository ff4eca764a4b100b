# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collective operations of all ranks, as rounds of messages.

Recursive doubling: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", Int. J. High
Perform. Comput. Appl. 19 (2005). What the mini-apps reduce is some tens of bytes, where all libraries double.
"""

from .machine import Machine
from .network import Message, alone, copying, latency


def one_message(machine: Machine, source: int, destination: int, size: float) -> float:
    """From its begin at the source until the destination has it, alone on its way."""
    message = Message(source, destination, size)
    return (machine.send + latency(machine, source, destination) + alone(machine, message) + machine.receive
            + copying(machine, message))


def allreduce(machine: Machine, ranks: int, size: float) -> float:
    """Recursive doubling. Ranks beyond the largest power of two give their part to a neighbour first and get the result last."""
    if ranks == 1:
        return 0.0
    doubled = 1 << (ranks.bit_length() - 1)
    rest = ranks - doubled
    seconds = 2 * one_message(machine, 0, 1, size) if rest else 0.0

    def real(rank: int) -> int:  # of those that take part in the doubling
        return 2 * rank + 1 if rank < rest else rank + rest

    distance = 1
    while distance < doubled:  # the slowest pair of each round
        seconds += max(one_message(machine, real(rank), real(rank ^ distance), size) for rank in _sample(doubled))
        distance *= 2
    return seconds


def _sample(ranks: int) -> range:
    """All ranks, or as many that every kind of pair is among them."""
    return range(ranks) if ranks <= 4096 else range(0, ranks, ranks // 4096)
