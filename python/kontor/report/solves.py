# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that iterate until a residual is small: how they ended, which are comparable, and histories."""

import math
from collections.abc import Sequence

from .deck import names_of, other_problem, settings
from .parts import Chart, Section, level, lines_of, paired
from .record import Record
from .statistics import Estimate
from .text import seconds, spaced

# The endings that can be compared; docs/reference/record.md has all.
SOLVED = ("converged", "guess_is_solution", "zero_right_hand_side")
ALL_MADE = ("iterations_made",)


def is_solve(record: Record) -> bool:
    return "ending" in record.run


def time_to_solution(record: Record) -> float | None:
    """Seconds of the median repeat; None if the residual did not become small."""
    return record.seconds if record.run["ending"] in SOLVED else None


def tolerance(record: Record) -> float | None:
    """Of the deck; 0 if it asks for a number of iterations, None if it does not say."""
    try:
        return float(settings(record.deck)["solver.tolerance"])
    except (KeyError, ValueError):
        return None


def incomparable(record: Record, baseline: Record) -> list[str]:
    """Why the two do not do the same work: texts."""
    limit = ["solver.max_iterations"] if tolerance(record) == tolerance(baseline) == 0 else []
    found = other_problem(record, baseline, ["solver.tolerance", *limit])
    for key in ("rows", "nonzeros", "file_crc32") if not found else ():
        mine, other = (side.matrix.get(key) for side in (record, baseline))
        found += [f"{key} of the matrix: {mine}, not {other}"] if mine != other else []
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


def solution_section(record: Record) -> list[Section]:
    iterations = record.run.get("iterations")
    each = record.seconds / iterations if iterations and record.seconds else None
    return paired("Solution", [
        ("ending", ending(record)), ("iterations", iterations), ("residual", residual(record)),
        ("time to solution", seconds(time_to_solution(record))), ("time per iteration", seconds(each)),
        *((spaced(key), f"{value:.3g}" if isinstance(value, float) else value) for key, value in record.solver.items())
    ]) if is_solve(record) else []


def residual(record: Record) -> str:
    """The recurrence's, with what was asked for."""
    asked = tolerance(record)
    reached = f"{record.run['residual']:.3g}" if "residual" in record.run else "-"
    return f"{reached} (tolerance {asked:g})" if asked else reached


def _measure(record: Record) -> str:
    """What a history is of: residual or norm."""
    return next(key for key in record.history if key != "iteration")


def history_sections(record: Record) -> list[Section]:
    """Residuals or norms over iterations."""
    if not record.history:
        return []
    name = _measure(record)
    values, iterations = record.history[name], record.history["iteration"]
    steps = iterations[-1] - iterations[0]
    words = f"from {values[0]:.3e} to {values[-1]:.3e} in {steps} iterations"
    if steps and values[0] > 0 and 0 < values[-1] < math.inf:
        words += f": each multiplies it by {(values[-1] / values[0]) ** (1 / steps):.4f} on average"
    return [Section(f"History of the {name}", [words, *history_charts([record])])]


def history_charts(records: Sequence[Record]) -> list[Chart]:
    """Over iterations: a line for each run."""
    told = [record for record in records if record.history]
    points = [[(x, Estimate(y)) for x, y in zip(record.history["iteration"], record.history[_measure(record)],
                                                strict=True) if 0 < y < math.inf] for record in told]
    lines = lines_of(list(zip(names_of(told), points)))
    limits = dict.fromkeys(limit for record in told if is_solve(record) and (limit := tolerance(record)))
    lines += [level(f"tolerance {limit:g}", limit, lines) for limit in limits]
    what = " and ".join(dict.fromkeys(map(_measure, told)))
    return list(filter(None, [Chart(f"History of the {what}", "iteration", what, lines, log_y=True)]))
