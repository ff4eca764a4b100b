# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The keys of a study: what each takes, its default, its help. The reader, --print, --schema and the docs follow this.

`PYTHONPATH=python python3 -m kontor.study.description` prints the table of docs/studies.md.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .expression import ExpressionError, compiled
from .kinds import FLAG, Key, Kind, ListOf, Section, text, whole, word
from .problems import Problems, shown
from .tree import Node, flow

DECK_KEY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")


@dataclass
class Formula(Kind):
    """A number or a formula; if `several`, or a list of them, for a key of several values."""

    several: bool = False

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if self.several and isinstance(node.value, list):
            if not node.value:
                return problems.add(node.place, f"{key} is an empty list; give at least one value")
            return [Formula().read(key, item, problems) for item in node.value]
        value = node.plain_value()
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            return self.refuse(problems, node, key, "a number or a formula")
        try:
            compiled(value if isinstance(value, str) else "0")
        except ExpressionError as error:
            return problems.add(node.place, f'{key}: "{shown(value)}" {error}')
        return value

    def schema(self) -> dict[str, Any]:
        one = {"type": ["string", "number"]}
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]} if self.several else one


class Setting(Kind):
    """Any value that a deck's key may take; the mini-app checks it."""

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if node.plain and node.value in ("", "~"):
            return problems.add(node.place, f"{key} has no value")
        for part in node.parts:
            self.read(key, part, problems)
        return node.plain_value()


@dataclass
class ByDeckKey(Kind):
    """A mapping from keys of the deck, such as comm.backend."""

    item: Kind
    extra: tuple[str, ...] = ()

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        if not isinstance(node.value, dict):
            return self.refuse(problems, node, key, "keys of the deck and their values")
        result = {}
        for name, item in node.value.items():
            if name in ("app", "output.file") or name not in self.extra and not DECK_KEY.fullmatch(name):
                problems.add(node.keys[name], f'{key}: "{shown(name)}" is not a key that a study may set; allowed are '
                                              "those of decks, such as comm.backend or problem.cells")
            elif (value := self.item.read(f"{key}.{name}", item, problems)) is not None:
                result[name] = value
        return result

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.item.schema()}


class Zipped(Kind):
    """A mapping of lists that go together, or a list of such mappings."""

    LISTS = ByDeckKey(ListOf(Setting(), unique=False))

    def __init__(self) -> None:
        one = self.LISTS.schema()
        super().__init__({"anyOf": [one, {"type": "array", "items": one}]})

    def read(self, key: str, node: Node, problems: Problems) -> Any:
        found = []
        for group in node.value if isinstance(node.value, list) else [node]:
            lists = self.LISTS.read(key, group, problems)
            lengths = {name: len(values) for name, values in (lists or {}).items()}
            if len(set(lengths.values())) > 1:
                told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
                problems.add(group.place, f"{key}: the lists go together, so they have as many values each: {told}")
            rows = list(zip(*(lists or {}).values()))
            if row := next((row for place, row in enumerate(rows) if row in rows[:place]), None):
                problems.add(group.place, f"{key}: the values {', '.join(map(str, row))} go together twice")
            found.append(lists)
        return found


