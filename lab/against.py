# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two sets of the same runs, run by run: what is slower in the later one.

A set is a folder of records, NAME.ROUND.json, as lab/run makes it: each run once in every round. What is compared is a
run's fastest repeat, one value a round, which other programs disturb least; of runs with curves the fastest time of each
series, the geometric mean over its sizes.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kontor.report.deck import settings
from kontor.report.errors import RecordError
from kontor.report.record import Record, read_record
from kontor.report.parts import Section, tabulated
from kontor.report.statistics import FEWEST_TO_COMPARE, LEVEL, Difference, difference, median
from kontor.report.text import grouped, seconds, text

# The ratio of the rounds' medians from which a run is reported as slower. With five rounds and noise of 2 to 3 %, 99 to 93 of 100 runs
# that are 10 % slower are above it and significant; of runs that are as fast, at most 1 of 100 is reported.
SLOWER = 1.06

Samples = dict[str, list[float]]  # seconds, one value a round


@dataclass(frozen=True)
class Change:
    """One run, before and after."""

    name: str
    before: list[float]
    after: list[float]
    difference: Difference  # of the times after, relative to those before

    @property
    def verdict(self) -> str:
        if min(len(self.before), len(self.after)) < FEWEST_TO_COMPARE:
            return "too few rounds"
        ratio = self.difference.ratio.value
        return self.difference.verdict or "-" if ratio > SLOWER or ratio < 1 / SLOWER else "-"


def change(name: str, before: list[float], after: list[float]) -> Change:
    return Change(name, before, after, difference(after, before))


def report_against(folder: str, baseline: str) -> int:
    """Prints the comparison. 1 if something is slower, missing or not the same run, else 0."""
    place = next((place for place in (Path(baseline), Path(folder).parent / baseline) if place.is_dir()), None)
    if place is None:
        raise RecordError(f"--against: there is no folder {baseline}, and none of that name in {Path(folder).parent}")
    before, after = read_set(place), read_set(Path(folder))
    differ = others(before, after)
    remarks = [*differ.values(), *failed(after), *(f"{name}: missing in {folder}" for name in before.keys() - after.keys())]
    old, new = (samples({name: records for name, records in runs.items() if name not in differ}) for runs in (before, after))
    changes = [change(name, old[name], new[name]) for name in old if name in new]
    slower = [one for one in changes if one.verdict == "slower"]
    words, title = [*sorted(remarks), *map(named, slower), conclusion(changes, slower)], f"{folder} against {place}"
    print(*map(text, table(title, changes, words) or [Section(title, words)]))
    return 1 if slower or remarks else 0


def read_set(folder: Path) -> dict[str, list[Record]]:
    """The records of each run, by rounds. RecordError where there are none."""
    if not folder.is_dir():
        raise RecordError(f"{folder}: --against compares two folders of records, NAME.ROUND.json, as lab/run makes them", "E-REPORT-COMPARE")
    found = {path: parts for path in sorted(folder.glob("*.json")) if (parts := re.fullmatch(r"(.+)\.(\d+)\.json", path.name))}
    if not found:
        raise RecordError(f"{folder}: no records in it, which are called NAME.ROUND.json; lab/run makes them")
    runs: dict[str, list[Record]] = {}
    for name, paths in grouped(found, lambda path: found[path][1]).items():
        for path in sorted(paths, key=lambda each: int(found[each][2])):
            runs.setdefault(name, []).append(read_record(str(path)))
    return runs


def samples(runs: dict[str, list[Record]]) -> Samples:
    """Of the rounds that passed their verification."""
    taken: Samples = {}
    for name, records in runs.items():
        for record in records:
            for part, value in times(record).items() if record.passed is not False else ():
                taken.setdefault(f"{name}: {part}" if part else name, []).append(value)
    return taken


def times(record: Record) -> dict[str, float]:
    """Seconds of each series, or of a repeat under the empty name."""
    if not record.curves:
        return {"": min(record.repeats)} if record.repeats and min(record.repeats) > 0 else {}
    series = grouped((row for row in record.curves if row.get("min")), lambda row: f"{row['curve']}, {row['series']}")
    return {name: float(np.exp(np.mean(np.log([row["min"] for row in rows])))) for name, rows in series.items()}


def others(before: dict[str, list[Record]], after: dict[str, list[Record]]) -> dict[str, str]:
    """Runs of both sets that did not do the same, and in what they differ. Keys that only one revision has do not count."""
    found = {}
    for name in before.keys() & after.keys():
        one, *rest = (settings(record) | {"ranks": str(record.run.get("ranks"))} for record in (*before[name], *after[name]))
        keys = {key for values in rest for key in one.keys() & values.keys() if one[key] != values[key] and not key.startswith("output.")}
        if keys:
            found[name] = f"{name}: not compared, since decks differ in {', '.join(sorted(keys))}"
    return found


def failed(runs: dict[str, list[Record]]) -> list[str]:
    counts = {name: (sum(record.passed is False for record in records), len(records)) for name, records in runs.items()}
    return [f"{name}: {wrong} of {rounds} rounds failed their verification" for name, (wrong, rounds) in counts.items() if wrong]


def table(title: str, changes: list[Change], words: list[str]) -> list[Section]:
    return tabulated(title, changes, {
        "run": lambda one: one.name, "rounds": lambda one: len(one.after),
        "before": lambda one: seconds(median(one.before)), "after": lambda one: seconds(median(one.after)),
        "ratio": lambda one: one.difference.ratio.shown("{:.3f}".format), "verdict": lambda one: one.verdict}, *words)


def named(one: Change) -> str:
    return f"{one.name} is slower: {one.difference.ratio.shown('{:.3f}'.format)} times the time before"


def conclusion(changes: list[Change], slower: list[Change]) -> str:
    mean = float(np.exp(np.mean(np.log([one.difference.ratio.value for one in changes])))) if changes else float("nan")
    return (f"{len(slower)} of {len(changes)} slower. A run is slower if its ratio is above {SLOWER}, the interval of "
            f"{LEVEL:.0%} does not hold 1 and the rank test agrees. Geometric mean of the ratios: {mean:.3f}.")
