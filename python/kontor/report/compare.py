# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several runs side by side: tables, and lines on what they have in common and what not."""

from collections.abc import Callable, Sequence

from .deck import labels, other_problem, settings
from .record import Record
from .report_parts import Part, Section, Table
from .solves import SOLVED, ending, incomparable, is_solve, residual, solve_speed, time_per_iteration, time_to_solution
from .text import grouped, on_off, percent, quantity, seconds, text, verdict

TOLD = 3  # differences of two problems
Columns = dict[str, Callable[[Record], str]]
Unlike = Callable[[Record, Record], list[str]]


def by_app(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records grouped by app, in the order given."""
    return grouped(records, lambda record: str(record.run.get("app", "?")))


def speed(record: Record, baseline: Record) -> float | None:
    """How many times the baseline's figure of merit, or as fast a solve; None where the two cannot be compared."""
    if is_solve(record) and is_solve(baseline):
        return solve_speed(record, baseline)
    mine, other = record.figure, baseline.figure
    if not mine or not other or mine["name"] != other["name"] or not other["value"]:
        return None
    return float(mine["value"] / other["value"])


def compare(records: Sequence[Record]) -> str:
    return "\n".join(text(compare_app(app, group)) for app, group in by_app(records).items())


def compare_app(app: str, group: list[Record]) -> Section:
    """Runs of one app."""
    baseline, solved = group[0], all(map(is_solve, group))
    names = ", ".join(sorted({record.figure["name"].replace("_", " ") for record in group if record.figure})) or "none"
    words, numbers = _solve_columns(group) if solved else _columns(group)
    columns = {**words, **numbers, **_last_columns(baseline)}
    parts: list[Part] = [Table(list(columns), [[cell(record) for cell in columns.values()] for record in group], left=len(words))]
    if solved:
        note = f"time to solution: seconds of the median repeat if it converged; rate: {names}; speed 1 is {baseline.path}"
        parts += [f"{record.path}: {ending(record)}, residual {residual(record)}" for record in group if record.run["ending"] != SOLVED[0]]
    else:
        note = f"figure of merit: {names}; speed 1 is {baseline.path}"
        parts += _bytes(group)
    what = "not comparable with" if solved else "another problem than"
    return Section(app, [*parts, *_notes(group, incomparable if solved else _other_problem, what)], note)


def _columns(group: list[Record]) -> tuple[Columns, Columns]:
    """Of words and of numbers, by header."""
    def said(key: str) -> Callable[[Record], str]:
        return lambda record: str(record.run.get(key, "-"))

    algorithm: Columns = {"algorithm": lambda record: settings(record).get("product.algorithm", "-")}
    has_algorithm = any("product.algorithm" in settings(record) for record in group)
    return ({"file": lambda record: record.path, "app": said("app"), **(algorithm if has_algorithm else {}), "backend": said("backend"),
             "packing": said("packing")},
            {"ranks": lambda record: said("ranks")(record) + (f" x {record.threads} threads" if record.threads > 1 else ""),
             "overlap": lambda record: on_off(record.run.get("overlap")), "time": lambda record: seconds(record.seconds),
             "figure of merit": _rate})


def _solve_columns(group: list[Record]) -> tuple[Columns, Columns]:
    label = {record.path: label or "-" for record, label in zip(group, labels(group))}
    return ({"file": lambda record: record.path, "settings": lambda record: label[record.path]},
            {"time to solution": lambda record: seconds(time_to_solution(record)),
             "iterations": lambda record: str(record.run.get("iterations", "-")),
             "time/iteration": lambda record: seconds(time_per_iteration(record)), "rate": _rate})


def _last_columns(baseline: Record) -> Columns:
    def ratio(record: Record) -> str:
        value = speed(record, baseline)
        return "-" if value is None else f"{value:.3f}"

    return {"of attainable": lambda record: percent(record.fraction), "communication": lambda record: percent(record.exchange_share),
            "verified": lambda record: verdict(record.passed), "speed": ratio}


def _rate(record: Record) -> str:
    figure = record.figure or {}
    return quantity(figure.get("value"), figure.get("unit", ""))


def _bytes(group: list[Record]) -> list[Part]:
    """A table of what ranks send and hold, of apps that tell it."""
    told = [{**{key if "bound" in key else f"sent: {key}": value for key, value in record.volume.items()},
             **{f"memory: {key}": value for key, value in record.memory.items()}} for record in group]
    columns = [key for key in dict.fromkeys(key for values in told for key in values) if any(values.get(key) for values in told)]
    columns.sort(key=lambda key: key.startswith("memory: "))
    rows = [[record.path, *(quantity(values.get(key), "B") for key in columns)] for record, values in zip(group, told)]
    return ["", Table(["file", *(key.replace("_", " ") for key in columns)], rows)] if columns else []


def _other_problem(record: Record, baseline: Record) -> list[str]:
    return other_problem(record, baseline)


def _notes(group: list[Record], differences: Unlike, what: str) -> list[str]:
    """A line for each run that does not do what the first one does."""
    lines = []
    for record in group[1:]:
        if found := differences(record, group[0]):
            more = f"; and {len(found) - TOLD} more" if len(found) > TOLD else ""
            lines.append(f"{record.path}: {what} {group[0].path}: {'; '.join(found[:TOLD])}{more}")
    return lines
