# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several runs side by side."""

from .record import COMMUNICATION
from .text import on_off, percent, quantity, seconds, table, verdict

HEADER = ["file", "app", "backend", "packing", "ranks", "overlap", "time", "figure of merit", "of attainable",
          "communication", "verified", "speed"]


def by_app(records):
    """The records grouped by app, in the order given."""
    groups = {}
    for record in records:
        groups.setdefault(record.run.get("app", "?"), []).append(record)
    return groups


def speed(record, baseline):
    """How many times the baseline's figure of merit; None where the two cannot be compared."""
    mine, other = record.figure, baseline.figure
    if not mine or not other or mine["name"] != other["name"] or not other["value"]:
        return None
    return mine["value"] / other["value"]


def compare(records):
    parts = []
    for app, group in by_app(records).items():
        baseline = group[0]
        names = sorted({record.figure["name"].replace("_", " ") for record in group if record.figure})
        note = f"figure of merit: {', '.join(names) or 'none'}; speed 1 is {baseline.path}"
        parts.append(f"{app}  ({note})\n{table([_row(record, baseline) for record in group], HEADER, left=4)}\n")
    return "\n".join(parts)


def _row(record, baseline):
    run, figure = record.run, record.figure or {}
    ratio = speed(record, baseline)
    return [
        record.path,
        run.get("app", "?"),
        run.get("backend", "-"),
        run.get("packing", "-"),
        str(run.get("ranks", "-")),
        on_off(run.get("overlap")),
        seconds(record.seconds),
        quantity(figure.get("value"), figure.get("unit", "")),
        percent(record.fraction),
        percent(record.share(*COMMUNICATION)),
        verdict(record.passed),
        "-" if ratio is None else f"{ratio:.3f}",
    ]
