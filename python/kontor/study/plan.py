# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The points of a study: every combination of ranks, threads, decks and varied keys, with what each sets and needs."""

import itertools
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from kontor.report.text import counted

from .decks import Deck
from .expression import ExpressionError, Sizes, compact_grid, evaluate
from .machine import Machine
from .problems import Problems, StudyError, misfit
from .study import Study
from .tree import flow

MOST_POINTS = 10_000


class Shape(NamedTuple):
    ranks: int
    nodes: int
    ranks_per_node: int | None  # None: as the launcher does it
    threads: int


@dataclass
class Point:
    id: str
    app: str
    deck: str
    ranks: int
    nodes: int
    ranks_per_node: int | None
    threads: int
    gpus: int
    factors: dict[str, Any]
    set: dict[str, Any]
    ablation_of: str | None = None
    ablation: str | None = None
    ablations: dict[str, str] = field(default_factory=dict)  # the points that are this one's, by name
    oversubscribed: bool = False
    estimate_seconds: float | None = None  # of a run, by those that were made; None: none was
    skipped: str | None = None

    def words(self) -> str:
        """What tells it from the others."""
        told = [counted(self.ranks, "rank")]
        told += [flow(value) if isinstance(value, str) else f"{key.rpartition('.')[2]} {flow(value)}"
                 for key, value in self.factors.items() if key != "ranks"]
        return ", ".join(told + ([self.ablation.replace("_", " ")] if self.ablation else []))

    @property
    def identity(self) -> tuple[Any, ...]:
        settings = tuple(sorted((key, flow(value)) for key, value in self.set.items()))
        return self.ranks, self.nodes, self.threads, self.deck, settings


def make_plan(study: Study, machine: Machine | None) -> list[Point]:
    """Without a machine all points are possible: jobs will see. Raises StudyError with all contradictions."""
    problems = Problems()
    points: list[Point] = []
    for deck, shape in itertools.product(study.decks, shapes(study)):
        for varied in variations(study):
            if len(points) >= MOST_POINTS:
                raise StudyError(f"{study.file}: more than {MOST_POINTS} points")
            points.append(make_point(study, deck, shape, varied, problems))
    problems.raise_any()
    ablations = add_ablations(study, points) if study["ablation"] else []
    width = max(3, len(str(len(points) - 1)))
    for number, point in enumerate(points):
        point.id = f"p{number:0{width}d}"
        if machine:
            point.oversubscribed = point.ranks * point.threads > machine.cores
            point.skipped = lack(point, machine)
    for base, what, other in ablations:
        base.ablations[what] = other.id
        other.ablation_of = other.ablation_of or (base.id if other.ablation else None)
    return points


