# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Some points of a study, by comparisons of factors: --only "ranks<=4 and comm.backend==view"."""

import ast
import contextlib
import operator
from collections.abc import Callable
from typing import Any

from .plan import Point
from .problems import StudyError, nearest
from .tree import flow

COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}
EXAMPLE = '; an example is --only "ranks<=4 and comm.backend==view"'


def selector(text: str, points: list[Point]) -> Callable[[Point], bool]:
    """Raises StudyError if the expression cannot be understood."""
    def wrong(what: str) -> StudyError:
        return StudyError(f"--only {text}: {what}", "E-STUDY-POINT")

    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise wrong(f"cannot be understood{EXAMPLE}") from error
    facts = {point.id: _facts(point) for point in points}
    known = dict.fromkeys(key for of_point in facts.values() for key in of_point)

    def holds(node: ast.AST, point: Point) -> bool:
        match node:
            case ast.BoolOp(op=how, values=parts):
                return (all if isinstance(how, ast.And) else any)([holds(part, point) for part in parts])
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return not holds(part, point)
            case ast.Compare(left=left, ops=[how], comparators=[right]) if type(how) in COMPARE:
                key = word(left)
                if key not in known:
                    raise wrong(f"{key} is not a factor of this study{nearest(key, known)}")
                try:
                    return COMPARE[type(how)](facts[point.id].get(key), value(right, key))
                except TypeError:
                    return False
        raise wrong(f"{ast.unparse(node)} is no comparison of a factor{EXAMPLE}")

    def value(node: ast.AST, key: str) -> Any:
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return [value(item, key) for item in node.elts]
        if isinstance(node, (ast.Constant, ast.UnaryOp)):
            with contextlib.suppress(ValueError):
                return ast.literal_eval(node)  # a number may have a sign
        name, values = word(node), [of_point.get(key) for of_point in facts.values()]
        if name in ("true", "false"):
            return name == "true"
        if name not in values:
            raise wrong(f"{key} is never {name}; it is {', '.join(dict.fromkeys(map(flow, values)))}")
        return name

    def word(node: ast.AST) -> str:
        if isinstance(node, (ast.Name, ast.Attribute)):
            return ast.unparse(node)
        raise wrong(f"{ast.unparse(node)} is no name or value{EXAMPLE}")

    return lambda point: holds(tree, point)


def _facts(point: Point) -> dict[str, Any]:
    same = {key: getattr(point, key) for key in ("app", "deck", "ranks", "nodes", "threads", "gpus")}
    return {"point": point.id, **same, "ablation": point.ablation or "none", **point.set, **point.factors}
