# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that iterate until a residual is small: what they solved, how it ended, and which are comparable."""

from .deck import other_problem, settings
from .record import Record
from .report_parts import Table
from .text import quantity, seconds

# The endings that can be compared; docs/reference/record.md has all.
SOLVED = ("converged", "guess_is_solution", "zero_right_hand_side")
ALL_MADE = ("iterations_made",)
ACCURACY = ("true_residual", "error", "relative_error")
# In this order; of each what a rank has at least and at most.
A_RANK = {"rows_per_rank": "rows a rank", "interior_rows": "interior rows a rank", "ghosts": "ghosts a rank",
          "neighbours": "neighbours a rank"}


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
    both_made_all = tolerance(record) == tolerance(baseline) == 0
    found = other_problem(record, baseline, ["solver.tolerance", *(["solver.max_iterations"] if both_made_all else [])])
    mine, other = ([side.matrix.get(key) for key in ("rows", "nonzeros")] for side in (record, baseline))
    if not found and mine != other:
        found = [f"the matrix has {mine[0]} rows and {mine[1]} nonzeros, not {other[0]} and {other[1]}"]
    checksum, its = (side.matrix.get("file_crc32") for side in (record, baseline))
    if not found and checksum != its:
        found = [f"the matrix's file has CRC-32 {checksum}, not {its}"]
    return found


def ending(record: Record) -> str:
    """In words."""
    return str(record.run.get("ending_in_words", record.run["ending"]))


def solve_speed(record: Record, baseline: Record) -> float | None:
    """How many times as fast as the baseline the same is solved; None where the two cannot be compared."""
    ended = {side.run["ending"] for side in (record, baseline)}
    if not (ended.issubset(SOLVED) or ended.issubset(ALL_MADE)) or not record.seconds or not baseline.seconds:
        return None
    if record.passed is False or baseline.passed is False or incomparable(record, baseline):
        return None
    return baseline.seconds / record.seconds


def matrix_table(record: Record) -> Table:
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


def solution_table(record: Record) -> Table:
    return Table([], [
        ["ending", ending(record)],
        ["iterations", str(record.run.get("iterations", "-"))],
        ["residual", residual(record)],
        *([key.replace("_", " "), _plain(record.run[key])] for key in ACCURACY if key in record.run),
        ["time to solution", seconds(time_to_solution(record))],
        ["time per iteration", seconds(time_per_iteration(record))],
        *([key.replace("_", " "), _plain(value)] for key, value in record.solver.items()),
    ], left=2)


def _plain(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def residual(record: Record) -> str:
    """The recurrence's, with what was asked for."""
    asked = tolerance(record)
    reached = f"{record.run['residual']:.3g}" if "residual" in record.run else "-"
    return f"{reached} (tolerance {asked:g})" if asked else reached