def shapes(study: Study) -> Iterator[Shape]:
    per_node = None if study["ranks_per_node"] == "auto" else study["ranks_per_node"]
    for number, threads in itertools.product(study["ranks"] or study["nodes"], study["threads"]):
        ranks = number if study["ranks"] else number * per_node
        yield Shape(ranks, max(1, -(-ranks // per_node)) if per_node else 1, per_node, threads)


def variations(study: Study) -> Iterator[dict[str, Any]]:
    lists = [[{key: value} for value in values] for key, values in study["vary"].items()]
    lists += [[dict(zip(group, values)) for values in zip(*group.values())] for group in study["zip"]]
    for choice in itertools.product(*lists):
        yield {key: value for part in choice for key, value in part.items()}


def make_point(study: Study, deck: Deck, shape: Shape, varied: dict[str, Any], problems: Problems) -> Point:
    grown = grow(study, deck, shape, problems) if study["kind"] == "weak" else {}
    known = {**shape._asdict(), "deck": deck.path, **varied}
    settings = {**deck.small, **study["set"], **grown, **varied}
    if deck.schema is None or "output.fields" in deck.schema:
        settings["output.fields"] = study["fields"]
    gpus = gpus_of(study, Sizes(shape.ranks, shape.nodes, (shape.ranks,)), problems)
    return Point("", deck.app, deck.path, *shape, gpus, {key: known[key] for key in study.factors}, settings)


def grow(study: Study, deck: Deck, shape: Shape, problems: Problems) -> dict[str, Any]:
    """The keys of `weak` for so many ranks."""
    grown: dict[str, Any] = {}
    for key, formulas in study["weak"].items():
        is_list = isinstance(formulas, list)
        several, place = formulas if is_list else [formulas], study.place("weak", key)
        sizes = Sizes(shape.ranks, shape.nodes, compact_grid(shape.ranks, len(several) if is_list else 2))
        values = [value_of(formula, sizes, key, place, problems) for formula in several]
        if None in values:
            return grown
        grown[key] = values if is_list else values[0]
        if wrong := misfit(deck.schema[key], grown[key]) if deck.schema else None:
            hint = "; round(...) makes a whole number" * any(isinstance(value, float) for value in values)
            problems.add(place, f"{key} is {flow(grown[key])} on {counted(shape.ranks, 'rank')}, but takes {wrong}"
                                f"{hint}")
    return grown


def value_of(formula: Any, sizes: Sizes, key: str, place: str, problems: Problems) -> Any:
    """Of a formula or a number; None after adding a problem."""
    try:
        return evaluate(formula, sizes) if isinstance(formula, str) else formula
    except ExpressionError as error:
        return problems.add(place, f'{key}: "{formula}" on {counted(sizes.ranks, "rank")} {error}')


def gpus_of(study: Study, sizes: Sizes, problems: Problems) -> int:
    place = study.place("gpus")
    value = value_of(study["gpus"], sizes, "gpus", place, problems) or 0
    if value != int(value) or value < 0:
        problems.add(place, f'gpus: "{study["gpus"]}" on {counted(sizes.ranks, "rank")} is {value};'
                            " a whole number from 0 is needed")
    return int(value)


def add_ablations(study: Study, points: list[Point]) -> list[tuple[Point, str, Point]]:
    """Adds points with backend null and without overlap, unless one is there. Returns whose they are, and which."""
    found, seen = [], {point.identity: point for point in points}
    for base in list(points):
        deck = study.decks_by_path[base.deck]
        for what, key, value in ("null_backend", "comm.backend", "null"), ("no_overlap", "comm.overlap", False):
            if deck.value(key, base.set) == value or (deck.schema is not None and key not in deck.schema):
                continue
            varied = {**base.factors, **({key: value} if key in base.factors else {})}
            new = replace(base, factors=varied, set={**base.set, key: value}, ablations={}, ablation=what)
            found.append((base, what, seen.setdefault(new.identity, new)))
            if found[-1][2] is new:
                points.append(new)
    return found


def lack(point: Point, machine: Machine) -> str | None:
    """What the point needs and the machine has not. Whether it fits into memory is for the mini-app to say."""
    for what, needed, there in ("node", point.nodes, machine.nodes), ("GPU", point.gpus, len(machine.gpus)):
        if needed > there:
            return f"needs {counted(needed, what)}; there {'is' if there == 1 else 'are'} {there} here"
    return None


def estimate(points: list[Point], runs: list[dict[str, Any]]) -> None:
    """By the runs of each point that have passed."""
    for point in points:
        passed = [run for run in runs if run.get("point") == point.id and run.get("state") == "passed"]
        times = [float(run.get("seconds", 0)) for run in passed]
        point.estimate_seconds = round(statistics.median(times), 2) if times else None


def run_order(points: list[Point], repeats: int, seed: int) -> list[tuple[Point, int]]:
    """Every point once in each repeat, in an order that the seed decides: load on the machine affects all alike."""
    order = []
    for repeat in range(1, repeats + 1):
        shuffled = list(points)
        random.Random(f"{seed} {repeat}").shuffle(shuffled)
        order += [(point, repeat) for point in shuffled]
    return order
