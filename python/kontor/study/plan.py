# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The points of a study: every combination of ranks, threads, decks and varied keys, with what each sets and needs."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .decks import Deck
from .expression import ExpressionError, Sizes, compact_grid, evaluate
from .here import Machine
from .needs import need_of, seconds
from .problems import Problems, StudyError
from .schema import misfit
from .study import Study, factors
from .tree import flow

MOST_POINTS = 10_000


@dataclass
class Point:
    id: str
    app: str
    deck: str
    ranks: int
    nodes: int
    ranks_per_node: int | None  # None: as the launcher does it
    threads: int
    gpus: int
    factors: dict[str, Any]
    set: dict[str, Any]
    ablation_of: str | None = None
    ablation: str | None = None
    ablations: dict[str, str] = field(default_factory=dict)  # the points that are this one's, by name
    oversubscribed: bool = False
    estimate_seconds: float = 0.0
    estimate_basis: str = ""
    memory_bytes: float = 0.0
    skipped: str | None = None

    def words(self) -> str:
        """What tells it from the others."""
        told = [f"{self.ranks} rank{'s' * (self.ranks != 1)}"]
        told += [flow(value) if isinstance(value, str) else f"{key.rpartition('.')[2]} {flow(value)}"
                 for key, value in self.factors.items() if key != "ranks"]
        return ", ".join(told + ([self.ablation.replace("_", " ")] if self.ablation else []))


def make_plan(study: Study, machine: Machine | None) -> list[Point]:
    """Without a machine nothing is said to be impossible: jobs will see. Raises StudyError with all that contradicts something."""
    problems = Problems()
    points: list[Point] = []
    seen: dict[tuple[Any, ...], Point] = {}
    for deck in study.decks:
        for shape in shapes(study):
            for varied in variations(study):
                point = make_point(study, deck, shape, varied, problems)
                if len(points) >= MOST_POINTS:
                    raise StudyError(f"{study.file}: more than {MOST_POINTS} points")
                points.append(point)
                seen[_identity(point)] = point
    problems.raise_any()
    ablations = add_ablations(study, points, seen) if study["ablation"] else []
    width = max(3, len(str(len(points) - 1)))
    for number, point in enumerate(points):
        point.id = f"p{number:0{width}d}"
        judge(point, study.decks_by_path[point.deck], machine)
    for base, what, other in ablations:
        base.ablations[what] = other.id
        other.ablation_of = other.ablation_of or (base.id if other.ablation else None)
    return points


