# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two studies of the same decks, as kontor benchmark makes them: what is slower in the later one.

What is compared is a run's fastest repeat, one value for each round of a point, which other programs disturb least; of
runs with curves the fastest time of each series, the geometric mean over its sizes.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kontor.report.deck import settings
from kontor.report.record import Record, RecordError
from kontor.report.parts import Section, tabulated
from kontor.report.statistics import FEWEST_TO_COMPARE, LEVEL, Difference, difference, median
from kontor.report.study import Point, read_study
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
    before, after = read_runs(place), read_runs(Path(folder))
    differ = others(before, after)
    remarks = [*differ.values(), *failed(after), *(f"{name}: missing in {folder}" for name in before.keys() - after.keys())]
    old, new = (samples({name: point.records for name, point in runs.items() if name not in differ}) for runs in (before, after))
    changes = [change(name, old[name], new[name]) for name in old if name in new]
    slower = [one for one in changes if one.verdict == "slower"]
    words, title = [*sorted(remarks), *map(named, slower), conclusion(changes, slower)], f"{folder} against {place}"
    print(*map(text, table(title, changes, words) or [Section(title, words)]))
    return 1 if slower or remarks else 0


def read_runs(folder: Path) -> dict[str, Point]:
    """The points of a study, by their factors. RecordError if there is none."""
    if not (folder / "study.json").exists():
        raise RecordError(f"{folder}: --against compares two folders of studies, and this has no study.json", "E-REPORT-COMPARE")
    points = read_study(str(folder)).points
    keys = {key for point in points for key in point.factors if key != "deck"}
    varied = sorted(key for key in keys if len({str(point.factors.get(key)) for point in points}) > 1)
    found = {}
    for point in points:
        deck = Path(str(point.factors.get("deck", point.id))).stem
        found[" ".join([deck, *(f"{key}={point.factors.get(key)}" for key in varied)])] = point
    return found


def samples(runs: dict[str, list[Record]]) -> Samples:
    taken: Samples = {}
    for name, records in runs.items():
        for record in records:
            for part, value in times(record).items():
                taken.setdefault(f"{name}: {part}" if part else name, []).append(value)
    return taken


def times(record: Record) -> dict[str, float]:
    """Seconds of each series, or of a repeat under the empty name."""
    if not record.curves:
        return {"": min(record.repeats)} if record.repeats and min(record.repeats) > 0 else {}
    series = grouped((row for row in record.curves if row.get("min")), lambda row: f"{row['curve']}, {row['series']}")
    return {name: float(np.exp(np.mean(np.log([row["min"] for row in rows])))) for name, rows in series.items()}


def others(before: dict[str, Point], after: dict[str, Point]) -> dict[str, str]:
    """Runs of both sets that did not do the same, and in what they differ. Keys that only one revision has do not count."""
    found = {}
    for name in before.keys() & after.keys():
        records = [*before[name].records, *after[name].records]
        one, *rest = [settings(record.deck) | {"ranks": str(record.run.get("ranks"))} for record in records] or [{}]
        keys = {key for values in rest for key in one.keys() & values.keys() if one[key] != values[key] and not key.startswith("output.")}
        if keys:
            found[name] = f"{name}: not compared, since decks differ in {', '.join(sorted(keys))}"
    return found


def failed(runs: dict[str, Point]) -> list[str]:
    counts = {name: (sum(run.record is None for run in point.runs), len(point.runs)) for name, point in runs.items()}
    return [f"{name}: {wrong} of {rounds} rounds failed" for name, (wrong, rounds) in counts.items() if wrong]


def table(title: str, changes: list[Change], words: list[str]) -> list[Section]:
    return tabulated(title, [
        {"run": one.name, "rounds": len(one.after), "before": seconds(median(one.before)),
         "after": seconds(median(one.after)), "ratio": one.difference.ratio.shown("{:.3f}".format),
         "verdict": one.verdict} for one in changes], *words)


def named(one: Change) -> str:
    return f"{one.name} is slower: {one.difference.ratio.shown('{:.3f}'.format)} times the time before"


def conclusion(changes: list[Change], slower: list[Change]) -> str:
    mean = float(np.exp(np.mean(np.log([one.difference.ratio.value for one in changes])))) if changes else float("nan")
    return (f"{len(slower)} of {len(changes)} slower. A run is slower if its ratio is above {SLOWER}, the interval of "
            f"{LEVEL:.0%} does not hold 1 and the rank test agrees. Geometric mean of the ratios: {mean:.3f}.")
