# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several runs side by side."""

from . import solves
from .deck import SECTIONS, other_problem, settings
from .report_parts import Section, Table
from .text import grouped, on_off, percent, quantity, seconds, text, verdict

HEADER = ["file", "app", "backend", "packing", "ranks", "overlap", "time", "figure of merit", "of attainable",
          "communication", "verified", "speed"]
TOLD = 3  # differences of two problems
KERNELS = ("solver.kernel", "product.gemm")
SAME = ("ranks", "execution_space", "backend", "overlap")


def by_app(records):
    """The records grouped by app, in the order given."""
    return grouped(records, lambda record: record.run.get("app", "?"))


def speed(record, baseline):
    """How many times the baseline's figure of merit, or as fast a solve; None where the two cannot be compared."""
    if solves.is_solve(record) and solves.is_solve(baseline):
        return solves.speed(record, baseline)
    mine, other = record.figure, baseline.figure
    if not mine or not other or mine["name"] != other["name"] or not other["value"]:
        return None
    return mine["value"] / other["value"]


def compare(records):
    return "\n".join(text(compare_app(app, group)) for app, group in by_app(records).items())


def compare_app(app, group):
    """Runs of one app: tables, and lines on what they have in common and what not."""
    if all(map(solves.is_solve, group)):
        found = solves.compare_solves(app, group)
        found.parts += [*_times_plain(group), *_notes(group, solves.incomparable, "not comparable with")]
        return found
    baseline = group[0]
    names = sorted({record.figure["name"].replace("_", " ") for record in group if record.figure})
    note = f"figure of merit: {', '.join(names) or 'none'}; speed 1 is {baseline.path}"
    algorithms = [settings(record).get("product.algorithm") for record in group]
    header, rows = HEADER, [_row(record, baseline) for record in group]
    if any(algorithms):
        header = [*HEADER[:2], "algorithm", *HEADER[2:]]
        rows = [[*row[:2], algorithm or "-", *row[2:]] for row, algorithm in zip(rows, algorithms)]
    left = 5 if any(algorithms) else 4
    notes = [*_times_plain(group), *_notes(group, other_problem, "another problem than")]
    return Section(app, [Table(header, rows, left=left), *_bytes(group), *notes], note)


def _bytes(group):
    """A table of what ranks send and hold, of apps that tell it."""
    told = [{**{key if "bound" in key else f"sent: {key}": value for key, value in record.volume.items()},
             **{f"memory: {key}": value for key, value in record.memory.items()}} for record in group]
    columns = [key for key in dict.fromkeys(key for values in told for key in values) if any(values.get(key) for values in told)]
    columns.sort(key=lambda key: key.startswith("memory: "))
    rows = [[record.path, *(quantity(values.get(key), "B") for key in columns)] for record, values in zip(group, told)]
    return ["", Table(["file", *(key.replace("_", " ") for key in columns)], rows)] if columns else []


def _times_plain(group):
    """A line for each run of which a twin by the textbook's kernel is in the group: how many times as fast."""
    plain = {_but_for_the_kernel(record): record for record in reversed(group) if _is_plain(record)}
    lines = []
    for record in group:
        twin = None if _is_plain(record) else plain.get(_but_for_the_kernel(record))
        ratio = twin and speed(record, twin)
        if ratio is not None:
            lines.append(f"{record.path}: {ratio:.3g} times plain ({twin.path})")
    return lines


def _is_plain(record):
    return any(settings(record).get(key) == "plain" for key in KERNELS)


def _but_for_the_kernel(record):
    values = settings(record)
    return (*(record.run.get(key) for key in SAME), record.threads,
            *sorted((key, value) for key, value in values.items() if key.startswith(SECTIONS) and key not in KERNELS))


def _notes(group, differences, what):
    """A line for each run that does not do what the first one does."""
    lines = []
    for record in group[1:]:
        if found := differences(record, group[0]):
            more = f"; and {len(found) - TOLD} more" if len(found) > TOLD else ""
            lines.append(f"{record.path}: {what} {group[0].path}: {'; '.join(found[:TOLD])}{more}")
    return lines


def _row(record, baseline):
    run, figure = record.run, record.figure or {}
    ratio = speed(record, baseline)
    return [
        record.path,
        run.get("app", "?"),
        run.get("backend", "-"),
        run.get("packing", "-"),
        f"{run.get('ranks', '-')}" + (f" x {record.threads} threads" if record.threads > 1 else ""),
        on_off(run.get("overlap")),
        seconds(record.seconds),
        quantity(figure.get("value"), figure.get("unit", "")),
        percent(record.fraction),
        percent(record.exchange_share),
        verdict(record.passed),
        "-" if ratio is None else f"{ratio:.3f}",
    ]
