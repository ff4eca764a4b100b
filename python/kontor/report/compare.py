# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several runs side by side: tables, bars, and lines on what they have in common and what not."""

from collections.abc import Callable, Sequence

from .deck import labels, names_of, other_problem, paths_of
from .parts import Bar, Chart, Part, Section, colours, member, tabulated
from .rates import Rate, over_size, roofline
from .record import DO_NOT_QUOTE, Record, regions_of
from .regions import time_bars
from .solves import SOLVED, ending, history_charts, incomparable, is_solve, residual, speed, time_to_solution
from .text import grouped, in_bytes, percent, quantity, seconds, spaced

TOLD = 3  # differences of two problems
Columns = dict[str, Callable[[Record], object]]


def comparison_sections(records: Sequence[Record]) -> list[Section]:
    """Of each app."""
    return [section for app, group in grouped(records, lambda record: record.app).items()
            for section in _compared(app, group)]


def _compared(app: str, group: list[Record]) -> list[Section]:
    baseline, solved = group[0], all(map(is_solve, group))
    label = {record.path: label or None for record, label in zip(group, labels(group))}
    columns: Columns = {"file": lambda record: record.path, "settings": lambda record: label[record.path]}
    if solved:
        columns |= {"time to solution": lambda record: seconds(time_to_solution(record)),
                    "iterations": lambda record: record.run.get("iterations")}
    columns |= {
        "ranks": lambda run: f"{run.run.get('ranks', '-')}" + f" x {run.threads} threads" * (run.threads > 1),
        "time": lambda run: seconds(run.seconds),
        "rate": lambda record: quantity((record.figure or {}).get("value"), (record.figure or {}).get("unit", "")),
        "of attainable": lambda record: percent(record.fraction),
        "communication": lambda record: percent(record.exchange_share),
        "noise p99": lambda record: f"{record.noise['p99']:.3g}" if "p99" in record.noise else None,
        "verified": lambda record: record.verdict,
        "speed": lambda record: None if (ratio := speed(record, baseline)) is None else f"{ratio:.3f}"}
    words: list[Part] = [f"Warning: {run.path}: {run.disturbed}: {DO_NOT_QUOTE}" for run in group if run.disturbed]
    words += [f"{run.path}: {ending(run)}, residual {residual(run)}" for run in group
              if solved and run.run["ending"] != SOLVED[0]]
    for record in group[1:]:
        if found := incomparable(record, baseline) if solved else other_problem(record, baseline):
            more = f"; and {len(found) - TOLD} more" if len(found) > TOLD else ""
            what = "not comparable with" if solved else "another problem than"
            words.append(f"{record.path}: {what} {baseline.path}: {'; '.join(found[:TOLD])}{more}")
    figures = ", ".join(sorted({spaced(record.figure["name"]) for record in group if record.figure})) or "none"
    rates = [Rate(name, [record]) for record, name in zip(group, names_of(group))]
    same = [", ".join([*(str(run.run[key]) for key in ("backend", "pattern") if key in run.run),
                       f"{run.run.get('ranks', '?')} ranks"]) for run in group]
    charts = [*run_bars(group), *_figure_bars(group), *history_charts(group), *roofline(rates),
              *over_size(list(zip(same, rates)))]
    return [*tabulated(app, group, columns, *words, *charts,
                       note=f"rate: {figures}; speed: relative to {baseline.path}, above 1 is faster"), *_bytes(app, group)]


def run_bars(records: Sequence[Record]) -> list[Chart]:
    """A bar for each run, named by its file and by what differs in it."""
    bars = []
    for record, path in zip(records, paths_of(records)):
        ratio = speed(record, records[0]) if is_solve(record) and record is not records[0] else None
        words = f"{seconds(record.seconds)}" + ("" if ratio is None else f", {ratio:.2f} x")
        bars.append((path, [record], record.seconds or 0.0, words))
    return time_bars("Time of a repeat by region, means over ranks", bars, regions_of(records))


def _bytes(app: str, group: list[Record]) -> list[Section]:
    """A table of what ranks send and hold, of apps that tell it."""
    told = {record.path: {**{key if "bound" in key else f"sent: {key}": value for key, value in record.volume.items()},
                          **{f"memory: {key}": value for key, value in record.memory.items()}} for record in group}
    keys = sorted(dict.fromkeys(key for values in told.values() for key, value in values.items() if value),
                  key=lambda key: key.startswith("memory: "))
    rows = [{"file": path, **values} for path, values in told.items()] if keys else []
    return tabulated(f"{app}: bytes of all ranks", rows,
                     {"file": member("file"), **{spaced(key): member(key, in_bytes) for key in keys}})


def _figure_bars(records: list[Record]) -> list[Chart]:
    """A bar for each run that has a figure of merit, a chart for each figure."""
    named = [(record, path, record.figure) for record, path in zip(records, paths_of(records)) if record.figure]
    charts = []
    for which, group in grouped(named, lambda run: str(run[2]["name"])).items():
        unit, bars = group[0][2].get("unit", ""), []
        for record, path, figure in group:
            words = [f"{quantity(figure['value'], unit)}"]
            words += [f"{percent(record.fraction)} of attainable"] if record.fraction is not None else []
            ratio = None if is_solve(record) or record is records[0] else speed(record, records[0])
            words += [] if ratio is None else [f"{ratio:.2f} x"]
            bars.append(Bar(path, [(str(record.run.get("backend", "?")), figure["value"])], ", ".join(words)))
        charts.append(Chart(spaced(which).capitalize(), spaced(which), bars=bars, unit=unit,
                            colours=colours(bar.parts[0][0] for bar in bars)))
    return charts
