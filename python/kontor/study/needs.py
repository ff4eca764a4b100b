# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a run needs, from its deck: bytes of memory and an estimate of its seconds. Rough: for plans, not for results."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

CORE_BYTES = 6e9  # B/s that a core streams, when nothing has been measured
CORE_FLOPS = 2e10  # of a matrix product
GPU_BYTES, GPU_FLOPS = 2e12, 3e13
START = 1.5  # seconds: launcher, calibration, verification


@dataclass
class Need:
    memory: float = 0.0  # bytes of all ranks
    moved: float = 0.0  # bytes of all repeats
    flops: float = 0.0
    seconds: float = 0.0  # of what does not get faster by more ranks
    words: str = ""  # what moved, flops or seconds are


Value = Callable[[str], Any]


def need_of(app: str, value: Value) -> Need:
    """`value` gives what the deck says of a key, or its default. Unknown apps need nothing that is known."""
    try:
        need = APPS[app](value) if app in APPS else Need()
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        need = Need()
    repeats = number(value("measure.repeats"), 1) + 1  # and the warm-up
    need.moved, need.flops, need.seconds = need.moved * repeats, need.flops * repeats, need.seconds * repeats
    return need


def seconds(need: Need, ranks: int, cores: int, gpus: int) -> tuple[float, str]:
    """An estimate, and what it is based on."""
    workers = gpus or min(ranks, cores)
    byte_rate, flop_rate = workers * (GPU_BYTES if gpus else CORE_BYTES), workers * (GPU_FLOPS if gpus else CORE_FLOPS)
    start = START + 0.1 * max(0, ranks - cores)
    if not need.words:
        return start, "start only: the work of this deck is not known"
    rate = f"{flop_rate / 1e9:.0f} Gflop/s" if need.flops else f"{byte_rate / 1e9:.0f} GB/s"
    by = "" if need.seconds else f" at {rate} of {workers} {'GPUs' if gpus else 'cores'}, assumed"
    return start + need.moved / byte_rate + need.flops / flop_rate + need.seconds, f"{need.words}{by}"


def number(value: Any, otherwise: float) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else otherwise


def scalar_bytes(value: Value, key: str = "problem.precision") -> int:
    return 4 if value(key) == "float" else 8


def heat(value: Value) -> Need:
    cells = [int(n) for n in value("problem.cells")]
    count, width = math.prod(cells), scalar_bytes(value)
    most, tolerance = number(value("solver.max_sweeps"), 1), number(value("solver.tolerance"), 0)
    if value("problem.equation") == "transient":
        step = number(value("time.step"), 0.9 / (2 * sum(n * n for n in cells)))
        steps, words = number(value("time.end"), 0.1) / step, "steps to the end"
    elif tolerance > 0:  # Jacobi: the largest eigenvalue is 1 - pi^2 / (2 n^2), roughly
        steps, words = min(most, math.log(1 / tolerance) * max(cells) ** 2 / math.pi**2), "sweeps until converged, at most"
    else:
        steps, words = most, "sweeps"
    return Need(memory=2 * count * width, moved=2 * count * width * steps, words=f"{count:.3g} cells x {steps:.3g} {words}")


def advection(value: Value) -> Need:
    cells = int(value("problem.cells"))
    steps = number(value("solver.steps"), 1000)
    return Need(memory=16 * cells, moved=16.0 * cells * steps, words=f"{cells} cells x {steps:.3g} steps")


def cg(value: Value) -> Need:
    kind = value("problem.kind")
    if kind == "stencil":
        extents, entries = [int(n) for n in value("problem.stencil.points")], int(number(value("problem.stencil.size"), 27))
    elif kind == "fe_heat":
        extents, entries = [int(n) + 1 for n in value("problem.fe_heat.elements")], 27
    else:
        return Need(words="a matrix from a file, taken for small", seconds=0.5)
    rows = math.prod(extents)
    converging = number(value("solver.tolerance"), 0) > 0
    iterations = number(value("solver.max_iterations"), 100)
    if converging:
        iterations = min(iterations, 2 * max(extents))
    bytes_of_matrix = 0 if value("solver.format") == "matrix_free" else rows * entries * 12
    return Need(memory=bytes_of_matrix + 10 * 8 * rows, moved=(rows * entries * 12 + 80 * rows) * iterations,
                words=f"{rows:.3g} rows x {iterations:.0f} iterations{', a guess' if converging else ''}")


def matmul(value: Value) -> Need:
    m, n, k = (int(value(f"problem.{name}")) for name in "mnk")
    width = scalar_bytes(value)
    return Need(memory=width * (2 * m * k + 2 * k * n + 2 * m * n), flops=2.0 * m * n * k, words=f"{2.0 * m * n * k:.3g} flop")


def pingpong(value: Value) -> Need:
    """A sample takes `shortest_sample`, or what it takes to move each byte six times: there, back, made new, compared."""
    low, high, factor = (number(value(f"problem.sizes.{name}"), default) for name, default in (("from", 1), ("to", 1), ("factor", 2)))
    many = 1 + math.floor(math.log(max(high / low, 1)) / math.log(factor)) if factor > 1 else 1
    strided = value("problem.measure") == "exchange"  # there dimension 2 is a column: a cache line for each element
    widths = [8 if strided and dimension == 2 else 1 for dimension in value("problem.dimensions") or [1]]
    powers = [1 if strided else dimension for dimension in value("problem.dimensions") or [1]]
    scalars, samples = len(value("problem.scalars") or [1]), number(value("problem.repetitions"), 100)
    shortest = max(number(value("problem.shortest_sample"), 2e-4), 1e-5)
    one = sum(max(shortest, 6 * 8 * width * (low * factor**i) ** power / CORE_BYTES) for width, power in zip(widths, powers) for i in range(many))
    ways = _ways(value)
    return Need(seconds=one * scalars * samples * ways / 2, words=f"{many * len(widths) * scalars * samples * ways:.3g} samples, a guess")


def _ways(value: Value) -> float:
    """How many ways each size is tried."""
    if value("problem.measure") not in ("halo", "exchange"):
        return 4
    lists = [value(f"problem.{name}") for name in ("backends", "patterns", "packings")]
    return math.prod(len(one) if isinstance(one, list) and one else default for one, default in zip(lists, (4, 3, 2)))


APPS: dict[str, Callable[[Value], Need]] = {"heat": heat, "advection": advection, "cg": cg, "matmul": matmul, "pingpong": pingpong}
