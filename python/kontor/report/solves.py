# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that iterate until a residual is small: as text, and side by side by time to solution."""

from .deck import labels, other_problem, settings
from .report_parts import Section, Table
from .text import percent, quantity, seconds, verdict

# The endings that can be compared; docs/reference/record.md has all.
SOLVED = ("converged", "guess_is_solution", "zero_right_hand_side")
ALL_MADE = ("iterations_made",)
HEADER = ["file", "settings", "time to solution", "iterations", "time/iteration", "rate", "of attainable", "communication",
          "verified", "speed"]
ACCURACY = ("true_residual", "error", "relative_error")
# In this order; of each what a rank has at least and at most.
A_RANK = {"rows_per_rank": "rows a rank", "interior_rows": "interior rows a rank", "ghosts": "ghosts a rank",
          "neighbours": "neighbours a rank"}


def is_solve(record):
    return "ending" in record.run


def time_to_solution(record):
    """Seconds of the median repeat; None if the residual did not become small."""
    return record.seconds if record.run["ending"] in SOLVED else None


def time_per_iteration(record):
    iterations = record.run.get("iterations")
    return record.seconds / iterations if iterations and record.seconds else None


def tolerance(record):
    """Of the deck; 0 if it asks for a number of iterations, None if it does not say."""
    try:
        return float(settings(record)["solver.tolerance"])
    except (KeyError, ValueError):
        return None


def incomparable(record, baseline):
    """Why the two do not do the same work: texts."""
    both_made_all = tolerance(record) == tolerance(baseline) == 0
    found = other_problem(record, baseline, ["solver.tolerance", *(["solver.max_iterations"] if both_made_all else [])])
    mine, other = ([side.matrix.get(key) for key in ("rows", "nonzeros")] for side in (record, baseline))
    if not found and mine != other:
        found = ["the matrix has {} rows and {} nonzeros, not {} and {}".format(*mine, *other)]
    mine, other = (side.matrix.get("file_crc32") for side in (record, baseline))
    if not found and mine != other:
        found = [f"the matrix's file has CRC-32 {mine}, not {other}"]
    return found


def ending(record):
    """In words."""
    return record.run.get("ending_in_words", record.run["ending"])


def speed(record, baseline):
    """How many times as fast as the baseline the same is solved; None where the two cannot be compared."""
    ended = {side.run["ending"] for side in (record, baseline)}
    if not (ended.issubset(SOLVED) or ended.issubset(ALL_MADE)) or not record.seconds or not baseline.seconds:
        return None
    if record.passed is False or baseline.passed is False or incomparable(record, baseline):
        return None
    return baseline.seconds / record.seconds


def compare_solves(app, group):
    """The table, and a line for each run that has not converged."""
    baseline = group[0]
    rows = [_row(record, label, speed(record, baseline)) for record, label in zip(group, labels(group))]
    names = sorted({record.figure["name"].replace("_", " ") for record in group if record.figure})
    note = (f"time to solution: seconds of the median repeat if it converged; rate: {', '.join(names) or 'none'}; "
            f"speed 1 is {baseline.path}")
    endings = [f"{record.path}: {ending(record)}, residual {_residual(record)}" for record in group if record.run["ending"] != SOLVED[0]]
    return Section(app, [Table(HEADER, rows, left=2), *endings], note)


def _row(record, label, ratio):
    figure = record.figure or {}
    return [record.path, label or "-", seconds(time_to_solution(record)), str(record.run.get("iterations", "-")),
            seconds(time_per_iteration(record)), quantity(figure.get("value"), figure.get("unit", "")),
            percent(record.fraction), percent(record.exchange_share), verdict(record.passed),
            "-" if ratio is None else f"{ratio:.3f}"]


def matrix_table(record):
    matrix = dict(record.matrix)
    rows, nonzeros = matrix.pop("rows", None), matrix.pop("nonzeros", None)
    lines = [["rows", _plain(rows)], ["nonzeros", _plain(nonzeros) + (f" ({nonzeros / rows:.3g} a row)" if rows and nonzeros else "")]]
    for key, name in A_RANK.items():
        least, most, total = (matrix.pop(key + end, None) for end in ("_min", "_max", ""))
        if least is not None and most is not None:
            lines.append([name, f"{_plain(least)} to {_plain(most)}" + (f" ({_plain(total)} in all)" if total is not None else "")])
    for key, value in matrix.items():
        number = "bytes" in key and isinstance(value, (int, float))
        lines.append([key.replace("_", " "), quantity(value, "B") if number else _plain(value)])
    return Table([], lines, left=2)


def solution_table(record):
    return Table([], [
        ["ending", ending(record)],
        ["iterations", str(record.run.get("iterations", "-"))],
        ["residual", _residual(record)],
        *([key.replace("_", " "), _plain(record.run[key])] for key in ACCURACY if key in record.run),
        ["time to solution", seconds(time_to_solution(record))],
        ["time per iteration", seconds(time_per_iteration(record))],
        *([key.replace("_", " "), _plain(value)] for key, value in record.solver.items()),
    ], left=2)


def _plain(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _residual(record):
    """The recurrence's, beside what was asked for."""
    asked = tolerance(record)
    reached = f"{record.run['residual']:.3g}" if "residual" in record.run else "-"
    return f"{reached} (tolerance {asked:g})" if asked else reached
