# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the record of a run of heat, of cg, and tables as of pingpong, with made-up numbers: as JSON, or, by h5py, as
an HDF5 file with a field."""

import itertools
import json

DECK = "app: heat\nproblem:\n  cells: [40, 30]\n"

RUN = {
    "app": "heat", "version": "0.1.0", "git_revision": "abc1234", "started": "2031-02-03T04:05:06Z",
    "command": "heat plate.yaml", "deck": DECK, "ranks": 2, "process_grid": "2 x 1", "precision": "double",
    "execution_space": "Serial", "kokkos_version": "3.4.1", "mpi_library": "Open MPI 4.1.4", "hdf5_version": "1.10.8",
    "compiler": "GNU 12.2.0", "flags": "-O3", "backend": "view", "pattern": "nonblocking", "packing": "kernel",
    "path": "direct", "overlap": 1,
}
KINDS = {**dict.fromkeys(("pack", "unpack"), "packing"), "setup": "other", "read": "io", "checkpoint": "io",
         **dict.fromkeys(("post", "wait", "sums_post", "sums_wait"), "communication")}
# region -> (calls, min, median, max, slowest rank)
TIMERS = {
    "total": (5, 1.9, 2.0, 2.1, 1),
    "compute": (500, 1.4, 1.5, 1.6, 1),
    "pack": (500, 0.1, 0.1, 0.1, 0),
    "post": (500, 0.05, 0.05, 0.05, 0),
    "wait": (500, 0.1, 0.2, 0.3, 0),
    "unpack": (500, 0.1, 0.1, 0.1, 0),
    "setup": (1, 0.01, 0.01, 0.01, 0),
}

UPDATES = {"name": "cell_updates", "value": 1.2e9, "unit": "updates/s"}
BANDWIDTH = {"name": "effective_bandwidth", "value": 19.2e9, "unit": "B/s", "attainable": 32e9, "fraction": 0.6}


def set_run(path, run):
    """The record of a file, or a text in its place."""
    text = run if isinstance(run, bytes) else json.dumps(run).encode()
    if path.suffix == ".json":
        path.write_bytes(text)
        return
    import h5py
    import numpy as np
    with h5py.File(path, "a") as file:
        if "run" in file:
            del file["run"]
        file["run"] = np.bytes_(text)


def change_run(path, change):
    """change(record) of a record that is JSON, in place."""
    run = json.loads(path.read_bytes())
    change(run)
    set_run(path, run)


def sample_record(figures=(UPDATES, BANDWIDTH), passed=True, timers=TIMERS, once=("setup",), **run):
    """`run` replaces members of the record; None leaves one out."""
    names = ("region", "calls", "min", "median", "max", "slowest_rank")
    record = {
        **RUN, "hosts": ["node1", "node1"], "repeats": [2.0, 2.1, 1.9],
        "figures_of_merit": {figure["name"]: figure for figure in figures},
        "verification": {"passed": passed, "measure": "max error", "error": 1e-6, "tolerance": 1e-5},
        "timers": [{**dict(zip(names, (region, *row))), "once": region in once, "kind": KINDS.get(region, "compute")}
                   for region, row in timers.items()],
        "traffic": [{"rank": rank, "neighbour": 1 - rank, "messages": 1, "bytes": 8000} for rank in (0, 1)],
        "calibration": {"read_bandwidth": 40e9, "copy_bandwidth": 30e9, "triad_bandwidth": 32e9,
                        "working_set_read_bandwidth": 90e9, "latency": 1e-6, "bandwidth": 9e9}, **run}
    return {key: value for key, value in record.items() if value is not None}


def write_sample(path, *figures, **differences):
    set_run(path, sample_record(*figures, **differences))


def add_field(path, shape=(30, 40)):
    """A field, and the mesh that it is of, in an HDF5 file."""
    import h5py
    import numpy as np
    with h5py.File(path, "a") as file:
        file["fields/temperature"] = np.linspace(0, 1, int(np.prod(shape))).reshape(shape)
        mesh = {"Origin": np.zeros(3), "Spacing": np.array([0.025, 1 / 30, 0.1])}
        file.create_group("VTKHDF").attrs.update(mesh)


def add_curves(path, split=False):
    """`view` takes 2 % longer than `raw`, but for 64 elements. `split`: the halo of two blocks, a tenth of whose time
    packs, a fifth posts, half waits, a tenth unpacks."""
    rows, ratios = [], []
    for size, (series, slow) in itertools.product((64, 256), (("null", 0.5), ("view", 2), ("shm", 1)) if split else ()):
        time = slow * size * 1e-7
        rows.append({"curve": "halo 2-D", "series": series, "size": size, "bytes": 32 * size, "mean": 3 * time,
                     "standard_error": 1e-8, "median": time, "pack": 0.1 * time, "post": 0.2 * time, "wait": 0.5 * time,
                     "unpack": 0.1 * time, "messages": 4})
    for size, ratio in ((64, 1.0), (1024, 1.02), (16384, 1.02)) if not split else ():
        common = {"curve": "1-D int", "size": size, "bytes": 8 * size}
        for series, factor in ("raw", 1), ("view", ratio):
            mean = factor * (1e-6 + 1e-10 * size)
            rows.append({**common, "series": series, "mean": mean, "standard_error": 0.01 * mean})
        ratios.append({**common, "series": "view", "baseline": "raw", "ratio": ratio, "low": ratio - 0.01,
                       "high": ratio + 0.01})
    change_run(path, lambda run: run.update(curves=rows, ratios=ratios))


SOLVE_DECK = """app: cg
problem:
  kind: {kind}
  fe_heat:
    elements: [50, 50, 50]
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
SETTINGS = {"kind": "stencil", "points": 10, "method": "classic", "preconditioner": "none", "tolerance": "1.0e-09",
            "max_iterations": 500}
