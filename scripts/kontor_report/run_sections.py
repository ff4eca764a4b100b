# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of one run, or of several beside each other, as sections for a page: what the text says, and charts."""

from .colours import OTHER, PALETTE, colours, part_colours
from .compare import by_app, compare_app
from .curves import by, is_split
from .deck import names_of
from .record import Record
from .report_parts import Bar, Chart, Line, Part, Section
from .show import sections
from .text import Text, percent, quantity, seconds
from .time_section import bar_parts, part_of

MOST_POINTS = 400  # of a history that is drawn


def run_title(records: list[Record]) -> str:
    if len(records) > 1:
        return f"{len(records)} runs of {', '.join(by_app(records))}"
    run = records[0].run
    return f"{run.get('app', '?')}: {run.get('backend', '?')}, {run.get('ranks', '?')} ranks"


def run_sections(records: list[Record]) -> list[Section]:
    if len(records) > 1:
        return [_comparison(app, group) for app, group in by_app(records).items()]
    record = records[0]
    shown = [Section(text.title, [_part(text.body)]) for text in sections(record)]
    charts = [*_times(records), *_curves(record), *_histories(records)]
    return [*shown[:1], *([Section("Plots", charts)] if charts else []), *shown[1:]]


def _comparison(app: str, group: list[Record]) -> Section:
    title, *parts = compare_app(app, group)
    _, _, note = title.partition("  ")
    return Section(app, [f"{note.strip('()')}.", *(_part(part) for part in parts if part), *_times(group), *_figures(group), *_histories(group)])


def _part(text: str) -> Part:
    """The table that a text was made of, else its words."""
    return text.table if isinstance(text, Text) and text.table else str(text).strip("\n")


def _times(records: list[Record]) -> list[Chart]:
    bars = []
    for record in records:
        if record.seconds and record.timers:
            parts = bar_parts([(name, record.seconds * part_of(record, name)) for name in record.parts], record.seconds)
            bars.append(Bar(record.path, parts, seconds(record.seconds)))
    names = list(dict.fromkeys(name for bar in bars for name, _ in bar.parts))
    return [Chart("Time of a repeat by region, means over ranks", "time", bars=bars, colours=part_colours(names), unit="s")] if bars else []


def _figures(records: list[Record]) -> list[Chart]:
    figures = [(record, record.figure) for record in records if record.figure]
    charts = []
    for name in dict.fromkeys(figure["name"] for _, figure in figures):
        shown = [(record, figure) for record, figure in figures if figure["name"] == name]
        unit = shown[0][1].get("unit", "")
        bars = [Bar(record.path, [(str(record.run.get("backend", "?")), figure["value"])],
                    quantity(figure["value"], unit) + (f", {percent(record.fraction)} of attainable" if record.fraction is not None else ""))
                for record, figure in shown]
        chosen = colours([bar.parts[0][0] for bar in bars])
        charts.append(Chart(name.replace("_", " ").capitalize(), name.replace("_", " "), bars=bars, colours=chosen, unit=unit))
    return charts


def _histories(records: list[Record]) -> list[Chart]:
    told = [record for record in records if record.history]
    chart = Chart("History", "iteration", " and ".join(dict.fromkeys(record.history["name"] for record in told)), log_y=True)
    for place, (record, name) in enumerate(zip(told, names_of(told) if told else [])):
        step = max(1, len(record.history["values"]) // MOST_POINTS)
        points = list(zip(record.history["iterations"], record.history["values"]))[::step]
        points = [(x, y) for x, y in points if y is not None and 0 < y < float("inf")]
        if points:
            words = [f"{name}, iteration {x}: {y:.3g}" for x, y in points]
            chart.lines.append(Line(name, PALETTE[place % len(PALETTE)], [x for x, _ in points], [y for _, y in points], words=words, small=True))
    return [chart] if chart.lines else []


def _curves(record: Record) -> list[Chart]:
    """Times over sizes: a chart for each curve, a line for each series."""
    chosen = colours(list(by("series", record.curves)))
    charts = []
    for name, rows in by("curve", record.curves).items():
        chart = Chart(name, "bytes", "median time" if is_split(rows) else "mean time", log_x=True, log_y=True, unit="s", x_unit="B")
        for series, points in by("series", rows).items():
            which = "median" if is_split(rows) else "mean"
            points = [row for row in points if row.get(which, 0) > 0 and row["bytes"] > 0]
            if points:
                words = [f"{series}, {quantity(row['bytes'], 'B')}: {seconds(row[which])}" for row in points]
                errors = [row.get("standard_error", 0) for row in points]
                values = [row[which] for row in points]
                dashed = chosen[series] in [line.colour for line in chart.lines]
                chart.lines.append(Line(series, chosen.get(series, OTHER), [row["bytes"] for row in points], values,
                                        [max(y - e, y / 10) if which == "mean" else None for y, e in zip(values, errors)],
                                        [y + e if which == "mean" else None for y, e in zip(values, errors)], words, dashed))
        charts.append(chart)
    return charts
