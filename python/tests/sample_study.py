# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a study's folder as `kontor study` would, with made-up numbers: heat on 1 to 8 ranks, by two backends."""

import itertools
import json

from sample_file import sample_record

RANKS = (1, 2, 4, 8)


def seconds(backend, ranks):
    """raw takes 0.1 s serial and 1.9 s parallel, and is the faster on few ranks; view has more to begin with."""
    return 0.1 + 1.9 / ranks if backend == "raw" else 0.06 + 2.1 / ranks


def record(backend, ranks, wall, work=1e9):
    """Rank r computes (1 - r/40) times as long as rank 0, which waits for a tenth of the time."""
    compute = [round(0.8 * wall * (1 - rank / 40), 9) for rank in range(ranks)]
    times = {"compute": compute, "pack": [0.05 * wall] * ranks, "wait": [0.95 * wall - value for value in compute]}
    figure = {"name": "cell_updates", "value": work / wall, "unit": "1/s", "attainable": 8 * work,
              "fraction": 0.125 / wall, "bytes_read": 2 * work, "bytes_written": 2 * work}
    return sample_record(
        (figure,), hosts=["n1"], ranks=ranks, backend=backend, repeats=[wall], noise={"quantum": 1e-4, "p99": 1.02},
        timers={region: (100, min(of), sorted(of)[ranks // 2], max(of), 0) for region, of in times.items()},
        per_rank={"useful": True, "regions": list(times), "seconds": [list(zip(*times.values()))],
                  "wall": [[wall] * ranks]}, calibration={"triad_bandwidth": ranks * 32e9})


def write_study(folder, kind="strong", backends=("raw", "view"), ranks=RANKS, repeats=5, change=None, **about):
    """Runs differ by 0.2 %, the middle one is exact. `change(point, repeat, record)` may alter a record; if it returns
    False, the run fails. Returns the folder."""
    (folder / "runs").mkdir(parents=True)
    points, runs = [], []
    for count, backend, more in (*((count, backend, {}) for backend in backends for count in ranks),
                                 (1024, backends[0], {"skipped": "needs 1024 cores; there are 2 here"})):
        points.append({"id": f"p{len(points):03d}", "ranks": count, "nodes": 1, "threads": 1, "gpus": 0, "set": {},
                       "factors": {"ranks": count, "comm.backend": backend}, "skipped": None, **more})
    for point, repeat in itertools.product((point for point in points if not point["skipped"]), range(1, repeats + 1)):
        backend, count = point["factors"]["comm.backend"], point["ranks"]
        wall = seconds(backend, count) * (count if kind == "weak" else 1) * (1 + 0.002 * (repeat - (repeats + 1) / 2))
        made = record(backend, count, wall, work=1e9 * (count if kind == "weak" else 1))
        passed = change is None or change(point, repeat, made) is not False
        name = f"runs/{point['id']}-r{repeat}"
        if passed:
            (folder / f"{name}.json").write_text(json.dumps(made))
        runs.append({"point": point["id"], "repeat": repeat, "attempt": 1, "state": "passed" if passed else "failed",
                     "exit_code": 0 if passed else 3, "message": "" if passed else "no memory | on rank 1",
                     "record": f"{name}.json", "result": f"{name}.h5", "log": f"{name}.log"})
    machine = {"hosts": ["n1"], "cpu": "a processor", "cores": 8, "memory_bytes": 8e9, "gpus": []}
    (folder / "study.json").write_text(json.dumps({
        "format": 1, "study": "sample", "kind": kind, "app": "heat", "deck": "inputs/heat/plate.yaml", "seed": 4711,
        "git_revision": "abc1234", "machine": machine, "points": points, "runs": runs, **about}))
    return folder
