# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several runs side by side: a table, bars, and lines on what they have in common and what not."""

from collections.abc import Sequence

from .deck import labels, names_of, other_problem, paths_of
from .parts import Chart, Section, tabulated
from .rates import Rate, over_size, roofline
from .record import DO_NOT_QUOTE, Record, regions_of
from .regions import time_bars
from .solves import SOLVED, ending, history_charts, incomparable, is_solve, residual, speed, time_to_solution
from .text import grouped, percent, quantity, seconds, spaced

TOLD = 3  # differences of two problems


def comparison_sections(records: Sequence[Record]) -> list[Section]:
    """Of each app."""
    return [section for app, group in grouped(records, lambda record: record.app).items()
            for section in _compared(app, group)]


def _compared(app: str, group: list[Record]) -> list[Section]:
    baseline, solved, cells = group[0], all(map(is_solve, group)), []
    for record, label in zip(group, labels(group)):
        ratio, figure = speed(record, baseline), record.figure or {}
        cells.append({
            "file": record.path, "settings": label or None,
            **({"time to solution": seconds(time_to_solution(record)), "iterations": record.run.get("iterations")}
               if solved else {}),
            "ranks": f"{record.run.get('ranks', '-')}" + f" x {record.threads} threads" * (record.threads > 1),
            "time": seconds(record.seconds), "rate": quantity(figure.get("value"), figure.get("unit", "")),
            "of attainable": percent(record.fraction), "communication": percent(record.exchange_share),
            "noise p99": f"{record.noise['p99']:.3g}" if "p99" in record.noise else None, "verified": record.verdict,
            "speed": None if ratio is None else f"{ratio:.3f}"})
    words = [f"Warning: {run.path}: {run.disturbed}: {DO_NOT_QUOTE}" for run in group if run.disturbed]
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
    return tabulated(app, cells, *words, *run_bars(group), *history_charts(group), *roofline(rates),
                     *over_size(list(zip(same, rates))),
                     note=f"rate: {figures}; speed: relative to {baseline.path}, above 1 is faster")


def run_bars(records: Sequence[Record]) -> list[Chart]:
    """A bar for each run, named by its file and by what differs in it."""
    bars = [(path, [record], record.seconds or 0.0, seconds(record.seconds))
            for record, path in zip(records, paths_of(records))]
    return time_bars("Time of a repeat by region, means over ranks", bars, regions_of(records))
