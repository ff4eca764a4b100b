# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cg on points of a box: a product and loops over vectors, ghosts of all neighbours, one or two sums."""

from dataclasses import dataclass
from math import prod

from kontor.messages import Failure

from .collectives import allreduce
from .exchange import Exchange
from .grid import DividedBox, all_around, faces, halo, smallest_surface_grid, whole_box
from .machine import Machine
from .prediction import Prediction, Value, outside


@dataclass(frozen=True)
class Method:
    """Of an iteration, and of what comes before the first one, with fast sums, without a preconditioner or with jacobi (miniapps/cg/solver)."""

    loops: int  # over vectors
    sums: tuple[int, ...]  # numbers of each reduction
    first_products: int
    first_loops: int
    first_sums: tuple[int, ...]
    hides: bool = False  # the reduction goes on during the product


METHODS = {"classic": Method(2, (2, 1), 1, 5, (1, 2)), "merged": Method(1, (4,), 2, 5, (1, 4)),
           "pipelined": Method(1, (3,), 2, 6, (1, 3), hides=True)}


def predict(value: Value, ranks: int, machine: Machine) -> Prediction:
    points, grid, corners = points_of(value, ranks)
    box = DividedBox(tuple(points), tuple(grid or smallest_surface_grid(ranks, points)), (False,) * 3)
    method = method_of(value)
    product, vectors = machine.rate("cg/product"), machine.rate("cg/vectors")
    exchange = Exchange(machine, ranks, halo(box, all_around(3) if corners else faces(3), 8, by_rank=True))
    overlap = value("comm.overlap")
    rows = [prod(box.block(rank)) for rank in range(ranks)]
    whole = [product(count) + method.loops * vectors(count) for count in rows]
    interior = [box.interior(rank) / rows[rank] * product(rows[rank]) if overlap else 0.0 for rank in range(ranks)]
    compute = max(whole)
    # A sum of all ranks ends each iteration, so all begin the next one together.
    ends = exchange.ends([0.0] * ranks, interior)
    exchanged = max(end + all_of - part for end, all_of, part in zip(ends, whole, interior)) - compute
    sums = sum(allreduce(machine, ranks, 8 * numbers) for numbers in method.sums)
    hidden = min(sums, exchanged + max(map(product, rows))) if method.hides else 0.0
    sums -= hidden
    count = value("solver.max_iterations") if value("solver.tolerance") == 0 else None
    if count:  # and what comes before the first iteration
        compute = count * compute + max(method.first_products * product(here) + method.first_loops * vectors(here) for here in rows)
        exchanged *= count + method.first_products
        hidden *= count
        sums = count * sums + sum(allreduce(machine, ranks, 8 * numbers) for numbers in method.first_sums)
    return Prediction(count, compute, exchanged, sums, box.grid,
                      " x ".join(map(str, box.block(0))), exchange.messages / ranks, exchange.bytes / ranks, outside(machine, cg_product=max(rows), cg_vectors=max(rows)), hidden)


def points_of(value: Value, ranks: int) -> tuple[list[int], list[int], bool]:
    """Points along the axes, the grid of ranks if it is known, and whether a row reads those at edges and corners."""
    kind = value("problem.kind")
    if kind == "stencil":
        return *whole_box(list(value("problem.stencil.points")), value, ranks), str(value("problem.stencil.size")) == "27"
    if kind == "fe_heat":
        elements, grid = whole_box(list(value("problem.fe_heat.elements")), value, ranks)
        return [count + 1 for count in elements], grid, True
    raise Failure(f"problem.kind is {kind}; the model knows stencil and fe_heat: who is a neighbour depends on a matrix's file")


def method_of(value: Value) -> Method:
    preconditioner = value("solver.preconditioner")
    if preconditioner not in ("none", "jacobi") or value("solver.sums") != "any_order":
        raise Failure(f"solver.preconditioner is {preconditioner}, sums {value('solver.sums')}; "
                         "the model knows none and jacobi, with fast sums")
    return METHODS[value("solver.method")]
