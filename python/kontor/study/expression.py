# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formulas for sizes: numbers, ranks, nodes, grid[0] to grid[2], + - * / // **, sqrt, cbrt and round."""

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass

LONGEST = 200
LARGEST = 2.0**53  # whole numbers are exact up to here
ALLOWED = "numbers, ranks, nodes, grid[0] to grid[2], + - * / // ** ( ), sqrt, cbrt and round"


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
    except OverflowError as error:
        raise ExpressionError("is too large") from error
    except (ValueError, TypeError) as error:  # of roots of what is negative
        raise ExpressionError(f"cannot be understood; allowed are {ALLOWED}") from error
    if isinstance(value, complex) or not math.isfinite(value) or abs(value) > LARGEST:
        raise ExpressionError("is not a number of moderate size")
    return int(value) if value == int(value) else value


def compact_grid(ranks: int, axes: int) -> tuple[int, ...]:
    """The factors of `ranks` over the axes whose sum is least, the smallest first: how the apps cut a cube."""
    if axes == 1:
        return (ranks,)
    grids = [(first, *compact_grid(ranks // first, axes - 1)) for first in range(1, ranks + 1) if ranks % first == 0]
    return min(grids, key=lambda grid: (sum(grid), grid))


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > 64 or abs(base) > LARGEST:
        raise OverflowError
    return float(base**exponent)


def _cube_root(value: float) -> float:
    root = math.copysign(abs(value) ** (1 / 3), value)
    return round(root) if round(root) ** 3 == value else root


OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
             ast.Pow: _power}
SIGNS: dict[type, Callable[..., float]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
FUNCTIONS: dict[str, Callable[..., float]] = {"sqrt": math.sqrt, "cbrt": _cube_root, "round": round}


def compiled(text: str) -> Callable[[Sizes], float]:
    """Raises ExpressionError if the formula cannot be understood, whatever its value."""
    if len(text) > LONGEST:
        raise ExpressionError(f"longer than {LONGEST} characters")
    try:
        return _function(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"cannot be understood; allowed are {ALLOWED}") from error


def _function(node: ast.AST) -> Callable[[Sizes], float]:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return lambda _: value
        case ast.Constant():
            raise ExpressionError(f"{ast.unparse(node)} is not a number; allowed are {ALLOWED}")
        case ast.Name(id="ranks" | "nodes" as name):
            return operator.attrgetter(name)
        case ast.Name(id="grid"):
            raise ExpressionError("grid has a number for each axis: grid[0], grid[1], grid[2]")
        case ast.Name(id=name):
            raise ExpressionError(f"{name} is not known; allowed are {ALLOWED}")
        case ast.Subscript(value=ast.Name(id="grid"), slice=ast.Constant(value=0 | 1 | 2 as axis)):
            return lambda sizes: _along(sizes.grid, axis)
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in SIGNS:
            return _applied(SIGNS[type(sign)], operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:
            return _applied(OPERATORS[type(sign)], left, right)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in FUNCTIONS:
            return _applied(FUNCTIONS[name], argument)
    raise ExpressionError(f"{ast.unparse(node)[:40]} is not allowed; allowed are {ALLOWED}")


def _applied(function: Callable[..., float], *operands: ast.AST) -> Callable[[Sizes], float]:
    functions = [_function(operand) for operand in operands]
    return lambda sizes: function(*(operand(sizes) for operand in functions))


def _along(grid: tuple[int, ...], axis: int) -> int:
    if axis >= len(grid):
        raise ExpressionError(f"grid[{axis}] is asked for, but the key has {len(grid)} values")
    return grid[axis]
