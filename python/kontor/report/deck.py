# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the decks of runs say, and in what several runs differ."""

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any

import yaml

from .record import Record
from .text import counted, spaced

SET_UP = ("problem.matrix_market.partition",)  # how a problem is set up, not what is solved
RECORDED = ("ranks", "execution_space", "backend", "pattern", "packing", "path", "overlap")  # what was chosen, too
SECTIONS = ("problem", "product", "solver", "time", "decomposition")  # of other differences
MOST = 4  # differences that a label names
# The value alone says it.
CLEAR = ("backend", "pattern", "execution_space", "method", "preconditioner", "format", "kind")


@lru_cache
def settings(deck: str) -> dict[str, str]:
    """The values by key, such as solver.method, as they are written; of kinds of problem those of the chosen one."""
    values = dict(_leaves("", yaml.load(deck, Loader=yaml.BaseLoader) or {}))
    kind = values.get("problem.kind")
    kinds = {key.split(".")[1] for key in values if key.startswith("problem.") and key.count(".") > 1}
    others = tuple(f"problem.{name}." for name in kinds - {kind}) if kind in kinds else ()
    return {key: value for key, value in values.items() if not key.startswith(others)}


def _leaves(prefix: str, node: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in node.items():
        if isinstance(value, dict):
            yield from _leaves(f"{prefix}{key}.", value)
        else:
            yield f"{prefix}{key}", f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def sections_of(record: Record) -> list[tuple[str, str]]:
    """What is asked for: ('solver', 'method classic, tolerance 1e-9'), ..."""
    values = {key.partition(".")[::2]: value for key, value in settings(record.deck).items() if value not in ("", "[]")}
    return [(name, ", ".join(f"{key} {value}" for (section, key), value in values.items() if section == name))
            for name in SECTIONS[:4]]


def phrase(key: str, value: object) -> str:
    """In words: 'view', 'overlap on', 'tolerance 1.0e-09'."""
    name = key.rpartition(".")[2]
    if name == "ranks":
        return counted(value, "rank")
    if name == "overlap":
        return f"overlap {'on' if value else 'off'}"
    return str(value) if name in CLEAR and value != "none" else f"{spaced(name)} {value}"


def labels(records: Sequence[Record]) -> list[str]:
    """For each run, in words, in what it differs from the others; empty where the decks and records do not say."""
    known = [{**{key: record.run[key] for key in RECORDED if key in record.run},
              **{key: value for key, value in settings(record.deck).items() if key.partition(".")[0] in SECTIONS}}
             for record in records]
    keys = dict.fromkeys(key for values in known for key in values)
    differ = [key for key in keys if len({str(values[key]) for values in known if key in values}) > 1]
    return [", ".join(phrase(key, values[key]) for key in differ[:MOST] if key in values) for values in known]


def names_of(records: Sequence[Record]) -> list[str]:
    """What is different in each; its file where that does not tell them apart."""
    found = labels(records)
    return [label if label and found.count(label) == 1 else record.path for label, record in zip(found, records)]


def other_problem(record: Record, baseline: Record, also: Collection[str] = ()) -> list[str]:
    """In what the run's problem, and the keys in `also`, differ from the baseline's: texts."""
    mine, other = settings(record.deck), settings(baseline.deck)
    keys = [key for key in {**mine, **other} if (key.startswith("problem.") and key not in SET_UP) or key in also]
    if mine.get("problem.kind") != other.get("problem.kind"):
        keys = [key for key in keys if key in mine and key in other]
    return [f"{key} is {mine.get(key, 'absent')}, not {other.get(key, 'there')}" for key in keys
            if mine.get(key) != other.get(key)]
