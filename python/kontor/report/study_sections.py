# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a study: what came of it in a few sentences; how it scales; which series is faster; where the time goes
and what limits it; what did not run; and what was run where."""

from collections import Counter
from collections.abc import Callable
from functools import partial

from .parts import OTHER, Bar, Chart, Line, Part, Section, colours, level, lines_of, paired, tabulated
from .rates import over_size, roofline
from .record import regions_of
from .regions import time_bars
from .scaling import Scaled, relative, why_none
from .series import DECK, SIZES, Compared, Series, baseline_of, compare, compared_by, count_of, crossings, name_of, series_of
from .statistics import FEWEST_TO_COMPARE, Estimate, median, median_of
from .study import INTERRUPTED, PASSED, Point, Run, Study
from .text import counted, in_bytes, percent, quantity, seconds, spaced

RUN_KEYS = {"git_revision": "revision of the runs", "version": "Kontor", "execution_space": "execution space",
            "kokkos_version": "Kokkos", "mpi_library": "MPI", "compiler": "compiler", "flags": "flags",
            "precision": "precision"}
ENOUGH = 6  # measurements for an interval of a median of 95 %
BACKEND = "comm.backend"
Columns = dict[str, Callable[[Scaled], object]]
# Of each point: columns of every table.
POINT: Columns = {"series": lambda row: row.series.name, "workers": lambda row: count_of(row.point)}


def study_sections(study: Study) -> list[Section]:
    series = series_of(study)
    rows = [Scaled(one, point, study.kind == "weak") for one in series for point in one.points]
    return [_summary(study, series, rows), *_points(study, series, rows), *_compared(series), *_rates(rows),
            *_time(series), *_pop(rows), *_messages(rows), *_not_counted(study), *_provenance(study)]


def _summary(study: Study, series: list[Series], rows: list[Scaled]) -> Section:
    runs = [run for point in study.points for run in point.runs]
    interrupted, passed = (sum(run.state == state and not run.problem for run in runs) for state in (INTERRUPTED, PASSED))
    skipped = sum(bool(point.skipped) for point in study.points)
    told = [f"{passed} passed", f"{len(runs) - passed - interrupted} failed"]
    told += [f"{interrupted} interrupted"] if interrupted else []
    cannot = f"; {counted(skipped, 'point')} cannot run here" if skipped else ""
    words = [f"{counted(len(study.points), 'point')} of {study.app or 'an app'}, {counted(len(runs), 'run')}: "
             f"{', '.join(told)}{cannot}.", *filter(None, [study.disturbed])]
    words += [_scales(one, [row for row in rows if row.series is one][-1]) for one in series if len(one.points) > 1]
    for deck in dict.fromkeys(one.factors.get(DECK) for one in series):
        words += _fastest([one for one in series if one.factors.get(DECK) == deck])
    words += [text for found in compared_by(series, BACKEND) for text in crossings(found)]
    none = "No point has a record yet, so there is nothing to compare."
    return Section("Summary", [*words, "docs/reference/metrics.md defines the quantities of this report."
                               if series else none])


def _scales(one: Series, last: Scaled) -> str:
    limit = f" Its lowest factor: {last.lowest}." if last.lowest else ""
    if last.weak:
        return (f"{one.name}: on {count_of(last.point)} the grown problem takes {last.time.shown(seconds)}, an efficiency "
                f"of {last.efficiency} relative to {one.base_name}.{limit}")
    return (f"{one.name}: {count_of(last.point)} are {last.speedup} times as fast as {one.base_name}, an efficiency of "
            f"{last.efficiency}.{limit}")


def _fastest(series: list[Series]) -> list[str]:
    """At the most workers that several series have."""
    counts = Counter(point.workers for one in series for point in one.points)
    most = max((workers for workers, count in counts.items() if count > 1), default=0)
    at = {one: point for one in series if (point := one.at(most))}
    if not at:
        return []
    one = min(at, key=lambda other: median(at[other].sample))
    slower = [other for other in at for row in compare(other, one) if row.workers == most and row.difference.significant]
    rivals = [other for other in at if other is not one and other not in slower]
    tied = f", though not significantly faster than {', '.join(other.name for other in rivals)}" if rivals else ""
    if rivals and any(len(at[other].sample) < FEWEST_TO_COMPARE for other in (one, *rivals)):
        tied = f"; {FEWEST_TO_COMPARE} runs of each point would tell whether that is significant"
    return [f"On {count_of(at[one])} {one.name} is the fastest with {seconds(median(at[one].sample))}{tied}."]


def _points(study: Study, series: list[Series], rows: list[Scaled]) -> list[Section]:
    """Times of all points, and how they scale."""
    if not rows:
        return []
    baseline, weak = baseline_of(study, series), study.kind == "weak"
    scales = any(len(one.points) > 1 for one in series)
    columns: Columns = {**POINT, "workers": lambda row: count_of(row.point) + " *" * (scales and row.point is row.series.base),
                        "time": lambda row: row.time.shown(seconds)}
    if scales:
        columns |= {"speed-up": lambda row: row.speedup, "efficiency": lambda row: row.efficiency,
                    "efficiency by work": lambda row: row.by_work}
    if baseline:
        columns[f"time of {baseline.id} / time"] = partial(_relative, baseline)
    columns |= {"runs": lambda row: len(row.point.records),
                "noise p99": lambda row: f"{row.point.noise:.3g}" if row.point.noise else None,
                "shared cores": lambda row: f"{row.point.sharing} runs" if row.point.sharing else None}
    fewest = min(len(row.point.sample) for row in rows)
    # No interval of a median is surer than that from the least to the greatest of n measurements: 1 - 2^(1 - n).
    few = (f" With {counted(fewest, 'measurement')} of a point no interval of a median is surer than "
           f"{100 * (1 - 2.0 ** (1 - fewest)):.0f} %." if fewest < ENOUGH else "")
    growth = "The problem grows with the number of workers." if weak else "The same problem on more workers."
    words = f"In brackets: 95 % confidence intervals by bootstrap over the runs of a point.{few}"
    warnings = [f"Warning: {text}." for row in rows for text in row.warnings]
    charts = _scaling_charts(series, rows, weak) if scales else []
    note = f"{growth} The baseline of each series is marked *." if scales else ""
    return tabulated("Scaling" if scales else "Times", rows, columns, words, *warnings, *charts, note=note)


def _relative(baseline: Point, row: Scaled) -> Estimate:
    return relative(baseline, row.point)


def _scaling_charts(series: list[Series], rows: list[Scaled], weak: bool) -> list[Chart]:
    def lines(what: Callable[[Scaled], Estimate]) -> list[Line]:
        return lines_of([(one.name, [(row.point.workers, what(row)) for row in rows if row.series is one])
                         for one in series])

    first = [row for row in rows if row.series is series[0]]
    time = median(series[0].base.sample)
    ideal = Line(f"ideal, from {series[0].base_name}", OTHER, [row.point.workers for row in first],
                 [time if weak else time / row.growth for row in first], dash=1, ideal=True)
    shares = lines(lambda row: row.efficiency)
    return [Chart("Time of a repeat", "workers", "time", [*lines(lambda row: row.time), ideal], log_x=True, log_y=True,
                  unit="s"),
            Chart("Weak efficiency" if weak else "Efficiency", "workers", "efficiency",
                  [*shares, level("ideal", 1.0, shares)], log_x=True, from_zero=True)]


def _compared(series: list[Series]) -> list[Section]:
    keys = dict.fromkeys(key for one in series for key in one.factors if key != DECK)
    found = {key: compared_by(series, key) for key in sorted(keys, key=lambda key: key != BACKEND)}
    return [_comparison(key, pairs) for key, pairs in found.items() if pairs]


def _comparison(key: str, pairs: list[list[Compared]]) -> Section:
    what = key.rpartition(".")[2]
    columns: dict[str, Callable[[Compared], object]] = {
        "series": lambda row: row.one.name, "relative to": lambda row: row.other.name,
        "workers": lambda row: row.workers, "time": lambda row: median_of(row.times[0]).shown(seconds),
        "its time": lambda row: median_of(row.times[1]).shown(seconds),
        "ratio": lambda row: row.difference.ratio.shown("{:.3f}".format),
        "verdict": lambda row: row.difference.verdict or None}
    words: list[Part] = ["Ratio: the time of the series / the time of the one that it is relative to; below 1 the series "
                         "is faster. A verdict takes an interval without 1, and a rank test below 5 %, which takes four "
                         "runs of each."]
    words += [text for found in pairs for text in crossings(found)]
    names = dict.fromkeys(row.other.name for found in pairs for row in found)
    first = [found for found in pairs if found[0].other.factors[key] == pairs[0][0].other.factors[key]]
    if any(len(found) > 1 for found in first):
        lines = lines_of([(found[0].one.name, [(row.workers, row.difference.ratio) for row in found]) for found in first])
        name = next(iter(names)) if len({found[0].other for found in first}) == 1 else f"the same with {what} of the first"
        words.append(Chart(f"Time relative to {name}: below 1 is faster than {name}", "workers", f"time / time of {name}",
                           [*lines, level(f"as fast as {name}", 1.0, lines)], log_x=True, log_y=True))
    else:
        times = {one.name: median_of(one.base.sample) for found in pairs for one in (found[0].other, found[0].one)}
        bars = [Bar(name, [(name, time.value)], time.shown(seconds)) for name, time in times.items()]
        words.append(Chart("Time of a repeat", "time", bars=bars, unit="s", colours=colours(times)))
    return tabulated("Backends" if key == BACKEND else f"{key} compared", [row for found in pairs for row in found],
                     columns, *words)[0]


def _rates(rows: list[Scaled]) -> list[Section]:
    """The figure of merit of each point, in one table, relative to what the machine could do."""
    rows = [row for row in rows if row.rate.value]
    named = []
    for row in rows:
        others = {key: value for key, value in row.point.factors.items() if key not in SIZES and not _is_size(key, value)}
        named.append((f"{name_of(others, row.point)}, {count_of(row.point)}", row.rate))
    return tabulated("Rates", rows, {
        **POINT, "figure": lambda row: spaced(row.rate.figure["name"]),
        "rate": lambda row: row.rate.value and row.rate.value.shown(lambda value: quantity(value, row.rate.unit)),
        "attainable": lambda row: quantity(row.rate.attainable, row.rate.unit),
        "fraction": lambda row: row.rate.fraction and row.rate.fraction.shown(percent),
        "work per byte": lambda row: row.rate.intensity and f"{row.rate.intensity:.3g}"},
        "Attainable is what the machine could do at best by the run's own calibration.",
        *roofline([row.rate for row in rows]), *over_size(named))


def _is_size(key: str, value: object) -> bool:
    return key.startswith("problem.") and not isinstance(value, str)


def _time(series: list[Series]) -> list[Section]:
    kinds = regions_of([record for one in series for point in one.points for record in point.records])
    charts = []
    for one in series:
        times = [(point, median(point.sample)) for point in one.points]
        charts += time_bars(f"Time of a repeat by region: {one.name}",
                            [(count_of(point), point.records, time, seconds(time)) for point, time in times], kinds)
    text = "The parts of a bar are means over ranks in a typical repeat; what is left is 'other'."
    return [Section("Where the time goes", [text, *charts])] if charts else []


def _pop(rows: list[Scaled]) -> list[Section]:
    if not rows:
        return []
    none = [f"{row.where}: {why_none(row.point.records[0]) or 'no time was measured'}" for row in rows if not row.pop]
    words = ["Efficiencies by the useful time of the ranks, of which packing is a part."]
    if none:
        more = "; ..." if len(none) > 4 else ""
        words.append(f"Not given for {counted(len(none), 'point')}: {'; '.join(none[:4])}{more}.")

    def of_pop(name: str) -> Callable[[Scaled], object]:
        return lambda row: getattr(row.pop, name)

    return tabulated("POP metrics", [row for row in rows if row.pop], {
        **POINT, "load balance": of_pop("load_balance"), "communication": of_pop("communication"),
        "parallel": of_pop("parallel"), "computation": of_pop("computation"), "global": of_pop("overall"),
        "packing": lambda row: percent(row.pop.packing if row.pop else None), "lowest factor": lambda row: row.lowest},
        *words) or [Section("POP metrics", words)]


def _messages(rows: list[Scaled]) -> list[Section]:
    return tabulated("Messages and volume", [row for row in rows if row.point.records[0].traffic], {
        **POINT, "messages": lambda row: row.totals[0], "bytes": lambda row: in_bytes(row.totals[1]),
        "between nodes": lambda row: in_bytes(row.totals[2])}, note="What all ranks send in one step, exactly, by the record.")


def _not_counted(study: Study) -> list[Section]:
    """What failed; and what was not run, which is no failure."""
    runs = [(point, run) for point in study.points for run in point.runs]
    failed = [(point, run) for point, run in runs if run.state != INTERRUPTED
              and (run.problem or run.state != PASSED or run.attempts > 1)]

    def state(run: Run) -> str:
        again = f" after {run.attempts} attempts" if run.attempts > 1 else ""
        return "not read" if run.problem else run.state + again

    def message(run: Run) -> str:
        code = "" if run.exit_code is None or run.state == PASSED else f"exit code {run.exit_code}; "
        return run.problem or f"{code}{run.message or run.log or '-'}"

    problems = [f"{problem[0].upper()}{problem[1:]}." for problem in study.problems]
    failures = tabulated("Failures", failed, {
        "point": lambda pair: pair[0].id, "what": lambda pair: _describe(pair[0]), "repeat": lambda pair: pair[1].repeat,
        "state": lambda pair: state(pair[1]), "message": lambda pair: message(pair[1])}, *problems)
    missing = [(point, point.skipped) for point in study.points if point.skipped]
    missing += [(point, f"repeat {run.repeat} was interrupted; kontor study FOLDER --resume makes it")
                for point, run in runs if run.state == INTERRUPTED]
    return [*(failures or [Section("Failures", problems or ["None."])]),
            *tabulated("Not run", missing, {"point": lambda pair: pair[0].id, "what": lambda pair: _describe(pair[0]),
                                            "why": lambda pair: pair[1]})]


def _describe(point: Point) -> str:
    others = [f"{key.rpartition('.')[2]} {value}" for key, value in point.factors.items() if key != "ranks"]
    return ", ".join([count_of(point), *others])


def _provenance(study: Study) -> list[Section]:
    about, machine = study.about, study.about.get("machine")
    machine = machine if isinstance(machine, dict) else {}
    hosts, gpus = (machine[key] if isinstance(machine.get(key), list) else [] for key in ("hosts", "gpus"))
    cores, memory = f", {machine['cores']} cores" if machine.get("cores") else "", machine.get("memory_bytes")
    rows = {
        "study": f"{study.name} ({study.kind}) of {study.app or '?'}",
        "deck": about.get("deck"), "created": about.get("created"), "revision": about.get("git_revision"),
        "seed of the order": about.get("seed"),
        "hosts": ", ".join(map(str, hosts[:4])) + (f" ... ({len(hosts)})" if len(hosts) > 4 else ""),
        "processor": f"{machine.get('cpu', '')}{cores}".strip(", "),
        "memory": quantity(memory, "B") if isinstance(memory, (int, float)) else "",
        "GPUs": ", ".join(str(gpu.get("name", gpu) if isinstance(gpu, dict) else gpu) for gpu in gpus),
        "oversubscribed": ", ".join(point.id for point in study.points if point.oversubscribed),
    }
    records = [record for point in study.points for record in point.records]
    for key, name in RUN_KEYS.items():  # what runs say they ran on; several values are all told: they should not be
        values = dict.fromkeys(str(record.run[key]) for record in records if record.run.get(key))
        rows[name] = " AND ".join(list(values)[:4])
    return paired("Provenance", rows.items())
