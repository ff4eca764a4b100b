# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several runs side by side: tables, bars, and lines on what they have in common and what not."""

from collections.abc import Callable, Sequence

from .colours import colours
from .deck import labels, other_problem, paths_of
from .rates import roofline_sections, throughput_of_runs
from .record import Record
from .report_parts import Bar, Chart, Part, Section, Table
from .solves import (SOLVED, ending, history_charts, incomparable, is_solve, residual, speed, time_per_iteration,
                     time_to_solution)
from .text import grouped, on_off, percent, quantity, seconds, spaced, text
from .time_section import run_bars

TOLD = 3  # differences of two problems
Columns = dict[str, Callable[[Record], object]]


def by_app(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records grouped by app, in the order given."""
    return grouped(records, lambda record: record.app)


def compare(records: Sequence[Record]) -> str:
    return "\n".join(text(_compared(app, group)) for app, group in by_app(records).items())


def comparison_sections(records: Sequence[Record]) -> list[Section]:
    found = []
    for app, group in by_app(records).items():
        section = _compared(app, group)
        section.parts = [*section.parts, *run_bars(group), *_figures(group), *history_charts(group)]
        found += [section, *throughput_of_runs(group), *roofline_sections(group)]
    return found


def _compared(app: str, group: list[Record]) -> Section:
    """Runs of one app."""
    baseline, solved = group[0], all(map(is_solve, group))
    names = ", ".join(sorted({spaced(record.figure["name"]) for record in group if record.figure})) or "none"
    words, numbers = _solve_columns(group) if solved else _columns()
    columns: Columns = {
        **words, **numbers, "of attainable": lambda record: percent(record.fraction),
        "communication": lambda record: percent(record.exchange_share),
        "verified": lambda record: record.verdict,
        "speed": lambda record: None if (ratio := speed(record, baseline)) is None else f"{ratio:.3f}"}
    parts: list[Part] = [Table([*columns], [[cell(run) for cell in columns.values()] for run in group], len(words))]
    parts += [f"{run.path}: {ending(run)}, residual {residual(run)}" for run in group
              if solved and run.run["ending"] != SOLVED[0]]
    parts += [] if solved else _bytes(group)
    for record in group[1:]:
        if found := incomparable(record, baseline) if solved else other_problem(record, baseline):
            more = f"; and {len(found) - TOLD} more" if len(found) > TOLD else ""
            what = "not comparable with" if solved else "another problem than"
            parts.append(f"{record.path}: {what} {baseline.path}: {'; '.join(found[:TOLD])}{more}")
    note = "time to solution: seconds of the median repeat if it converged; rate" if solved else "figure of merit"
    return Section(app, parts, f"{note}: {names}; speed 1 is {baseline.path}")


def _columns() -> tuple[Columns, Columns]:
    """Of words and of numbers, by header."""
    def said(key: str) -> Columns:
        return {key: lambda record: record.run.get(key)}

    return ({"file": lambda record: record.path, **said("app"), **said("backend"), **said("packing")},
            {"ranks": lambda run: f"{run.run.get('ranks', '-')}" + f" x {run.threads} threads" * (run.threads > 1),
             "overlap": lambda record: on_off(record.run.get("overlap")), "time": lambda run: seconds(run.seconds),
             "figure of merit": _rate})


def _solve_columns(group: list[Record]) -> tuple[Columns, Columns]:
    label = {record.path: label or "-" for record, label in zip(group, labels(group))}
    return ({"file": lambda record: record.path, "settings": lambda record: label[record.path]},
            {"time to solution": lambda record: seconds(time_to_solution(record)),
             "iterations": lambda record: record.run.get("iterations"),
             "time/iteration": lambda record: seconds(time_per_iteration(record)), "rate": _rate})


def _rate(record: Record) -> str:
    figure = record.figure or {}
    return quantity(figure.get("value"), figure.get("unit", ""))


def _bytes(group: list[Record]) -> list[Part]:
    """A table of what ranks send and hold, of apps that tell it."""
    told = [{**{key if "bound" in key else f"sent: {key}": value for key, value in record.volume.items()},
             **{f"memory: {key}": value for key, value in record.memory.items()}} for record in group]
    columns = sorted(dict.fromkeys(key for values in told for key, value in values.items() if value),
                     key=lambda key: key.startswith("memory: "))
    rows = [[record.path, *(quantity(values.get(key), "B") for key in columns)] for record, values in zip(group, told)]
    return ["", Table(["file", *map(spaced, columns)], rows)] if columns else []


def _figures(records: list[Record]) -> list[Chart]:
    """A bar for each run that has a figure of merit, a chart for each figure."""
    named = [(record, path, record.figure) for record, path in zip(records, paths_of(records)) if record.figure]
    charts = []
    for which, group in grouped(named, lambda run: str(run[2]["name"])).items():
        unit, bars = group[0][2].get("unit", ""), []
        for record, path, figure in group:
            words = [quantity(figure["value"], unit)]
            words += [f"{percent(record.fraction)} of attainable"] if record.fraction is not None else []
            ratio = None if is_solve(record) or record is records[0] else speed(record, records[0])
            words += [] if ratio is None else [f"{ratio:.2f} x"]
            bars.append(Bar(path, [(str(record.run.get("backend", "?")), figure["value"])], ", ".join(words)))
        charts.append(Chart(spaced(which).capitalize(), spaced(which), bars=bars, unit=unit,
                            colours=colours(bar.parts[0][0] for bar in bars)))
    return charts
