# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the keys of a study must be together, and with its decks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .decks import Deck
from .kinds import same
from .problems import Problems, misfit, nearest
from .tree import flow

if TYPE_CHECKING:
    from .study import Study


def check_together(study: Study, problems: Problems) -> None:
    """Adds what contradicts something else in the study's file."""
    kind, per_node = study["kind"], study["ranks_per_node"]
    backends = study["vary"].get("comm.backend", [study["set"].get("comm.backend")])
    uneven = [ranks for ranks in study["ranks"] if per_node != "auto" and ranks > per_node and ranks % per_node]
    for wrong, key, message in (
        (study["ranks"] and study["nodes"], "nodes",
         "nodes and ranks are both given; give ranks, or nodes with ranks_per_node"),
        (not study["ranks"] and not study["nodes"], "",
         "ranks is missing (or nodes with ranks_per_node): on how many MPI ranks the deck runs"),
        (study["nodes"] and per_node == "auto", "nodes",
         "nodes needs ranks_per_node, a whole number: ranks are nodes x ranks_per_node"),
        *((True, "ranks", f"ranks has {ranks}, which is no multiple of ranks_per_node {per_node}") for ranks in uneven),
        (kind == "weak" and not study["weak"], "kind",
         'kind weak needs weak: how sizes grow, such as weak: {problem.cells: [4096, "4096*ranks"]}'),
        (kind in ("compare", "sweep") and not (study["vary"] or any(study["zip"]) or len(study["deck"]) > 1), "kind",
         f"kind {kind} needs vary, zip or several decks: there is nothing to compare"),
        (study["ablation"] and "null" in backends, "ablation",
         "ablation adds backend null by itself; leave it out of comm.backend"),
    ):
        if wrong:
            problems.add(study.place(key), message)
    homes: dict[str, str] = {}
    for section, keys in study.sections:
        for key in keys if section != "weak" or kind == "weak" else ():
            if key in homes:
                problems.add(study.place(section, key),
                             f"{key} is given by {homes[key]} and by {section}; give it once")
            homes[key] = section
    if "output.fields" in homes:
        problems.add(study.place(homes["output.fields"], "output.fields"),
                     "output.fields is set by the study's key fields")
    _check_baseline(study, problems)


def _check_baseline(study: Study, problems: Problems) -> None:
    """It is a factor, and one of its values. What --set has changed is dropped: the baseline was for another study."""
    factors = study.factors
    for key, value in list(study["baseline"].items()):
        is_there = any(same(value, other) for other in factors.get(key, ()))
        homes = study.place("vary", key), study.place("zip", key), study.place(key)
        if any(place.startswith("--set") for place in homes):
            if not is_there:
                del study["baseline"][key]
        elif key not in factors:
            problems.add(study.place("baseline", key), f"baseline: {key} is not varied{nearest(key, factors)}")
        elif not is_there:
            problems.add(study.place("baseline", key), f"baseline: {key} is never {flow(value)}; allowed are "
                                                       f"{', '.join(map(flow, factors[key]))}")


def check_keys(study: Study, deck: Deck, problems: Problems) -> None:
    """The keys that the study sets are the deck's, and their values what it takes."""
    schema = deck.schema or {}
    for section, keys in study.sections if schema else ():
        for key, value in keys.items():
            place = study.place(section, key)
            if key not in schema:
                inner = any(known.startswith(f"{key}.") for known in schema)
                hint = "; it is a section: name one of its keys" if inner else nearest(key, schema)
                problems.add(place, f'{section}: "{key}" is not a key of {deck.app}\'s decks{hint}')
                continue
            for one in {"set": [value], "weak": ()}.get(section, value):
                if wrong := misfit(schema[key], one):
                    problems.add(place, f"{section}: {key} takes {wrong}, found {flow(one)}")
