# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--only: which points, by comparisons of their factors: ranks<=4 and comm.backend==view."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from .plan import Point
from .problems import StudyError, nearest
from .tree import flow

COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}
EXAMPLE = '--only "ranks<=4 and comm.backend==view"'


def selector(text: str, points: list[Point]) -> Callable[[Point], bool]:
    """Raises StudyError if the expression cannot be understood."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise StudyError(f"--only {text}: cannot be understood; an example is {EXAMPLE}", "E-STUDY-POINT") from error
    values = {key: [facts(point).get(key) for point in points] for point in points for key in facts(point)}

    def holds(node: ast.AST, point: Point) -> bool:
        match node:
            case ast.BoolOp(op=ast.And(), values=parts):
                return all([holds(part, point) for part in parts])
            case ast.BoolOp(op=ast.Or(), values=parts):
                return any([holds(part, point) for part in parts])
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return not holds(part, point)
            case ast.Compare(left=left, ops=[how], comparators=[right]) if type(how) in COMPARE:
                key = name(left)
                if key not in values:
                    raise StudyError(f"--only {text}: {key} is nothing that points differ in{nearest(key, values)}", "E-STUDY-POINT")
                try:
                    return COMPARE[type(how)](facts(point).get(key), literal(right, key))
                except TypeError:
                    return False
        raise StudyError(f"--only {text}: {ast.unparse(node)} is no comparison of a factor; an example is {EXAMPLE}", "E-STUDY-POINT")

    def literal(node: ast.AST, key: str) -> Any:
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return [literal(item, key) for item in node.elts]
        if isinstance(node, ast.Constant):
            return node.value
        word = name(node)
        if word in ("true", "false"):
            return word == "true"
        if word not in values[key]:
            known = ", ".join(dict.fromkeys(flow(value) for value in values[key]))
            raise StudyError(f"--only {text}: {key} is never {word}; it is {known}", "E-STUDY-POINT")
        return word

    def name(node: ast.AST) -> str:
        if isinstance(node, ast.Attribute):
            return f"{name(node.value)}.{node.attr}"
        if isinstance(node, ast.Name):
            return node.id
        raise StudyError(f"--only {text}: {ast.unparse(node)} is no name or value; an example is {EXAMPLE}", "E-STUDY-POINT")

    return lambda point: holds(tree, point)


def facts(point: Point) -> dict[str, Any]:
    return {"point": point.id, "app": point.app, "deck": point.deck, "ranks": point.ranks, "nodes": point.nodes, "threads": point.threads,
            "gpus": point.gpus, "ablation": point.ablation or "none", **point.set, **point.factors}
