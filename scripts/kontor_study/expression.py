# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formulas for sizes: numbers, ranks, nodes, grid[0] to grid[2], + - * / // **, sqrt, cbrt and round."""

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass

LONGEST = 200
LARGEST = 2.0**53  # whole numbers are exact up to here
OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Pow: lambda a, b: _power(a, b),
}
FUNCTIONS: dict[str, Callable[[float], float]] = {"sqrt": math.sqrt, "cbrt": lambda a: _cube_root(a), "round": round}
ALLOWED = "numbers, ranks, nodes, grid[0] to grid[2], + - * / // ** ( ), sqrt, cbrt and round"


class ExpressionError(Exception):
    """What is wrong with a formula."""


@dataclass(frozen=True)
class Sizes:
    """What a formula may name."""

    ranks: int
    nodes: int
    grid: tuple[int, ...]  # over as many axes as the key has values


def check(text: str) -> None:
    """Raises ExpressionError if the formula cannot be understood."""
    _Evaluation(Sizes(1, 1, (1, 1, 1))).whole(text, compute=False)


def evaluate(text: str, sizes: Sizes) -> int | float:
    """A whole number where the result is one. Raises ExpressionError."""
    return _Evaluation(sizes).whole(text)


def compact_grid(ranks: int, axes: int) -> tuple[int, ...]:
    """The factors of `ranks` over the axes whose sum is least, the smallest first: how the apps cut a cube."""
    if axes == 1:
        return (ranks,)
    grids = [(first, *compact_grid(ranks // first, axes - 1)) for first in range(1, ranks + 1) if ranks % first == 0]
    return min(grids, key=lambda grid: (sum(grid), grid))


class _Evaluation:
    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes

    def whole(self, text: str, compute: bool = True) -> int | float:
        if len(text) > LONGEST:
            raise ExpressionError(f"longer than {LONGEST} characters")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
            self.look(tree)
            value = self.value(tree) if compute else 0
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ExpressionError(f"cannot be understood; allowed are {ALLOWED}") from error
        except ZeroDivisionError as error:
            raise ExpressionError("divides by zero") from error
        except OverflowError as error:
            raise ExpressionError("is too large") from error
        if isinstance(value, complex) or not math.isfinite(value) or abs(value) > LARGEST:
            raise ExpressionError("is not a number of moderate size")
        return int(value) if value == int(value) else value

    def look(self, node: ast.AST) -> None:
        """Refuses what is not allowed, whatever its value."""
        match node:
            case ast.Constant(value=value) if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ExpressionError(f"{ast.unparse(node)} is not a number; allowed are {ALLOWED}")
            case ast.Constant():
                pass
            case ast.Name(id="ranks" | "nodes"):
                pass
            case ast.Name(id="grid"):
                raise ExpressionError("grid has a number for each axis: grid[0], grid[1], grid[2]")
            case ast.Name(id=name):
                raise ExpressionError(f"{name} is not known; allowed are {ALLOWED}")
            case ast.Subscript(value=ast.Name(id="grid"), slice=ast.Constant(value=0 | 1 | 2)):
                pass
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                self.look(operand)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
                self.look(left)
                self.look(right)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in FUNCTIONS:
                self.look(argument)
            case _:
                raise ExpressionError(f"{ast.unparse(node)[:40]} is not allowed; allowed are {ALLOWED}")

    def value(self, node: ast.AST) -> float:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return getattr(self.sizes, name)
            case ast.Subscript(slice=ast.Constant(value=axis)):
                if axis >= len(self.sizes.grid):
                    raise ExpressionError(f"grid[{axis}] is asked for, but the key has {len(self.sizes.grid)} values")
                return self.sizes.grid[axis]
            case ast.UnaryOp(op=operator, operand=operand):
                return -self.value(operand) if isinstance(operator, ast.USub) else self.value(operand)
            case ast.BinOp(left=left, op=operator, right=right):
                return OPERATORS[type(operator)](self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=[argument]):
                return FUNCTIONS[name](self.value(argument))
        raise ExpressionError("cannot be understood")


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > 64 or abs(base) > LARGEST:
        raise OverflowError
    return base**exponent


def _cube_root(value: float) -> float:
    root = math.copysign(abs(value) ** (1 / 3), value)
    return round(root) if round(root) ** 3 == value else root
