# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The history of a residual or a norm, as text."""

from .solves import is_solve
from .text import table

ROWS = 9  # evenly spaced, the last among them


def history_title(record):
    title = f"History of the {record.history['name']}"
    factor = mean_factor(record.history) if is_solve(record) else None
    return title + (f"  (each iteration multiplies it by {factor:.4f} on average)" if factor else "")


def history_table(record):
    iterations, values = record.history["iterations"], record.history["values"]
    last = len(values) - 1
    chosen = sorted({round(place * last / (ROWS - 1)) for place in range(ROWS)})
    return table([[str(iterations[place]), f"{values[place]:.3e}"] for place in chosen], [_step(record), record.history["name"]], left=0)


def _step(record):
    """What the app calls an iteration."""
    return next((word for word in ("sweep", "step") if f"{word}s" in record.run), "iteration")


def mean_factor(history):
    """The geometric mean over all iterations; None where it says nothing."""
    values, iterations = history["values"], history["iterations"]
    steps = iterations[-1] - iterations[0]
    if steps < 2 or not (values[0] > 0 and 0 < values[-1] < float("inf")):
        return None
    return (values[-1] / values[0]) ** (1 / steps)
