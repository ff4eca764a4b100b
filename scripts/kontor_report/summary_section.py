# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study in a few sentences."""

from collections import Counter

from .comparison_section import DECK, crossing_words
from .crossover import compare, pairs
from .pop import pop_of
from .report_parts import Section
from .scaling import scale
from .scaling_section import interval
from .series import Series, count_of
from .statistics import FEWEST_TO_COMPARE, median
from .study import PASSED, Study
from .text import seconds


def summary_section(study: Study, series: list[Series]) -> Section:
    runs = [run for point in study.points for run in point.runs]
    passed = sum(run.state == PASSED and not run.problem for run in runs)
    skipped = sum(bool(point.skipped) for point in study.points)
    words = [f"{len(study.points)} points of {study.app or 'an app'}, {len(runs)} runs: {passed} passed, {len(runs) - passed} did not"
             + (f"; {skipped} point{'s' * (skipped != 1)} cannot run here" if skipped else "") + "."]
    words += [_scales(study, one) for one in series if len(one.points) > 1]
    for deck in dict.fromkeys(one.factors.get(DECK) for one in series):
        words += _fastest([one for one in series if one.factors.get(DECK) == deck])
    words += [text for one, other in pairs(series) for text in crossing_words(one, other, compare(one, other), certain=True)]
    if not series:
        words.append("No point has a record yet, so there is nothing to compare.")
    return Section("Summary", list(words))


def _scales(study: Study, one: Series) -> str:
    last = scale(one, study.kind == "weak")[-1]
    limit = pop_of(last.point, one.base)
    told = f" What takes most there is {limit.words}." if limit and limit.words else ""
    if study.kind == "weak":
        return (f"{one.name}: on {count_of(last.point)} the grown problem takes {interval(last.seconds, seconds)}, an efficiency of "
                f"{interval(last.efficiency)} beside {one.base_name}.{told}")
    return (f"{one.name}: {count_of(last.point)} are {interval(last.speedup)} times as fast as {one.base_name}, an efficiency of "
            f"{interval(last.efficiency)}.{told}")


def _fastest(series: list[Series]) -> list[str]:
    """At the most workers that several series have."""
    counts = Counter(point.workers for one in series for point in one.points)
    most = max((workers for workers, count in counts.items() if count > 1), default=None)
    if most is None:
        return []
    at = [one for one in series if one.at(most)]
    one = min(at, key=lambda other: median(other.at(most).sample))
    faster_than = [other for other in at for row in compare(one, other) if row.workers == most and row.significant]
    rivals = [other for other in at if other is not one and other not in faster_than]
    few = any(len(other.at(most).sample) < FEWEST_TO_COMPARE for other in (one, *rivals))
    tied = (f"; {FEWEST_TO_COMPARE} runs of each point would tell whether that is significant" if few
            else f", though not significantly faster than {', '.join(other.name for other in rivals)}") if rivals else ""
    return [f"On {count_of(one.at(most))} {one.name} is the fastest with {seconds(median(one.at(most).sample))}{tied}."]
