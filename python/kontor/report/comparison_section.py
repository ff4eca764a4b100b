# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Backends, or whatever else the study varies, beside each other at each number of workers."""

from .colours import colours, level, lines_of
from .crossover import Compared, compare, crossings, pairs
from .report_parts import Bar, Chart, Part, Section, Table
from .scaling_section import interval
from .series import Series
from .statistics import median_of
from .text import seconds

DECK = "deck"  # two of them are two problems, whose times say nothing of each other


def comparison_sections(series: list[Series]) -> list[Section]:
    if len(series) < 2:
        return []
    keys = list(dict.fromkeys(key for one in series for key in one.factors if key != DECK))
    keys.sort(key=lambda key: key != "comm.backend")
    sections = []
    for key in keys:
        compared = [(one, other, found) for one, other in pairs(series, key) if (found := compare(one, other))]
        if compared:
            sections.append(_section(key, compared))
    return sections


def _section(key: str, compared: list[tuple[Series, Series, list[Compared]]]) -> Section:
    what = "Backends" if key == "comm.backend" else f"{key} compared"
    parts: list[Part] = [f"The same points with another {key}. The ratio is the second time over the first. A difference is reported if the "
                         "interval of the ratio does not hold 1 and ranks as different as these have a chance of less than 5 % (Mann and "
                         "Whitney's test), which takes four runs of each at least. Of many comparisons, one in twenty may look so by chance.",
                         _table(compared)]
    parts += [text for one, other, found in compared for text in crossing_words(one, other, found)]
    if any(len(found) > 1 for _, _, found in compared):
        parts.append(_ratios(compared))
    else:
        parts.append(_bars(compared))
    return Section(what, parts)


def _table(compared: list[tuple[Series, Series, list[Compared]]]) -> Table:
    rows = []
    for one, other, found in compared:
        for row in found:
            mine, its = (median_of(point.sample) for side in (one, other) if (point := side.at(row.workers)))
            faster = "-" if not row.significant else one.name if row.ratio.value > 1 else other.name
            rows.append([one.name, other.name, str(row.workers), interval(mine, seconds), interval(its, seconds), interval(row.ratio, "{:.3f}".format),
                         faster])
    return Table(["first", "second", "workers", "first's time", "second's time", "ratio", "faster"], rows, left=2, last=1)


def crossing_words(one: Series, other: Series, found: list[Compared], certain: bool = False) -> list[str]:
    """`certain`: only where both sides of a crossing are significant."""
    told = []
    for crossing in crossings(found):
        below, above = (one, other) if crossing.first_wins_below else (other, one)
        though = "" if crossing.significant else ", though not both differences are significant"
        if crossing.significant or not certain:
            told.append(f"{below.name} is faster on {crossing.low} and {above.name} on {crossing.high} workers: they cross near "
                        f"{crossing.at:.3g}{though}.")
    return told


def _ratios(compared: list[tuple[Series, Series, list[Compared]]]) -> Chart:
    lines = lines_of([(f"{other.name} / {one.name}", [(row.workers, row.ratio) for row in found]) for one, other, found in compared])
    return Chart("Ratio of times: above 1 the first is faster", "workers", "ratio", [*lines, level("equal", 1.0, lines)], log_x=True, log_y=True)


def _bars(compared: list[tuple[Series, Series, list[Compared]]]) -> Chart:
    series = {one.name: one for pair in compared for one in pair[:2]}
    colour = colours(list(series))
    chart = Chart("Time of a repeat", "time", unit="s", colours=colour)
    for name, one in series.items():
        value = median_of(one.base.sample)
        chart.bars.append(Bar(name, [(name, value.value)], interval(value, seconds)))
    return chart
