# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When each rank computed and communicated, step by step: as text."""

from statistics import median

from .text import percent, seconds, table

ROWS = 9  # evenly spaced, the first and the last among them
HEADER = ["step", "compute", "transfer", "not hidden", "hidden"]


def compute_time(row):
    return row["compute_end"] - row["compute_begin"]


def transfer_time(row):
    return row["transfer_end"] - row["transfer_begin"]


def exposed_time(row):
    """Of a transfer, what no computing of the same rank and step covers."""
    begin, end = (pick(row[f"compute_{side}"], row[f"transfer_{side}"]) for pick, side in ((max, "begin"), (min, "end")))
    return transfer_time(row) - max(0.0, end - begin)


def steps_table(record):
    """Of each step, the slowest rank's times; what is hidden is a median over ranks."""
    by_step = {}
    for row in record.steps:
        by_step.setdefault(row["step"], []).append(row)
    numbers = sorted(by_step)
    chosen = sorted({round(place * (len(numbers) - 1) / (ROWS - 1)) for place in range(ROWS)})
    return table([_row(numbers[place], by_step[numbers[place]]) for place in chosen], HEADER)


def _row(step, rows):
    hidden = [1 - exposed_time(row) / transfer_time(row) for row in rows if transfer_time(row) > 0]
    times = [max(of(row) for row in rows) for of in (compute_time, transfer_time, exposed_time)]
    return [str(step), *(seconds(time) if time > 0 else "-" for time in times), percent(median(hidden)) if hidden else "-"]
