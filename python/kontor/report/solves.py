# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that iterate until a residual is small: what they solved, how it ended, which are comparable, and histories."""

import math
from collections.abc import Sequence

from .colours import colours, dashes, level
from .deck import names_of, other_problem, section_of, settings
from .record import Record
from .report_parts import Chart, Line, Section, paired, tabulated
from .text import quantity, seconds, spaced

# The endings that can be compared; docs/reference/record.md has all.
SOLVED = ("converged", "guess_is_solution", "zero_right_hand_side")
ALL_MADE = ("iterations_made",)
ACCURACY = ("true_residual", "error", "relative_error")
# In this order; of each what a rank has at least and at most.
A_RANK = ("rows_per_rank", "interior_rows", "ghosts", "neighbours")
ROWS = 9  # of a history: evenly spaced, the last among them


def is_solve(record: Record) -> bool:
    return "ending" in record.run


def time_to_solution(record: Record) -> float | None:
    """Seconds of the median repeat; None if the residual did not become small."""
    return record.seconds if record.run["ending"] in SOLVED else None


def time_per_iteration(record: Record) -> float | None:
    iterations = record.run.get("iterations")
    return record.seconds / iterations if iterations and record.seconds else None


def tolerance(record: Record) -> float | None:
    """Of the deck; 0 if it asks for a number of iterations, None if it does not say."""
    try:
        return float(settings(record)["solver.tolerance"])
    except (KeyError, ValueError):
        return None


def incomparable(record: Record, baseline: Record) -> list[str]:
    """Why the two do not do the same work: texts."""
    limit = ["solver.max_iterations"] if tolerance(record) == tolerance(baseline) == 0 else []
    found = other_problem(record, baseline, ["solver.tolerance", *limit])
    rows, nonzeros, checksum = ([side.matrix.get(key) for side in (record, baseline)]
                                for key in ("rows", "nonzeros", "file_crc32"))
    if not found and len({*rows}) + len({*nonzeros}) > 2:
        found = [f"the matrix has {rows[0]} rows and {nonzeros[0]} nonzeros, not {rows[1]} and {nonzeros[1]}"]
    if not found and checksum[0] != checksum[1]:
        found = [f"the matrix's file has CRC-32 {checksum[0]}, not {checksum[1]}"]
    return found


def ending(record: Record) -> str:
    """In words."""
    return str(record.run.get("ending_in_words", record.run["ending"]))


def speed(record: Record, baseline: Record) -> float | None:
    """How many times the baseline's figure of merit, or as fast a solve; None where the two cannot be compared."""
    if is_solve(record) and is_solve(baseline):
        ended = {side.run["ending"] for side in (record, baseline)}
        if not (ended.issubset(SOLVED) or ended.issubset(ALL_MADE)) or not record.seconds or not baseline.seconds:
            return None
        if record.passed is False or baseline.passed is False or incomparable(record, baseline):
            return None
        return baseline.seconds / record.seconds
    mine, other = record.figure, baseline.figure
    if not mine or not other or mine["name"] != other["name"] or not other["value"]:
        return None
    return float(mine["value"] / other["value"])


def matrix_section(record: Record) -> list[Section]:
    matrix = dict(record.matrix)
    if not matrix:
        return []
    rows, nonzeros = matrix.pop("rows", None), matrix.pop("nonzeros", None)
    a_row = f" ({nonzeros / rows:.3g} a row)" if rows and nonzeros else ""
    lines = [("rows", _plain(rows)), ("nonzeros", f"{_plain(nonzeros)}{a_row}")]
    for key in A_RANK:
        least, most, total = (matrix.pop(key + end, None) for end in ("_min", "_max", ""))
        if least is not None and most is not None:
            in_all = f" ({_plain(total)} in all)" if total is not None else ""
            name = spaced(key.removesuffix("_per_rank"))
            lines.append((f"{name} a rank", f"{_plain(least)} to {_plain(most)}{in_all}"))
    for key, value in matrix.items():
        is_size = "bytes" in key and isinstance(value, (int, float))
        lines.append((spaced(key), quantity(value, "B") if is_size else _plain(value)))
    return paired("Matrix", lines)


def solution_section(record: Record) -> list[Section]:
    run = record.run
    return paired("Solution", [
        ("ending", ending(record)), ("iterations", run.get("iterations")), ("residual", residual(record)),
        *((spaced(key), _plain(run[key])) for key in ACCURACY if key in run),
        ("time to solution", seconds(time_to_solution(record))),
        ("time per iteration", seconds(time_per_iteration(record))),
        *((spaced(key), _plain(value)) for key, value in record.solver.items())]) if is_solve(record) else []


def _plain(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def residual(record: Record) -> str:
    """The recurrence's, with what was asked for."""
    asked = tolerance(record)
    reached = f"{record.run['residual']:.3g}" if "residual" in record.run else "-"
    return f"{reached} (tolerance {asked:g})" if asked else reached


def history_sections(record: Record) -> list[Section]:
    """Residuals or norms over iterations."""
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
