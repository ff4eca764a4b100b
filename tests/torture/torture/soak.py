# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long runs: heat and cg write checkpoints often, and neither memory nor open files of a rank may grow.

Both are sampled once a second. Of four quarters of the samples the last must not be above the second: by no more than 2 % and
1 MiB, and by no file.
"""

import contextlib
import os
import statistics
import time
from pathlib import Path
from typing import Iterator

from .after import Outcome
from .case import NO_RUN, Case, Run
from .launch import Started
from .reference import Reference

KIND = "soak"
DECKS = {
    "heat": """\
app: heat
problem:
  cells: [1500, 1000]
  boundary: {y_max: {dirichlet: "sin(pi*x)"}}
solver: {tolerance: 0, max_sweeps: 1000000000, check_every: 1000}
""",
    "cg": """\
app: cg
problem:
  kind: stencil
  stencil: {points: [80, 80, 80], size: 7, exact: "x + 2*y - z"}
solver: {tolerance: 1e-10}
measure: {repeats: 1000}
""",
}


def cases(minutes: float) -> Iterator[Case]:
    """Each has half of the time."""
    seconds = max(20, round(30 * minutes))
    keys = ("checkpoint.seconds=5", f"checkpoint.walltime={seconds}", "checkpoint.keep=2")
    for number, app in enumerate(DECKS):
        yield Case(number, KIND, Run(app, 2, keys), NO_RUN, {"of": app, "seconds": seconds})


def make(case: Case, place: Path, _: Reference | None, __: dict[int, float]) -> Outcome:
    folder, app, outcome = place / "run", case.run.app, Outcome(case)
    folder.mkdir()
    (folder / "deck.yaml").write_text(DECKS[app])
    started = Started(case.run, folder, ["--quiet"])
    samples: dict[int, list[tuple[int, int]]] = {}  # of each rank's process: KiB of memory, open files
    end = time.monotonic() + 2 * case.what["seconds"] + 120
    while started.process.poll() is None and time.monotonic() < end:
        for rank in started.processes():
            with contextlib.suppress(OSError, StopIteration):  # it has just ended
                if rank.name == app:
                    samples.setdefault(rank.pid, []).append((memory(rank.pid), len(os.listdir(f"/proc/{rank.pid}/fd"))))
        time.sleep(1)
    result = started.finish(1)
    outcome.end(started, result, time.monotonic())
    outcome.seen["hit"] = bool(samples)
    checkpoints = len(list(folder.glob("*-checkpoint-*.h5")))
    if (result.code, checkpoints) != (4, 2):  # the walltime is over
        outcome.findings.append(f"soak: exit code {result.code}, {checkpoints} checkpoints are there: {result.err.strip()[-300:]}")
    for pid, of_rank in samples.items():
        check_flat(pid, of_rank, outcome)
    return outcome


def check_flat(pid: int, samples: list[tuple[int, int]], outcome: Outcome) -> None:
    quarter = len(samples) // 4
    if quarter < 3:
        outcome.findings.append(f"soak: {len(samples)} samples of process {pid} are too few")
        return
    parts = [list(zip(*samples[n * quarter:(n + 1) * quarter])) for n in range(4)]
    sizes, opened = [statistics.median(part[0]) for part in parts], [statistics.median_high(part[1]) for part in parts]
    outcome.seen[f"process {pid}"] = told = f"KiB by quarter: {sizes}; open files: {opened}"
    if sizes[3] > 1.02 * sizes[1] + 1024 or opened[3] > opened[1]:
        outcome.findings.append(f"grows: {told}")


def memory(pid: int) -> int:
    """KiB that are resident."""
    return next(int(line.split()[1]) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
