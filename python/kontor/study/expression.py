# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formulas for sizes: numbers, ranks, nodes, grid[0] to grid[2], + - * / // **, sqrt, cbrt and round."""

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LONGEST = 200
LARGEST = 2.0**53  # whole numbers are exact up to here
ALLOWED = "numbers, ranks, nodes, grid[0] to grid[2], + - * / // ** ( ), sqrt, cbrt and round"
SIGNS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.UAdd, ast.USub)


class ExpressionError(Exception):
    """What is wrong with a formula."""


@dataclass(frozen=True)
class Sizes:
    """What a formula may name."""

    ranks: int
    nodes: int
    grid: tuple[int, ...]  # over as many axes as the key has values


def evaluate(text: str, sizes: Sizes) -> int | float:
    """A whole number where the result is one. Raises ExpressionError."""
    formula = compiled(text)
    try:
        value = formula(sizes)
    except ZeroDivisionError as error:
        raise ExpressionError("divides by zero") from error
    except IndexError as error:
        raise ExpressionError(f"has an axis of grid too many: the key has {len(sizes.grid)} values") from error
    except OverflowError as error:
        raise ExpressionError("is too large") from error
    except (ValueError, TypeError) as error:  # of roots of what is negative
        raise ExpressionError(f"cannot be understood; allowed are {ALLOWED}") from error
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise ExpressionError("is not a number of moderate size")
    return int(value) if value == int(value) else value


def compact_grid(ranks: int, axes: int) -> tuple[int, ...]:
    """The factors of `ranks` over the axes whose sum is least, the smallest first: how the apps cut a cube."""
    if axes == 1:
        return (ranks,)
    grids = [(first, *compact_grid(ranks // first, axes - 1)) for first in range(1, ranks + 1) if ranks % first == 0]
    return min(grids, key=lambda grid: (sum(grid), grid))


def _cube_root(value: float) -> float:
    root = math.copysign(abs(value) ** (1 / 3), value)
    return round(root) if round(root) ** 3 == value else root


FUNCTIONS: dict[str, Any] = {"sqrt": math.sqrt, "cbrt": _cube_root, "round": lambda value: float(round(value))}


def compiled(text: str) -> Callable[[Sizes], float]:
    """Raises ExpressionError if the formula cannot be understood, whatever its value."""
    if len(text) > LONGEST:
        raise ExpressionError(f"longer than {LONGEST} characters")
    try:
        formula = _Checked().visit(ast.parse(text.strip(), mode="eval"))
        code = compile(formula, "formula", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"cannot be understood; allowed are {ALLOWED}") from error
    # All numbers are floats, whose powers overflow where those of whole numbers take all memory.
    return lambda sizes: float(eval(code, {"__builtins__": {}}, FUNCTIONS | {  # of nothing but what _Checked leaves
        "ranks": float(sizes.ranks), "nodes": float(sizes.nodes), "grid": tuple(map(float, sizes.grid))}))


class _Checked(ast.NodeTransformer):
    """Leaves what formulas may have, with numbers as floats. Raises ExpressionError for anything else."""

    def visit(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return ast.copy_location(ast.Constant(float(value)), node)
            case ast.Constant():
                raise ExpressionError(f"{ast.unparse(node)} is not a number; allowed are {ALLOWED}")
            case ast.Name(id="grid"):
                raise ExpressionError("grid has a number for each axis: grid[0], grid[1], grid[2]")
            case ast.Name(id=name) if name not in ("ranks", "nodes"):
                raise ExpressionError(f"{name} is not known; allowed are {ALLOWED}")
            case ast.Subscript(value=ast.Name(id="grid"), slice=ast.Constant(value=0 | 1 | 2)):
                return node
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in FUNCTIONS:
                node.args = [self.visit(argument)]
                return node
            case ast.UnaryOp(op=sign) | ast.BinOp(op=sign) if isinstance(sign, SIGNS):
                return self.generic_visit(node)
            case ast.Expression() | ast.Name() | ast.Load():
                return self.generic_visit(node)
            case _ if isinstance(node, SIGNS):
                return node
        raise ExpressionError(f"{ast.unparse(node)[:40]} is not allowed; allowed are {ALLOWED}")
