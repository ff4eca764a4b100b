# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""heat: sweeps over a rank's block, a halo of faces, a norm now and then."""

from math import prod

from .collectives import allreduce
from .exchange import Exchange
from .grid import DividedBox, faces, halo, smallest_surface_grid, whole_box
from .machine import Machine
from .prediction import Prediction, Value, outside

LINE = 64  # bytes of a cache line: strips along x are as wide (miniapps/grid/regions.hpp)


def predict(value: Value, ranks: int, machine: Machine) -> Prediction:
    cells, grid = whole_box(list(value("problem.cells")), value, ranks)
    size = 4 if value("problem.precision") == "float" else 8
    box = DividedBox(tuple(cells), tuple(grid or smallest_surface_grid(ranks, cells)),
                     tuple(value(f"problem.boundary.{axis}_min") == "periodic" for axis in "xyz"[: len(cells)]))
    rate = machine.rate("heat/sweep")
    exchange = Exchange(machine, ranks, halo(box, faces(len(cells)), size))
    blocks = [prod(box.block(rank)) for rank in range(ranks)]
    sweeps = [rate(block) for block in blocks]
    overlap = value("comm.overlap")
    interior = [box.interior(rank, thickness_x=LINE // size) / blocks[rank] * sweeps[rank] if overlap else 0.0 for rank in range(ranks)]
    compute = max(sweeps)
    fixed = value("problem.equation") == "steady" and not value("solver.tolerance")
    steps = value("solver.max_sweeps") if fixed else None
    exchanged = exchange.step(interior, [whole - part for whole, part in zip(sweeps, interior)], steps) - compute
    every = value("solver.check_every") or 0
    reduction = allreduce(machine, ranks, 8) / every if every else 0.0
    count = steps or 1
    return Prediction(steps, count * compute, count * exchanged, count * reduction, box.grid, " x ".join(map(str, box.block(0))),
                      exchange.messages / ranks, exchange.bytes / ranks, outside(machine, heat_sweep=max(blocks)))
