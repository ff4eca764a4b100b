# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The points of a study: every combination of ranks, threads, decks and varied keys, with what each sets and needs."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kontor.report.text import counted, grouped

from ..messages import Failure
from ..place import nearest
from .machine import Machine
from .study import Deck, Study, flow

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
    oversubscribed: bool = False
    skipped: str | None = None

    def words(self) -> str:
        """What tells it from the others."""
        told = [counted(self.ranks, "rank")]
        told += [flow(value) if isinstance(value, str) else f"{key.rpartition('.')[2]} {flow(value)}"
                 for key, value in self.factors.items() if key != "ranks"]
        return ", ".join(told)

    @property
    def facts(self) -> dict[str, str]:
        """What --only selects by."""
        same = {key: getattr(self, key) for key in ("app", "deck", "ranks", "nodes", "threads", "gpus")}
        known = {"point": self.id, **same, **self.set, **self.factors}
        return {key: flow(value).replace(" ", "") for key, value in known.items()}


def make_plan(study: Study, machine: Machine | None) -> list[Point]:
    """Without a machine all points are possible: jobs will see."""
    points: list[Point] = []
    for deck, ranks, threads in itertools.product(study.decks, study["ranks"], study["threads"]):
        for varied in variations(study):
            if len(points) >= MOST_POINTS:
                raise Failure(f"{study.file}: more than {MOST_POINTS} points", error_id="E-DECK-LIMIT")
            points.append(make_point(study, deck, ranks, threads, varied))
    points = list({(point.ranks, point.threads, point.deck, flow(point.set)): point for point in points}.values())
    width = max(3, len(str(len(points) - 1)))
    for number, point in enumerate(points):
        point.id = f"p{number:0{width}d}"
        if machine:
            point.oversubscribed = point.ranks * point.threads > machine.cores
            point.skipped = lack(point, machine)
    return points


def variations(study: Study) -> Iterator[dict[str, Any]]:
    lists = [[{key: value} for value in values] for key, values in study["vary"].items()]
    if study["zip"]:
        lists.append([dict(zip(study["zip"], row)) for row in zip(*study["zip"].values())])
    for choice in itertools.product(*lists):
        yield {key: value for part in choice for key, value in part.items()}


def make_point(study: Study, deck: Deck, ranks: int, threads: int, varied: dict[str, Any]) -> Point:
    per_node = None if study["ranks_per_node"] == "auto" else study["ranks_per_node"]
    known = {"ranks": ranks, "threads": threads, "deck": deck.path, **varied}
    has_fields = deck.schema is None or "output.fields" in deck.schema
    settings = {**({"output.fields": "none"} if has_fields else {}), **deck.small, **study["set"], **varied}
    return Point("", deck.app, deck.path, ranks, -(-ranks // per_node) if per_node else 1, per_node, threads,
                 ranks * study["gpus_per_rank"], {key: known[key] for key in study.factors}, settings)


def lack(point: Point, machine: Machine) -> str | None:
    """What the point needs and the machine has not. Whether it fits into memory is for the mini-app to say."""
    for what, needed, there in ("node", point.nodes, machine.nodes), ("GPU", point.gpus, len(machine.gpus)):
        if needed > there:
            return f"needs {counted(needed, what)}; there {'is' if there == 1 else 'are'} {there} here"
    return None


def select(points: list[Point], only: list[str]) -> list[Point]:
    """Those that have one of the values of each key that is named: ["ranks=1", "ranks=2", "comm.backend=view"]."""
    found, pairs = points, [each.replace(" ", "").partition("=")[::2] for each in only]
    for key, values in grouped(pairs, lambda pair: pair[0]).items():
        known = {name for point in points for name in point.facts}
        if key not in known:
            raise Failure(f"--only {key}: it is no factor of this study{nearest(key, sorted(known))}",
                          error_id="E-STUDY-POINT")
        found = [point for point in found if (key, point.facts.get(key)) in values]
        has = dict.fromkeys(point.facts.get(key, "") for point in points)
        if not found:
            raise Failure(f"--only {key}: no point has this value, and those of the other --only; {key} is"
                          f" {', '.join(has)[:400]}", error_id="E-STUDY-POINT")
    return found


def run_order(points: list[Point], repeats: int, seed: int) -> list[tuple[Point, int]]:
    """Every point once in each repeat, in an order that the seed decides: load on the machine affects all alike."""
    order = []
    for repeat in range(1, repeats + 1):
        shuffled = list(points)
        random.Random(f"{seed} {repeat}").shuffle(shuffled)
        order += [(point, repeat) for point in shuffled]
    return order
