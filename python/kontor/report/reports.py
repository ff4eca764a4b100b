# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which sections a report has: of one run, of several beside each other, or of a study."""

from dataclasses import replace

from .colours import colours
from .compare import by_app, compare_app, speed
from .comparison_section import comparison_sections
from .curves import curve_charts
from .deck import labels
from .history import history_charts
from .limits_section import limits_sections
from .outcome_section import failure_section, provenance_section, summary_section
from .record import Record
from .report_parts import Bar, Chart, Section
from .scaling_section import scaling_sections
from .series import series_of
from .show import sections
from .solves import ending, is_solve
from .study import Study
from .text import percent, quantity, seconds
from .time_section import bar_parts, part_of, time_bars, time_sections


def study_sections(study: Study) -> list[Section]:
    series = series_of(study)
    return [summary_section(study, series), *scaling_sections(study, series), *comparison_sections(series), *time_sections(study, series),
            *limits_sections(study, series), failure_section(study), provenance_section(study)]


def run_title(records: list[Record]) -> str:
    if len(records) > 1:
        return f"{len(records)} runs of {', '.join(by_app(records))}"
    record, run = records[0], records[0].run
    title = f"{run.get('app', '?')}: {run.get('backend', '?')}, {run.get('ranks', '?')} ranks"
    if not is_solve(record):
        return title
    return f"{title}; {ending(record)}: {run.get('iterations', '?')} iterations, {seconds(record.seconds)}"


def run_sections(records: list[Record]) -> list[Section]:
    if len(records) > 1:
        return [_comparison(app, group) for app, group in by_app(records).items()]
    record = records[0]
    shown = sections(record)
    charts = [*_times(records), *curve_charts(record), *history_charts(records)]
    return [*shown[:1], *([Section("Plots", charts)] if charts else []), *shown[1:]]


def comparison_charts(records: list[Record]) -> list[Chart]:
    """Of runs of one app."""
    return [*_times(records), *_figures(records), *history_charts(records)]


def _comparison(app: str, group: list[Record]) -> Section:
    section = compare_app(app, group)
    section.parts += comparison_charts(group)
    return section


def _named(records: list[Record]) -> list[tuple[Record, str]]:
    """With the names of bars: file, and in what the run differs from the others."""
    return [(record, ": ".join(filter(None, (record.path, label)))) for record, label in zip(records, labels(records))]


def _speed(record: Record, records: list[Record]) -> list[str]:
    ratio = None if record is records[0] else speed(record, records[0])
    return [] if ratio is None else [f"{ratio:.2f} x"]


def _times(records: list[Record]) -> list[Chart]:
    bars = []
    for record, name in _named(records):
        if record.seconds and record.timers:
            parts = bar_parts([(region, record.seconds * part_of(record, region)) for region in record.parts], record.seconds)
            words = [seconds(record.seconds), *(_speed(record, records) if is_solve(record) else [])]
            bars.append(Bar(name, parts, ", ".join(words)))
    return [time_bars("Time of a repeat by region, means over ranks", bars)] if bars else []


def _figures(records: list[Record]) -> list[Chart]:
    figures = [(record, name) for record, name in _named(records) if record.figure]
    charts = []
    for which in dict.fromkeys(record.figure["name"] for record, _ in figures):
        shown = [(record, name) for record, name in figures if record.figure["name"] == which]
        unit = shown[0][0].figure.get("unit", "")
        bars = []
        for record, name in shown:
            words = [quantity(record.figure["value"], unit)]
            words += [f"{percent(record.fraction)} of attainable"] if record.fraction is not None else []
            words += [] if is_solve(record) else _speed(record, records)
            bars.append(Bar(name, [(str(record.run.get("backend", "?")), record.figure["value"])], ", ".join(words)))
        chosen = colours([bar.parts[0][0] for bar in bars])
        charts.append(Chart(which.replace("_", " ").capitalize(), which.replace("_", " "), bars=bars, colours=chosen, unit=unit))
    return charts


def run_charts(records: list[Record]) -> list[Chart]:
    """What a picture has of one run that has residuals or curves, or of several; else none."""
    if len(records) == 1:
        return history_charts(records) if is_solve(records[0]) and records[0].history else curve_charts(records[0])
    groups = by_app(records).items()
    return [replace(chart, title=f"{app}: {chart.title}") for app, group in groups for chart in comparison_charts(group)]
