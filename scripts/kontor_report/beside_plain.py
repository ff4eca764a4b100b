# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs beside those of the same deck by the textbook's kernel."""

from .deck import SECTIONS, settings

KERNELS = ("solver.kernel", "product.gemm")
SAME = ("ranks", "execution_space", "backend", "overlap")


def times_plain(group, speed):
    """A line for each run of which a plain twin is in the group: how many times as fast, by speed(record, baseline)."""
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