def shapes(study: Study) -> Iterator[tuple[int, int, int | None, int]]:
    """Ranks, nodes, ranks on a node and threads."""
    per_node = None if study["ranks_per_node"] == "auto" else study["ranks_per_node"]
    for number in study["ranks"] or study["nodes"]:
        ranks = number if study["ranks"] else number * per_node
        nodes = max(1, -(-ranks // per_node)) if per_node else 1
        for threads in study["threads"]:
            yield ranks, nodes, per_node, threads


def variations(study: Study) -> Iterator[dict[str, Any]]:
    lists = [[{key: value} for value in values] for key, values in study["vary"].items()]
    for group in study["zip"]:
        lists.append([dict(zip(group, values)) for values in zip(*group.values())])
    for choice in itertools.product(*lists):
        yield {key: value for part in choice for key, value in part.items()}


def make_point(study: Study, deck: Deck, shape: tuple[int, int, int | None, int], varied: dict[str, Any], problems: Problems) -> Point:
    ranks, nodes, per_node, threads = shape
    grown = grow(study, deck, ranks, nodes, problems) if study["kind"] == "weak" else {}
    known = {"ranks": ranks, "nodes": nodes, "threads": threads, "deck": deck.path, **varied}
    settings = {**deck.small, **study["set"], **grown, **varied}
    if deck.schema is None or "output.fields" in deck.schema:
        settings["output.fields"] = study["fields"]
    gpus = gpus_of(study, Sizes(ranks, nodes, (ranks,)), problems)
    return Point("", deck.app, deck.path, ranks, nodes, per_node, threads, gpus, {key: known[key] for key in factors(study)}, settings)


def grow(study: Study, deck: Deck, ranks: int, nodes: int, problems: Problems) -> dict[str, Any]:
    """The keys of `weak` for so many ranks."""
    grown: dict[str, Any] = {}
    for key, formulas in study["weak"].items():
        several = formulas if isinstance(formulas, list) else [formulas]
        sizes = Sizes(ranks, nodes, compact_grid(ranks, len(several) if isinstance(formulas, list) else 2))
        values = [value_of(formula, sizes, key, study.place("weak", key), problems) for formula in several]
        if None in values:
            return grown
        grown[key] = values if isinstance(formulas, list) else values[0]
        wrong = misfit(deck.schema[key], grown[key]) if deck.schema else None
        if wrong:
            fractions = any(isinstance(value, float) for value in values)
            problems.add(study.place("weak", key), f"{key} is {flow(grown[key])} on {ranks} ranks, but takes {wrong}"
                                                   f"{'; round(...) makes a whole number' if fractions else ''}")
    return grown


def value_of(formula: Any, sizes: Sizes, key: str, place: str, problems: Problems) -> Any:
    """Of a formula or a number; None after telling the problems."""
    try:
        return evaluate(formula, sizes) if isinstance(formula, str) else formula
    except ExpressionError as error:
        return problems.add(place, f'{key}: "{formula}" on {sizes.ranks} ranks {error}')


def gpus_of(study: Study, sizes: Sizes, problems: Problems) -> int:
    place = study.place("gpus")
    value = value_of(study["gpus"], sizes, "gpus", place, problems) or 0
    if value != int(value) or value < 0:
        problems.add(place, f'gpus: "{study["gpus"]}" on {sizes.ranks} ranks is {value}; a whole number from 0 is needed')
    return int(value)


def _identity(point: Point) -> tuple[Any, ...]:
    return point.ranks, point.nodes, point.threads, point.deck, tuple(sorted((key, flow(value)) for key, value in point.set.items()))


def add_ablations(study: Study, points: list[Point], seen: dict[tuple[Any, ...], Point]) -> list[tuple[Point, str, Point]]:
    """Points with backend null and without overlap; one that is there already serves. Returns whose they are, and which."""
    found = []
    for base in list(points):
        deck = study.decks_by_path[base.deck]
        for what, key, value in (("null_backend", "comm.backend", "null"), ("no_overlap", "comm.overlap", False)):
            if deck.value(key, base.set) == value or (deck.schema is not None and key not in deck.schema):
                continue
            varied = {**base.factors, **({key: value} if key in base.factors else {})}
            new = replace(base, factors=varied, set={**base.set, key: value}, ablations={}, ablation=what)
            found.append((base, what, seen.setdefault(_identity(new), new)))
            if found[-1][2] is new:
                points.append(new)
    return found


def judge(point: Point, deck: Deck, machine: Machine | None) -> None:
    """Estimates the point, and says why it cannot run here if it cannot."""
    try:
        need = need_of(deck.app, lambda key: deck.value(key, point.set))
        float(need.memory)
    except OverflowError as error:
        raise StudyError(f"{point.deck}: {point.words()}: the sizes are beyond what can be counted") from error
    cores = machine.cores if machine else point.ranks * point.threads
    point.estimate_seconds, point.estimate_basis = seconds(need, point.ranks * point.threads, cores, point.gpus)
    point.estimate_seconds = round(point.estimate_seconds, 2)
    point.memory_bytes = need.memory
    point.oversubscribed = point.ranks * point.threads > cores
    if machine is None:
        return
    for what, needed, there in ("node", point.nodes, machine.nodes), ("GPU", point.gpus, len(machine.gpus)):
        if needed > there:
            point.skipped = f"needs {needed} {what}{'s' * (needed != 1)}; there {'is' if there == 1 else 'are'} {there} here"
            return
    if not point.gpus and need.memory > machine.memory_bytes > 0:
        point.skipped = f"needs {need.memory / 1e9:.3g} GB of memory; there are {machine.memory_bytes / 1e9:.3g} GB here"


def run_order(points: list[Point], repeats: int, seed: int) -> list[tuple[Point, int]]:
    """Every point once in each repeat, in an order that the seed decides: what else the machine does touches all alike."""
    order = []
    for repeat in range(1, repeats + 1):
        shuffled = list(points)
        random.Random(f"{seed} {repeat}").shuffle(shuffled)
        order += [(point, repeat) for point in shuffled]
    return order
