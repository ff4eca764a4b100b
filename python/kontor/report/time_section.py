# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the time goes: regions, what ablations say is exposed, and how much of the machine is used."""

from collections.abc import Mapping, Sequence

import numpy as np

from .colours import level, lines_of, part_colours
from .deck import paths_of
from .record import Record
from .report_parts import Bar, Chart, Section, tabulated
from .series import Series, count_of, rows_of
from .solves import is_solve, speed
from .statistics import Estimate, estimate, interval, median, median_of
from .study import Point, Study
from .text import percent, quantity, seconds, spaced

LEAST = 0.002  # a smaller part of the time is not drawn


def time_sections(study: Study, series: list[Series]) -> list[Section]:
    return [*_phases(series), *_exposed(study, series), *_attainable(series)]


def _phases(series: list[Series]) -> list[Section]:
    charts = []
    for one in series:
        times = [(point, median(point.sample)) for point in one.points]
        bars = [(count_of(point), point.records, time, seconds(time)) for point, time in times]
        charts += _bars(f"Time of a repeat by region: {one.name}", bars)
    text = "The parts of a bar are means over ranks in a typical repeat; what is left is 'other'."
    return [Section("Where the time goes", [text, *charts])] if charts else []


def run_bars(records: Sequence[Record]) -> list[Chart]:
    """A bar for each run, named by its file and by what differs in it."""
    bars = []
    for record, path in zip(records, paths_of(records)):
        ratio = speed(record, records[0]) if is_solve(record) and record is not records[0] else None
        words = seconds(record.seconds) + ("" if ratio is None else f", {ratio:.2f} x")
        bars.append((path, [record], record.seconds or 0.0, words))
    return _bars("Time of a repeat by region, means over ranks", bars)


def _bars(title: str, named: Sequence[tuple[str, list[Record], float, str]]) -> list[Chart]:
    """A bar of a name, the runs of a point, their time and words: the parts of a typical repeat, medians over runs."""
    bars = []
    for name, records, total, words in named:
        records = [record for record in records if record.timers]
        regions = dict.fromkeys(region for record in records for region in record.parts)
        parts = {region: total * median([_part(record, region) for record in records if region in record.timers])
                 for region in regions}
        if records and (shown := bar_parts([*parts.items()], total)):
            bars.append(Bar(name, shown, words))
    return [time_bars(title, bars, kinds_of([run for _, records, *_ in named for run in records]))] if bars else []


def bar_parts(parts: Sequence[tuple[str, float]], total: float) -> list[tuple[str, float]]:
    """Without what is too small to be seen, and with what is left."""
    shown = [(name, value) for name, value in parts if value > LEAST * total]
    left = total - sum(value for _, value in shown)
    return [*shown, ("other", left)] if left > LEAST * total else shown


def time_bars(title: str, bars: list[Bar], kinds: Mapping[str, str | None]) -> Chart:
    drawn = {region: kinds.get(region) for bar in bars for region, _ in bar.parts}
    return Chart(title, "time", bars=bars, colours=part_colours({**kinds, **drawn}), unit="s")


def kinds_of(records: Sequence[Record]) -> dict[str, str | None]:
    return {region: record.kind(region) for record in records for region in record.parts}


def _part(record: Record, region: str) -> float:
    """A region's part of a repeat: the mean over ranks in the repeat with the median time, or, without times of ranks,
    the median over ranks of the mean repeat."""
    table = record.per_rank
    if table and table.get("wall") and region in table["regions"]:
        walls = np.array(table["wall"], dtype=float).max(axis=1, initial=0.0)
        typical = int(np.argsort(walls, kind="stable")[(len(walls) - 1) // 2])
        mean = np.mean([row[table["regions"].index(region)] for row in table["seconds"][typical]])
        return float(mean / walls[typical]) if walls[typical] > 0 else 0.0
    return record.share(region) or 0.0


def _exposed(study: Study, series: list[Series]) -> list[Section]:
    def cells(_: Series, point: Point) -> list[object] | None:
        found, time = study.ablations(point), median(point.sample)
        null, plain = found.get("null_backend"), found.get("no_overlap")
        exposed = estimate(np.subtract, point.sample, null.sample) if null else None
        gain = estimate(np.subtract, plain.sample, point.sample) if plain else None
        return [seconds(time), interval(exposed, seconds), percent(exposed.value / time if exposed else None),
                interval(gain, seconds)] if found else None

    text = ("Exposed is the time less that with backend null, which moves nothing; hidden is the time without overlap "
            "less that with it.")
    header = ["series", "workers", "time", "exposed", "of the time", "hidden by overlap"]
    return tabulated("Exposed communication", header, rows_of(series, cells), left=2, text=text)


def _attainable(series: list[Series]) -> list[Section]:
    """How much of what the machine could do, by its calibration in the same run."""
    fractions: dict[Point, Estimate] = {}

    def cells(_: Series, point: Point) -> list[object] | None:
        figures = [figure for record in point.records for figure in record.figures]
        first = next((figure for figure in figures if "fraction" in figure), None)
        if first is None:
            return None
        fractions[point] = median_of([record.fraction for record in point.records if record.fraction is not None])
        values, most = ([figure[key] for figure in figures if figure["name"] == first["name"] and key in figure]
                        for key in ("value", "attainable"))
        return [spaced(first["name"]), *(quantity(median(sample), first.get("unit", "")) for sample in (values, most)),
                fractions[point]]

    rows = rows_of(series, cells)
    lines = lines_of([(one.name, [(point.workers, fractions[point]) for point in one.points if point in fractions])
                      for one in series])
    lines.append(level("attainable", 1.0, lines))
    chart = Chart("Fraction of attainable", "workers", "fraction", lines, log_x=True, from_zero=True)
    header = ["series", "workers", "figure", "value", "attainable", "fraction"]
    text = "Attainable is what the machine could do at best by the run's own calibration, as in a roofline."
    return tabulated(chart.title, header, rows, chart, left=3, text=text)