STUDY_KINDS = ("strong", "weak", "compare", "sweep")
MOST_RANKS = 10_000_000
NAME = text(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", "a name of letters, digits, _ . and -")
TIME = text(r"([0-9]+-)?[0-9]{1,3}(:[0-9]{1,2}){0,2}|auto", "minutes, HH:MM:SS or D-HH:MM:SS")
LINE = text(r"[^\n\r]*", "text of one line")
LINES = ListOf(LINE, least=0)

LAUNCH = Section({
    "scheduler": Key(word(("auto", "slurm", "flux")), "Scheduler of the job scripts that --submit writes;"
                     " auto: the one whose command is found", "auto"),
    "time": Key(TIME, "Time limit of a job; auto: twice the time of past runs, timeout for points without one,"
                " 10 minutes at least", "auto"),
    "partition": Key(LINE, "Partition or queue", ""),
    "account": Key(LINE, "Account that is charged", ""),
    "qos": Key(LINE, "Quality of service (Slurm)", ""),
    "constraint": Key(LINE, "Features that nodes must have (Slurm)", ""),
    "reservation": Key(LINE, "Reservation (Slurm)", ""),
    "exclusive": Key(FLAG, "Whole nodes, shared with no other job", True),
    "jobs": Key(word(("size", "point", "study")), "What shares a job: size, the points of the same nodes, ranks, threads"
                " and GPUs, which are then timed on the same nodes; point, nothing; study, all", "size"),
    "warn": Key(whole(10, 86_400), "Seconds before the time limit at which a job gets SIGTERM", 60),
    "options": Key(LINES, "Further options for the scheduler, one a line, as they are", []),
    "setup": Key(LINES, "Shell lines before the runs, such as module load openmpi", []),
})


def _wholes(high: int, auto: bool = False) -> ListOf:
    return ListOf(whole(1, high), single=True, auto=auto)


STUDY = Section({
    "study": Key(NAME, "The study's name, such as heat-strong", required=True),
    "deck": Key(ListOf(text(allowed="the path of a deck"), single=True, ranges=False),
                "The deck, or a list of decks, which is then varied", required=True),
    "kind": Key(word(STUDY_KINDS), f"Kind of study: {', '.join(STUDY_KINDS)}", required=True),
    "ranks": Key(_wholes(MOST_RANKS, True), "Numbers of MPI ranks; auto: nodes x ranks_per_node", []),
    "nodes": Key(_wholes(1_000_000, True),
                 "Instead of ranks: numbers of nodes, with ranks_per_node; auto: as many as the ranks need", []),
    "ranks_per_node": Key(whole(1, 100_000, auto=True), "Ranks on each node; auto: as the launcher does it", "auto"),
    "threads": Key(_wholes(100_000), "Threads of a rank (OMP_NUM_THREADS)", [1]),
    "gpus": Key(Formula(), "GPUs that a point needs in all, a formula of ranks and nodes, such as ranks", 0),
    "set": Key(ByDeckKey(Setting()), "Keys of the deck that are the same in all points", {}),
    "weak": Key(ByDeckKey(Formula(several=True)),
                "How sizes grow: keys of the deck by formulas of ranks, nodes and grid", {}),
    "vary": Key(ByDeckKey(ListOf(Setting())),
                "Keys of the deck, and the values that each takes: every combination is a point", {}),
    "zip": Key(Zipped(), "Keys of the deck whose lists go together, the first with the first and so on", []),
    "ablation": Key(FLAG, "Adds to each point one with backend null and one without overlap", False),
    "fields": Key(word(("none", "final")), "Whether runs write their fields: output.fields of the decks", "none"),
    "reduced": Key(FLAG, "Decks are made small by their own line `# test:`", False),
    "baseline": Key(ByDeckKey(Setting(), extra=("ranks", "nodes", "threads", "deck")),
                    "Factors of the point to which others are compared", {}),
    "repeats": Key(whole(1, 1000), "Whole runs of each point; a report needs 4 to call a difference significant", 3),
    "seed": Key(whole(0, 2**31 - 1, auto=True),
                "Seed of the random order of runs; auto: a random seed, which is recorded", "auto"),
    "timeout": Key(whole(1, 10_000_000),
                   "Time limit of a run in seconds; a longer run is killed and counts as failed", 3600),
    "launch": Key(LAUNCH, "Options of job scripts", LAUNCH.defaults()),
})


def json_schema() -> dict[str, object]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Kontor study", **STUDY.schema()}


def table() -> str:
    """In Markdown."""
    return "\n".join(["| key | default | what it is |", "|---|---|---|", *_rows("", STUDY)])


def _rows(prefix: str, section: Section) -> Iterator[str]:
    for name, key in section.keys.items():
        if isinstance(key.kind, Section):
            yield f"| `{prefix}{name}` | | {key.help}: |"
            yield from _rows(f"{prefix}{name}.", key.kind)
        else:
            is_auto = isinstance(key.kind, ListOf) and key.kind.auto
            default = "auto" if is_auto else key.default
            cell = "" if key.required else "empty" if default in ([], {}, "") else f"`{flow(default)}`"
            yield f"| `{prefix}{name}` | {cell} | {key.help} |"


if __name__ == "__main__":
    print(table())