SOLVE_FIGURES = ({"name": "flops", "value": 4e9, "unit": "flop/s"},
                 {"name": "effective_bandwidth", "value": 24e9, "unit": "B/s", "attainable": 32e9, "fraction": 0.75})
# seconds of a rank in each region of a repeat of 2 s, but for the last three, which are not part of it
SOLVE_TIMERS = {"spmv": 1.0, "spmv_boundary": 0.1, "vectors": 0.2, "wait": 0.1, "sums_post": 0.1, "sums_wait": 0.3,
                "read": 4.0, "assembly": 5.0, "setup": 6.0}


def write_solve(path, seconds=2.0, iterations=20, ending="converged", residual=1e-10, rows=1000, passed=True, run=(),
                words=None, matrix=(), **settings):
    """`settings` replace values of the deck, `run` members of the record, `matrix` some of its matrix. Every second
    iteration divides the residual by 10."""
    write_sample(path, SOLVE_FIGURES if passed else (), timers={
        region: (21, time, time, time, 0) for region, time in SOLVE_TIMERS.items()}, once=list(SOLVE_TIMERS)[-3:], **{
        "app": "cg", "deck": SOLVE_DECK.format(**{**SETTINGS, **settings}), "repeats": [seconds], "ending": ending,
        "iterations": iterations, "ending_in_words": words or ending, "residual": residual, "true_residual": 1.5e-10,
        "verification": {"passed": passed, "remark": f"{words or ending}; error 2e-10"},
        "matrix": {"rows": rows, "nonzeros": 21952, "rows_per_rank_min": 480, "ghosts": 150, "bytes": 300000,
                   **dict(matrix)},
        "solver": {"replacements": 3, "drift": 1.25e-12, "chebyshev_degree": 4},
        "history": {"iteration": list(range(iterations + 1)),
                    "residual": [10.0 ** (-0.5 * n) for n in range(iterations + 1)]}, **dict(run)})
    return path
