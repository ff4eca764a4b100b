# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Some points of a study: its parts, which are the runs of one size (nodes, ranks, threads, GPUs) and share a job; and
--only, by comparisons of factors: ranks<=4 and comm.backend==view."""

import ast
import contextlib
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kontor.report.text import counted, grouped

from .plan import Point
from .problems import StudyError, nearest
from .tree import flow

COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}
EXAMPLE = '; an example is --only "ranks<=4 and comm.backend==view"'


@dataclass
class Part:
    name: str  # n2-r8
    points: list[Point]
    repeats: list[int]  # that are missing

    @property
    def first(self) -> Point:
        return self.points[0]

    @property
    def task_seconds(self) -> float | None:
        """An estimate for one repeat; None where a point was never run."""
        times = [point.estimate_seconds for point in self.points if point.estimate_seconds is not None]
        return sum(times) if len(times) == len(self.points) else None

    def time_limit(self, array: bool, launch: dict[str, Any]) -> str:
        """As HH:MM:SS, unless the study gives it in another form. Runs without an estimate may take their timeout."""
        if launch["time"] != "auto":
            return str(launch["time"])
        of_task = sum(launch["timeout"] if point.estimate_seconds is None else 2 * point.estimate_seconds
                      for point in self.points)
        seconds = of_task * (1 if array else len(self.repeats)) + launch["warn"]
        minutes = max(10, 5 * math.ceil(seconds / 300))
        return f"{minutes // 60:02d}:{minutes % 60:02d}:00"

    def words(self) -> str:
        one = self.first
        nodes = f"{counted(one.nodes, 'node')}, " if one.ranks_per_node else ""
        return (f"{counted(len(self.points), 'point')} on {nodes}{counted(one.ranks, 'rank')}"
                f"{f' of {one.threads} threads' if one.threads > 1 else ''}{f', {one.gpus} GPUs' if one.gpus else ''}")


def part_name(point: Point) -> str:
    shown = (("n", point.nodes, point.ranks_per_node), ("r", point.ranks, True),
             ("t", point.threads, point.threads > 1), ("g", point.gpus, point.gpus))
    return "-".join(f"{letter}{number}" for letter, number, is_shown in shown if is_shown)


def parts_of(missing: list[tuple[Point, int]]) -> list[Part]:
    """The smallest first, so that the queue has something early."""
    in_order = sorted(missing, key=lambda item: (item[0].nodes, item[0].ranks, item[0].threads, item[0].id))
    return [Part(name, list({point.id: point for point, _ in runs}.values()), sorted({repeat for _, repeat in runs}))
            for name, runs in grouped(in_order, lambda item: part_name(item[0])).items()]


def find_part(name: str, points: list[Point]) -> list[Point]:
    """The points of a job's part."""
    parts = grouped(points, part_name)
    if name not in parts:
        raise StudyError(f"--part {name}: no points are of this size; there are {', '.join(parts)}", "E-STUDY-POINT")
    return parts[name]


def seconds_of(limit: str) -> int:
    """A time limit as Slurm reads it: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS."""
    days, dash, rest = limit.rpartition("-")
    numbers = [int(number) for number in rest.split(":")]
    if dash:
        hours, minutes, seconds = (numbers + [0, 0])[:3]
    else:
        hours, minutes, seconds = [0, *numbers, 0][-3:] if len(numbers) == 1 else [0, *numbers][-3:]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def listed(numbers: list[int]) -> str:
    """1-3,5."""
    runs = grouped(numbers, lambda number: number - numbers.index(number)).values()
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


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
