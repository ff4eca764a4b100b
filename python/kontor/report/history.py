# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Residuals and norms of runs over iterations and over time: as a table and as charts."""

import math
from collections.abc import Sequence

from .colours import colours, dashes, level
from .deck import names_of, section_of
from .record import Record
from .report_parts import Chart, Line, Section, tabulated
from .solves import is_solve, time_per_iteration, tolerance

ROWS = 9  # evenly spaced, the last among them


def history_sections(record: Record) -> list[Section]:
    if not record.history:
        return []
    iterations, values, name = (record.history[key] for key in ("iterations", "values", "name"))
    chosen = sorted({round(place * (len(values) - 1) / (ROWS - 1)) for place in range(ROWS)})
    rows = [[int(iterations[place]), f"{values[place]:.3e}"] for place in chosen]
    step = next((word for word in ("sweep", "step") if f"{word}s" in record.run), "iteration")  # as the app calls it
    steps, note = iterations[-1] - iterations[0], ""
    if is_solve(record) and steps >= 2 and values[0] > 0 and 0 < values[-1] < math.inf:
        note = f"each iteration multiplies it by {(values[-1] / values[0]) ** (1 / steps):.4f} on average"
    return tabulated(f"History of the {name}", [step, name], rows, *history_charts([record]), left=0, note=note)


def history_charts(records: Sequence[Record]) -> list[Chart]:
    """Over iterations; of several solves over time, too."""
    told = [record for record in records if record.history]
    solves = [record for record in told if is_solve(record)]
    what = " and ".join(dict.fromkeys(record.history["name"] for record in told))
    title = ", ".join(["History", *section_of(told[0], "solver")]) if len(told) == 1 else "History"
    charts = [Chart(title, "iteration", what, _lines(told, [1] * len(told)), log_y=True)]
    if len(told) > 1 and solves == told:
        lines = _lines(told, list(map(time_per_iteration, told)))
        over = "time, each iteration at the mean of all"
        charts.append(Chart("History over time", over, what, lines, log_y=True, x_unit="s"))
    for chart in filter(None, charts):
        limits = dict.fromkeys(limit for record in solves if (limit := tolerance(record)))
        chart.lines += [level(f"tolerance {limit:g}", limit, chart.lines) for limit in limits]
    return list(filter(None, charts))


def _lines(records: list[Record], scales: Sequence[float | None]) -> list[Line]:
    """A line for each run that has a scale, by which its iterations are multiplied. A backend has its colour; with one
    backend each run has a colour."""
    names, backends = names_of(records), [str(record.run.get("backend", "?")) for record in records]
    groups = backends if len(set(backends)) > 1 else names
    chosen = [colours(groups)[group] for group in groups]
    lines = []
    for record, name, scale, colour, dash in zip(records, names, scales, chosen, dashes(chosen)):
        points = [(x, y) for x, y in zip(record.history["iterations"], record.history["values"]) if 0 < y < math.inf]
        if points and scale:
            across = [x * scale for x, _ in points]
            lines.append(Line(name, colour, across, [y for _, y in points], dash=dash, small=True))
    return lines
