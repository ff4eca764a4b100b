# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes an HDF5 file as a run of cg would, with made-up numbers."""

import h5py
import numpy as np
from sample_file import write_sample

DECK = """app: cg
problem:
  kind: {kind}
  fe_heat:
    elements: [50, 50, 50]
    assembly: {assembly}
  stencil:
    points: [{points}, 10, 10]
    exact: "1"
  initial: "0"
solver:
  method: {method}
  replace_every: 50
  preconditioner: {preconditioner}
  tolerance: {tolerance}
  max_iterations: {max_iterations}
comm:
  backend: auto
"""
SETTINGS = {"kind": "stencil", "assembly": "gather", "points": 10, "method": "classic", "preconditioner": "none", "tolerance": "1.0e-09",
            "max_iterations": 500}
FIGURES = ({"name": "flops", "value": 4e9, "unit": "flop/s"},
           {"name": "effective_bandwidth", "value": 24e9, "unit": "B/s", "attainable": 32e9, "fraction": 0.75})
# seconds of a rank in each region of a repeat of 2 s, but for the last three, which are not part of it
TIMERS = {"spmv": 1.0, "spmv_boundary": 0.1, "vectors": 0.2, "wait": 0.1, "sums_post": 0.1, "sums_wait": 0.3, "read": 4.0, "assembly": 5.0, "setup": 6.0}
ONCE = ("read", "assembly", "setup")


def write_solve(path, seconds=2.0, iterations=20, ending="converged", residual=1e-10, rows=1000, passed=1, run=(), words=None, matrix=(),
                **settings):
    """`settings` replace values of the deck, `run` attributes of /run, `matrix` add some of /run/matrix. Every second
    iteration divides the residual by 10."""
    attributes = {"app": "cg", "deck": DECK.format(**{**SETTINGS, **settings}), "ending": ending, "iterations": iterations,
                  "ending_in_words": words or ending, "residual": residual, "true_residual": 1.5e-10, **dict(run)}
    timers = {region: (21, time, time, time, 0) for region, time in TIMERS.items()}
    write_sample(path, figures=FIGURES if passed else (), passed=passed, field=False, timers=timers, once=ONCE, repeats=[seconds], **attributes)
    with h5py.File(path, "a") as file:
        group = file["run"]
        group["verification"].attrs["remark"] = f"{words or ending}; error 2e-10"
        group.create_group("matrix").attrs.update({"rows": rows, "nonzeros": 21952, "rows_per_rank_min": 480, "rows_per_rank_max": 520,
                                                   "ghosts": 150, "ghosts_min": 50, "ghosts_max": 100, "bytes": 300000, **dict(matrix)})
        group.create_group("solver").attrs.update({"replacements": 3, "drift": 1.25e-12, "chebyshev_degree": 4})
        group["history/iteration"] = np.arange(iterations + 1)
        group["history/residual"] = 10.0 ** (-0.5 * np.arange(iterations + 1))
    return path
