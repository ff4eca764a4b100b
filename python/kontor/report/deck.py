# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the decks of runs say, and in what several runs differ."""

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any

import yaml

from .record import Record
from .text import counted, on_off

# How a problem is set up, not what is solved.
SET_UP = ("problem.matrix_market.partition",)
# Keys that count only where another key has this value.
COUNTS_WITH = {
    "solver.replace_every": ("solver.method", "pipelined"),
    "solver.chebyshev_degree": ("solver.preconditioner", "chebyshev"),
    **{f"problem.{matrix}.expression": (f"problem.{matrix}.kind", "expression") for matrix in "abc"},
    **dict.fromkeys(("time.end", "time.step"), ("problem.equation", "transient")),
}
RECORDED = ("ranks", "execution_space", "backend", "pattern", "packing", "path", "overlap")  # what was chosen, too
FOLLOWS = {"packing": "backend", "path": "backend"}  # not told where it is the other one that decides
SECTIONS = ("problem.", "product.", "solver.", "time.", "decomposition.")  # of other differences
MOST = 4  # differences that a label names
# The value alone says it.
CLEAR = ("backend", "pattern", "execution_space", "method", "preconditioner", "format", "kind")


def settings(record: Record) -> dict[str, str]:
    """The deck's values by key, such as solver.method, as they are written; without those that do not count."""
    return _settings(record.run.get("deck", ""))


@lru_cache
def _settings(text: str) -> dict[str, str]:
    try:
        values = dict(_leaves("", yaml.load(text, Loader=yaml.BaseLoader)))
    except (yaml.YAMLError, RecursionError, AttributeError):
        return {}
    kind = values.get("problem.kind")
    kinds = {key.split(".")[1] for key in values if key.startswith("problem.") and key.count(".") > 1}
    others = tuple(f"problem.{name}." for name in kinds - {kind}) if kind in kinds else ()
    return {key: value for key, value in values.items() if not key.startswith(others)
            and (key not in COUNTS_WITH or values.get(COUNTS_WITH[key][0]) in (None, COUNTS_WITH[key][1]))}


def _leaves(prefix: str, node: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in node.items():
        if isinstance(value, dict):
            yield from _leaves(f"{prefix}{key}.", value)
        else:
            yield f"{prefix}{key}", f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def section_of(record: Record, name: str) -> list[str]:
    """What a section of the deck says: 'kind stencil', 'points [8, 8, 8]', ..."""
    values = settings(record)
    return [_phrase(key, value, values, clear=()) for key, value in values.items()
            if key.startswith(f"{name}.") and value not in ("", "[]")]


def labels(records: Sequence[Record]) -> list[str]:
    """For each run, in words, in what it differs from the others; empty where the decks and records do not say."""
    known = [{**{key: record.run[key] for key in RECORDED if key in record.run},
              **{key: value for key, value in settings(record).items() if key.startswith(SECTIONS)}}
             for record in records]

    def distinct(*keys: str) -> int:
        return len({tuple(str(values[key]) for key in keys) for values in known if all(key in values for key in keys)})

    differ = [key for key in dict.fromkeys(key for values in known for key in values) if distinct(key) > 1]
    differ = [key for key in differ if key not in FOLLOWS or distinct(FOLLOWS[key], key) > distinct(FOLLOWS[key])][:MOST]
    return [", ".join(_phrase(key, values[key], values) for key in differ if key in values) for values in known]


def paths_of(records: Sequence[Record]) -> list[str]:
    """The file of each, and what is different in it."""
    return [": ".join(filter(None, (record.path, label))) for record, label in zip(records, labels(records))]


def names_of(records: Sequence[Record]) -> list[str]:
    """What is different in each; the file too where that does not tell them apart."""
    found = labels(records)
    return [label if label and found.count(label) == 1 else path for label, path in zip(found, paths_of(records))]


def other_problem(record: Record, baseline: Record, also: Collection[str] = ()) -> list[str]:
    """In what the run's problem, and the keys in `also`, differ from the baseline's: texts."""
    mine, other = settings(record), settings(baseline)
    keys = [key for key in {**mine, **other} if (key.startswith("problem.") and key not in SET_UP) or key in also]
    if mine.get("problem.kind") != other.get("problem.kind"):
        keys = [key for key in keys if key in mine and key in other]
    return [f"{key} is {mine.get(key, 'absent')}, not {other.get(key, 'there')}" for key in keys
            if mine.get(key) != other.get(key)]


def _phrase(key: str, value: Any, values: dict[str, str], clear: Collection[str] = CLEAR) -> str:
    name = key.removeprefix(f"problem.{values.get('problem.kind')}.")
    name = name if name != key else key.partition(".")[2] or key
    if key == "ranks":
        return counted(value, "rank")
    if key == "overlap":
        return f"overlap {on_off(value)}"
    if name == "preconditioner" and value == "none" and clear:
        return "no preconditioner"
    return str(value) if name in clear and value != "none" else f"{name} {value}"
