# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which sections a report has: of one run, of several, or of a study."""

from .colours import colours
from .compare import by_app, compare_app, speed
from .comparison_section import comparison_sections
from .deck import labels
from .history import history_charts
from .limits_section import limits_sections
from .outcome_section import failure_section, provenance_section, summary_section
from .record import Record
from .report_parts import Bar, Chart, Section
from .roofline import roofline_sections
from .scaling_section import scaling_sections
from .series import series_of
from .show import sections
from .solves import ending, is_solve
from .study import Study
from .text import percent, quantity, seconds
from .throughput import throughput_of_runs, throughput_of_study
from .time_section import run_bars, time_sections


def study_sections(study: Study) -> list[Section]:
    series = series_of(study)
    records = [point.records[0] for one in series for point in one.points]
    return [summary_section(study, series), *scaling_sections(study, series), *comparison_sections(series), *throughput_of_study(study),
            *time_sections(study, series), *roofline_sections(records), *limits_sections(study, series), failure_section(study),
            provenance_section(study)]


def run_title(records: list[Record]) -> str:
    if len(records) > 1:
        return f"{len(records)} runs of {', '.join(by_app(records))}"
    record, run = records[0], records[0].run
    title = f"{run.get('app', '?')}: {run.get('backend', '?')}, {run.get('ranks', '?')} ranks"
    if not is_solve(record):
        return title
    return f"{title}; {ending(record)}: {run.get('iterations', '?')} iterations, {seconds(record.seconds)}"


def run_sections(records: list[Record]) -> list[Section]:
    """Of one run, or of several those of each app."""
    if len(records) == 1:
        return sections(records[0])
    found = []
    for app, group in by_app(records).items():
        section = compare_app(app, group)
        section.parts += [*run_bars(group), *_figures(group), *history_charts(group)]
        found += [section, *throughput_of_runs(group), *roofline_sections(group)]
    return found


def _figures(records: list[Record]) -> list[Chart]:
    """A bar for each run that has a figure of merit, a chart for each figure."""
    named = [(record, ": ".join(filter(None, (record.path, label))), record.figure)
             for record, label in zip(records, labels(records)) if record.figure]
    charts = []
    for which in dict.fromkeys(figure["name"] for _, _, figure in named if figure):
        bars, unit = [], ""
        for record, name, figure in named:
            if figure and figure["name"] == which:
                unit = unit or figure.get("unit", "")
                words = [quantity(figure["value"], unit)]
                words += [f"{percent(record.fraction)} of attainable"] if record.fraction is not None else []
                ratio = None if is_solve(record) or record is records[0] else speed(record, records[0])
                words += [] if ratio is None else [f"{ratio:.2f} x"]
                bars.append(Bar(name, [(str(record.run.get("backend", "?")), figure["value"])], ", ".join(words)))
        chosen = colours(bar.parts[0][0] for bar in bars)
        charts.append(Chart(which.replace("_", " ").capitalize(), which.replace("_", " "), bars=bars, colours=chosen, unit=unit))
    return charts
