# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables as a run of pingpong would write them, with made-up numbers."""

import h5py
import numpy as np

CURVE = [("curve", "S32"), ("series", "S32"), ("size", "i8"), ("elements", "i8"), ("bytes", "i8"), ("repetitions", "i8"),
         *((name, "f8") for name in ("mean", "standard_error", "median", "min", "pack", "post", "wait", "unpack")),
         ("messages", "i8")]
RATIO = [("curve", "S32"), ("series", "S32"), ("baseline", "S32"), ("size", "i8"), ("bytes", "i8"), ("ratio", "f8"),
         ("low", "f8"), ("high", "f8")]


def add_curves(path, curves=("1-D int", "1-D double"), sizes=(64, 1024, 16384)):
    """`view` takes 2 % longer than `raw`, but for 64 elements."""
    rows, ratios = [], []
    for curve in curves:
        for size in sizes:
            ratio = 1.0 if size == 64 else 1.02
            for series, seconds in (("raw", 1e-6 + 1e-10 * size), ("view", ratio * (1e-6 + 1e-10 * size))):
                times = (seconds, 0.01 * seconds, 0.99 * seconds, 0.9 * seconds)
                rows.append((curve, series, size, size, 8 * size, 101, *times, 0, 0, 0, 0, 2))
            ratios.append((curve, "view", "raw", size, 8 * size, ratio, ratio - 0.01, ratio + 0.01))
    _write(path, rows, ratios)


def add_split_curves(path):
    """The halo of two blocks: a tenth of the time packs, a fifth posts, half waits, a tenth unpacks."""
    rows = []
    for size in (64, 256):
        for place, series in enumerate(("raw nonblocking", "view persistent", "shm nonblocking")):
            seconds = (1 + place) * size * 1e-7  # median
            parts = (0.1 * seconds, 0.2 * seconds, 0.5 * seconds, 0.1 * seconds)
            rows.append(("halo 2-D", series, size, 4 * size, 32 * size, 50, 3 * seconds, 1e-8, seconds, seconds, *parts, 4))
    _write(path, rows, [])


def _write(path, rows, ratios):
    with h5py.File(path, "a") as file:
        file["run/curves"] = np.array(rows, dtype=CURVE)
        file["run/ratios"] = np.array(ratios, dtype=RATIO)
