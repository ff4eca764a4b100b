# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the time goes: regions, what ablations say is exposed, and how much of the machine is used."""

from collections.abc import Mapping, Sequence

from .colours import level, lines_of, part_colours
from .compare import speed
from .deck import labels
from .record import Record
from .report_parts import Bar, Chart, Section, Table, tabulated
from .scaling_section import interval
from .series import Series, count_of, points_of
from .solves import is_solve
from .statistics import Estimate, estimate, median, median_of
from .study import Point, Study
from .text import percent, quantity, seconds

LEAST = 0.002  # a smaller part of the time is not drawn


def time_sections(study: Study, series: list[Series]) -> list[Section]:
    return [*_phases(series), *_exposed(study, series), *_attainable(series)]


def _phases(series: list[Series]) -> list[Section]:
    """A bar for each point."""
    charts = []
    for one in series:
        bars = [Bar(count_of(point), shares, seconds(median(point.sample))) for point in one.points if (shares := phases(point))]
        if bars:
            kinds = kinds_of([record for point in one.points for record in point.records])
            charts.append(time_bars(f"Time of a repeat by region: {one.name}", bars, kinds))
    text = ("Each bar is the time of a repeat, its parts are means over ranks in a typical repeat: where some ranks take longer than others in "
            "a region, the others wait for them elsewhere. What is left, the end of the repeat on ranks that are done before the last included, "
            "is 'other'.")
    return [Section("Where the time goes", [text, *charts])] if charts else []


def phases(point: Point) -> list[tuple[str, float]]:
    """Seconds by region: the parts of each run's typical repeat, the median over runs."""
    records = [record for record in point.records if record.timers]
    names = list(dict.fromkeys(name for record in records for name in record.parts))
    total = median(point.sample) if point.sample else 0.0
    return bar_parts([(name, total * median([part_of(record, name) for record in records if name in record.timers])) for name in names], total)


def bar_parts(parts: list[tuple[str, float]], total: float) -> list[tuple[str, float]]:
    """Without what is too small to be seen, and with what is left."""
    shown = [(name, value) for name, value in parts if value > LEAST * total]
    left = total - sum(value for _, value in shown)
    return [*shown, ("other", left)] if left > LEAST * total else shown


def time_bars(title: str, bars: list[Bar], kinds: Mapping[str, str | None]) -> Chart:
    drawn = {region: kinds.get(region) for bar in bars for region, _ in bar.parts}
    return Chart(title, "time", bars=bars, colours=part_colours({**kinds, **drawn}), unit="s")


def kinds_of(records: Sequence[Record]) -> dict[str, str | None]:
    return {region: record.kind(region) for record in records for region in record.parts}


def run_bars(records: Sequence[Record]) -> list[Chart]:
    """A bar for each run, named by its file and by what differs in it."""
    bars = []
    for record, label in zip(records, labels(records)):
        if record.seconds and record.timers:
            parts = bar_parts([(region, record.seconds * part_of(record, region)) for region in record.parts], record.seconds)
            ratio = speed(record, records[0]) if is_solve(record) and record is not records[0] else None
            words = [seconds(record.seconds), *([f"{ratio:.2f} x"] if ratio is not None else [])]
            bars.append(Bar(": ".join(filter(None, (record.path, label))), parts, ", ".join(words)))
    return [time_bars("Time of a repeat by region, means over ranks", bars, kinds_of(records))] if bars else []


def part_of(record: Record, region: str) -> float:
    """A region's part of a repeat: the mean over ranks in the repeat with the median time, or, without times of ranks,
    the median over ranks of the mean repeat."""
    table = record.per_rank
    if table and table.get("wall") and region in table["regions"]:
        walls = [max(walls, default=0.0) for walls in table["wall"]]
        typical = sorted(range(len(walls)), key=walls.__getitem__)[(len(walls) - 1) // 2]
        place = table["regions"].index(region)
        of_ranks: list[float] = [row[place] for row in table["seconds"][typical]]
        return sum(of_ranks) / len(of_ranks) / walls[typical] if walls[typical] > 0 else 0.0
    return record.share(region) or 0.0


def _exposed(study: Study, series: list[Series]) -> list[Section]:
    rows = []
    for one, point in points_of(series):
        if found := study.ablations(point):
            null, plain = found.get("null_backend"), found.get("no_overlap")
            exposed = difference(point.sample, null.sample) if null else None
            gain = difference(plain.sample, point.sample) if plain else None
            rows.append([one.name, count_of(point), seconds(median(point.sample)), interval(exposed, seconds),
                         percent(exposed.value / median(point.sample)) if exposed else "-", interval(gain, seconds)])
    text = ("Exposed communication is the time of a point less its time with backend null, which moves nothing; what overlap hides is the time "
            "without overlap less the time with it. Negative numbers are within the scatter of the runs.")
    return tabulated("Exposed communication", text, Table(["series", "workers", "time", "exposed", "of the time", "hidden by overlap"], rows, left=2))


def difference(first: Sequence[float], second: Sequence[float]) -> Estimate:
    return estimate(lambda a, b: a - b, first, second)


def _attainable(series: list[Series]) -> list[Section]:
    """How much of what the machine could do, by its calibration in the same run."""
    chart = Chart("Fraction of attainable", "workers", "fraction", log_x=True, from_zero=True)
    rows, told = [], []
    for one in series:
        points = [(point, median_of([record.fraction for record in point.records if record.fraction is not None]))
                  for point in one.points if any(record.fraction is not None for record in point.records)]
        for point, fraction in points:
            figure = next(figure for record in point.records for figure in record.figures if "fraction" in figure)
            unit = figure.get("unit", "")
            values, most = ([one_figure[key] for record in point.records for one_figure in record.figures
                             if one_figure["name"] == figure["name"] and key in one_figure] for key in ("value", "attainable"))
            rows.append([one.name, count_of(point), figure["name"].replace("_", " "), quantity(median(values), unit),
                         quantity(median(most), unit), interval(fraction)])
        told.append((one.name, [(point.workers, value) for point, value in points]))
    chart.lines = lines_of(told)
    chart.lines.append(level("attainable", 1.0, chart.lines))
    text = ("Attainable is what the machine could do at best by what the run itself has measured of it (reading, copying or matrix products on the "
            "same ranks), as in a roofline.")
    return tabulated("Fraction of attainable", text, Table(["series", "workers", "figure", "value", "attainable", "fraction"], rows, left=3), chart)
