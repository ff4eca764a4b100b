# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two sets of the same runs, run by run: what is slower in the later one.

A set is a folder of records, NAME.ROUND.json, as lab/run makes it: each run once in every round. What is compared is a
run's fastest repeat, one value a round, which other programs disturb least; of runs with curves the fastest time of each
series, the geometric mean over its sizes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kontor.report.deck import settings
from kontor.report.errors import RecordError
from kontor.report.record import Record, read_record
from kontor.report.report_parts import Section, Table
from kontor.report.statistics import FEWEST_TO_COMPARE, LEVEL, Estimate, median_of, rank_sum_probability, ratio
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
    ratio: Estimate  # of the medians, after over before
    chance: float  # probability of ranks as different as these if nothing differed

    @property
    def verdict(self) -> str:
        if min(len(self.before), len(self.after)) < FEWEST_TO_COMPARE:
            return "too few rounds"
        if not self.ratio.excludes(1) or self.chance >= 1 - LEVEL:
            return "-"
        return "slower" if self.ratio.value > SLOWER else "faster" if self.ratio.value < 1 / SLOWER else "-"


def change(name: str, before: list[float], after: list[float]) -> Change:
    return Change(name, before, after, ratio(after, before), rank_sum_probability(after, before))


def report_against(folder: str, baseline: str, now: Callable[[str], None]) -> int:
    """Prints the comparison. 1 if something is slower, missing or not the same run, else 0."""
    place = next((place for place in (Path(baseline), Path(folder).parent / baseline) if place.is_dir()), None)
    if place is None:
        raise RecordError(f"--against: there is no folder {baseline}, and none of that name in {Path(folder).parent}")
    before, after = read_set(place, now), read_set(Path(folder), now)
    differ = others(before, after)
    remarks = [*differ.values(), *failed(after), *(f"{name}: missing in {folder}" for name in before.keys() - after.keys())]
    old, new = (samples({name: records for name, records in runs.items() if name not in differ}) for runs in (before, after))
    changes = [change(name, old[name], new[name]) for name in old if name in new]
    slower = [one for one in changes if one.verdict == "slower"]
    print(text(Section(f"{folder} against {place}", [table(changes), *sorted(remarks), *map(named, slower), conclusion(changes, slower)])))
    return 1 if slower or remarks else 0


def read_set(folder: Path, now: Callable[[str], None]) -> dict[str, list[Record]]:
    """The records of each run, by rounds. RecordError where there are none."""
    if not folder.is_dir():
        raise RecordError(f"{folder}: --against compares two folders of records, NAME.ROUND.json, as lab/run makes them", "E-REPORT-COMPARE")
    found = {path: parts for path in sorted(folder.glob("*.json")) if (parts := re.fullmatch(r"(.+)\.(\d+)\.json", path.name))}
    if not found:
        raise RecordError(f"{folder}: no records in it, which are called NAME.ROUND.json; lab/run makes them")
    runs: dict[str, list[Record]] = {}
    for name, paths in grouped(found, lambda path: found[path][1]).items():
        for path in sorted(paths, key=lambda each: int(found[each][2])):
            now(str(path))
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


def table(changes: list[Change]) -> Table:
    rows = [[one.name, str(len(one.after)), seconds(median_of(one.before).value), seconds(median_of(one.after).value),
             f"{one.ratio.value:.3f}", f"{one.ratio.low:.3f} to {one.ratio.high:.3f}" if one.ratio.known else "-", one.verdict] for one in changes]
    return Table(["run", "rounds", "before", "after", "ratio", "interval", "verdict"], rows, last=1)


def named(one: Change) -> str:
    return f"{one.name} is slower: {one.ratio.value:.3f} times the time before, {one.ratio.low:.3f} to {one.ratio.high:.3f}"


def conclusion(changes: list[Change], slower: list[Change]) -> str:
    mean = float(np.exp(np.mean(np.log([one.ratio.value for one in changes])))) if changes else float("nan")
    return (f"{len(slower)} of {len(changes)} slower. A run is slower if its ratio is above {SLOWER}, the interval of {LEVEL:.0%} does not hold 1 and "
            f"the rank test says so. Geometric mean of the ratios: {mean:.3f}.")
