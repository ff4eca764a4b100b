# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a study: what came of it in a few sentences; how it scales; which series is faster; where the time goes
and what limits it; what did not run; and what was run where."""

from collections import Counter
from collections.abc import Callable

from .parts import OTHER, Chart, Line, Section, level, lines_of, paired, tabulated
from .rates import roofline
from .record import Row, regions_of
from .scaling import (BACKEND, DECK, Compared, Scaled, Series, compare, compared_by, count_of, series_of)
from .statistics import Estimate, median, median_of
from .study import INTERRUPTED, PASSED, Point, Study
from .text import counted, percent, quantity, seconds, spaced
from .views import time_bars

RUN_KEYS = ("git_revision", "version", "execution_space", "kokkos_version", "mpi_library", "compiler", "flags",
            "precision")
ENOUGH = 6  # measurements for an interval of a median of 95 %


def study_sections(study: Study) -> list[Section]:
    series = series_of(study)
    rows = [Scaled(one, point, study.about.get("kind") == "weak") for one in series for point in one.points]
    return [_summary(study, series, rows), *_points(series, rows), *_compared(series), *_rates(rows), *_time(series),
            *_pop(rows), *_not_counted(study), *_provenance(study)]


def _of_point(row: Scaled) -> Row:
    """The first columns of every table."""
    return {"series": row.series.name, "workers": count_of(row.point)}


def _summary(study: Study, series: list[Series], rows: list[Scaled]) -> Section:
    runs = [run for point in study.points for run in point.runs]
    states = Counter(run.state for run in runs if not run.problem)
    passed, interrupted = states[PASSED], states[INTERRUPTED]
    skipped = sum(bool(point.skipped) for point in study.points)
    words = [f"{counted(len(study.points), 'point')} of {study.app or 'an app'}, {counted(len(runs), 'run')}: "
             f"{passed} passed, {len(runs) - passed - interrupted} failed"
             + (f", {interrupted} interrupted" if interrupted else "")
             + (f"; {counted(skipped, 'point')} cannot run here." if skipped else ".")]
    words += [study.disturbed] if study.disturbed else []
    for last in {row.series: row for row in rows}.values():
        if last.growth > 1:
            limit = f" Its lowest factor: {last.lowest}." if last.lowest else ""
            words.append(f"{last.where} take {last.time.shown(seconds)}: a speed-up of {last.speedup}, an efficiency "
                         f"of {last.efficiency} relative to {last.series.base_name}.{limit}")
    for deck in dict.fromkeys(one.factors.get(DECK) for one in series):
        words += _fastest([one for one in series if one.factors.get(DECK) == deck])
    none = "No point has a record yet, so there is nothing to compare."
    return Section("Summary", [*words, "docs/reference/metrics.md defines these quantities." if series else none])


def _fastest(series: list[Series]) -> list[str]:
    """At the most workers that several series have."""
    counts = Counter(point.workers for one in series for point in one.points)
    most = max((workers for workers, count in counts.items() if count > 1), default=0)
    at = {one: point for one in series if (point := one.at(most))}
    if not at:
        return []
    one = min(at, key=lambda other: median(at[other].sample))
    rivals = [row.one.name for other in at if other is not one for row in compare(other, one)
              if row.its is at[one] and not row.difference.significant]
    tied = f", though not significantly faster than {', '.join(rivals)}" if rivals else ""
    return [f"On {count_of(at[one])} {one.name} is the fastest with {seconds(median(at[one].sample))}{tied}."]


def _points(series: list[Series], rows: list[Scaled]) -> list[Section]:
    """Times of all points, how they scale, and what disturbed them."""
    if not rows:
        return []
    scales = any(len(one.points) > 1 for one in series)
    cells = [{**_of_point(row), "workers": count_of(row.point) + " *" * (scales and row.point is row.series.base),
              "time": row.time.shown(seconds), "speed-up": row.speedup if scales else None,
              "efficiency": row.efficiency if scales else None,
              "runs": len(row.point.records), "noise p99": row.point.noise and f"{row.point.noise:.3g}",
              "shared cores": f"{row.point.sharing} runs" if row.point.sharing else None} for row in rows]
    fewest = min(len(row.point.sample) for row in rows)
    # No interval of a median is surer than that from the least to the greatest of n measurements: 1 - 2^(1 - n).
    few = (f" With {counted(fewest, 'measurement')} of a point no interval of a median is surer than "
           f"{100 * (1 - 2.0 ** (1 - fewest)):.0f} %." if fewest < ENOUGH else "")
    words = [f"In brackets: 95 % confidence intervals by bootstrap over the runs of a point.{few}",
             *(f"Warning: {row.warning}." for row in rows if row.warning)]
    problem = "The problem grows with the number of workers" if rows[0].weak else "The same problem on more workers"
    charts = _scaling_charts(series, rows) if scales else []
    return tabulated("Scaling" if scales else "Times", cells, *words, *charts,
                     note=f"{problem}; the baseline of each series is marked *." if scales else "")


def _scaling_charts(series: list[Series], rows: list[Scaled]) -> list[Chart]:
    def lines(what: Callable[[Scaled], Estimate]) -> list[Line]:
        return lines_of([(one.name, [(row.point.workers, what(row)) for row in rows if row.series is one])
                         for one in series])

    first, time = [row for row in rows if row.series is series[0]], median(series[0].base.sample)
    ideal = Line(f"ideal, from {series[0].base_name}", OTHER, [row.point.workers for row in first],
                 [time if row.weak else time / row.growth for row in first], dash=1, ideal=True)
    shares = lines(lambda row: row.efficiency)
    return [Chart("Time of a repeat", "workers", "time", [*lines(lambda row: row.time), ideal], log_x=True, log_y=True,
                  unit="s"),
            Chart("Efficiency", "workers", "efficiency", [*shares, level("ideal", 1.0, shares)], log_x=True,
                  from_zero=True)]


def _compared(series: list[Series]) -> list[Section]:
    keys = dict.fromkeys(key for one in series for key in one.factors if key != DECK)
    found = {key: compared_by(series, key) for key in sorted(keys, key=lambda key: key != BACKEND)}
    return [section for key, pairs in found.items() if pairs for section in _comparison(key, pairs)]


def _comparison(key: str, pairs: list[list[Compared]]) -> list[Section]:
    cells = [{"series": row.one.name, "relative to": row.other.name, "workers": row.point.workers,
              "time": median_of(row.point.sample).shown(seconds), "its time": median_of(row.its.sample).shown(seconds),
              "ratio": row.difference.ratio.shown("{:.3f}".format), "verdict": row.difference.verdict or None}
             for found in pairs for row in found]
    words = ["Ratio: the time of the series / the time of the one that it is relative to; below 1 the series is "
             "faster. A verdict takes an interval without 1, and a rank test below 5 %, which takes four runs of each."]
    value = pairs[0][0].other.factors[key]  # the picture has the ratios to one value of the factor, the first
    first = [found for found in pairs if found[0].other.factors[key] == value]
    name = first[0][0].other.name if len({found[0].other for found in first}) == 1 else str(value)
    lines = lines_of([(found[0].one.name, [(row.point.workers, row.difference.ratio) for row in found])
                      for found in first])
    chart = Chart(f"Time relative to {name}: below 1 is faster than {name}", "workers", f"time / time of {name}",
                  [*lines, level(f"as fast as {name}", 1.0, lines)], log_x=True, log_y=True)
    several = any(len(found) > 1 for found in first)
    return tabulated("Backends" if key == BACKEND else f"{key} compared", cells, *words, *([chart] if several else []))


def _rates(rows: list[Scaled]) -> list[Section]:
    """The figure of merit of each point, in one table, relative to what the machine could do."""
    rows = [row for row in rows if row.rate.value]
    return tabulated("Rates", [{
        **_of_point(row), "figure": spaced(row.rate.figure["name"]), "rate": row.rate.words,
        "attainable": quantity(row.rate.attainable, row.rate.unit),
        "fraction": row.rate.fraction and row.rate.fraction.shown(percent), "work per byte": row.rate.intensity_words}
        for row in rows], "Attainable is what the machine could do at best by the run's own calibration.",
        *roofline([row.rate for row in rows]))


def _time(series: list[Series]) -> list[Section]:
    """A picture for each series; of series of one point each all in one."""
    kinds = regions_of([record for one in series for point in one.points for record in point.records])
    alone, charts = all(len(one.points) == 1 for one in series), []
    for title, group in [("", series)] if alone else [(f": {one.name}", [one]) for one in series]:
        times = [(one.name if alone else count_of(point), point.records, median(point.sample))
                 for one in group for point in one.points]
        charts += time_bars(f"Time of a repeat by region{title}", [(*bar, seconds(bar[2])) for bar in times], kinds)
    text = "The parts of a bar are medians over ranks and runs; what is left is 'other'."
    return [Section("Where the time goes", [text, *charts])] if charts else []


def _pop(rows: list[Scaled]) -> list[Section]:
    words = ["Efficiencies by the useful time of the ranks, of which packing is a part. There are none where kernels "
             "run on a GPU: times of regions are those of launches."]
    cells = [{**_of_point(row), "load balance": pop.load_balance, "communication": pop.communication,
              "parallel": pop.parallel, "computation": pop.computation, "global": pop.overall,
              "packing": percent(pop.packing), "lowest factor": row.lowest} for row in rows if (pop := row.pop)]
    return tabulated("POP metrics", cells, *words) or [Section("POP metrics", words)] if rows else []


def _not_counted(study: Study) -> list[Section]:
    """What failed; and what was not run, which is no failure."""
    failed, missing = [], [{**_what(point), "why": point.skipped} for point in study.points if point.skipped]
    for point, run in ((point, run) for point in study.points for run in point.runs):
        again = f" after {run.attempts} attempts" if run.attempts > 1 else ""
        code = "" if run.exit_code is None or run.state == PASSED else f"exit code {run.exit_code}; "
        if run.state == INTERRUPTED:
            missing.append({**_what(point), "why": f"repeat {run.repeat} was interrupted; kontor study FOLDER --resume "
                                                   "makes it"})
        elif run.problem or run.state != PASSED or again:
            state = "not read" if run.problem else run.state + again
            failed.append({**_what(point), "repeat": run.repeat, "state": state,
                           "message": run.problem or f"{code}{run.message or run.log or '-'}"})
    return [*(tabulated("Failures", failed) or [Section("Failures", ["None."])]), *tabulated("Not run", missing)]


def _what(point: Point) -> Row:
    others = [f"{key.rpartition('.')[2]} {value}" for key, value in point.factors.items() if key != "ranks"]
    return {"point": point.id, "what": ", ".join([count_of(point), *others])}


def _provenance(study: Study) -> list[Section]:
    """Of the plan, of the machine, and of what runs say they ran on: several values are all told."""
    machine = study.about.get("machine")
    plan = {"app": study.app, **study.about, **(machine if isinstance(machine, dict) else {})}
    rows = {spaced(key): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            for key, value in plan.items() if value not in (None, "") and not isinstance(value, dict)}
    records = [record for point in study.points for record in point.records]
    for key in RUN_KEYS:
        values = dict.fromkeys(str(record.run[key]) for record in records if record.run.get(key))
        rows[f"{spaced(key)} of runs"] = " AND ".join(list(values)[:4])
    return paired("Provenance", rows.items())
