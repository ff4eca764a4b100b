#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""soak.py: heat and cg run for a long time, write checkpoints often, and must neither grow nor fail.

Each has half of the time. Memory and open files of every rank are sampled once a second. Of four quarters of the samples the last must not
be above the second: by no more than 2 % and 1 MiB, and by no file.

Exit codes: 0 flat, 1 something grew or a run failed, 2 bad usage.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kontor_torture.mpirun import ENVIRONMENT, MPIEXEC
from kontor_torture.processes import marked

ROOT = Path(__file__).resolve().parent.parent
DECKS = {
    "heat": """\
app: heat
problem:
  cells: [1500, 1000]
  boundary: {{y_max: {{dirichlet: "sin(pi*x)"}}}}
solver: {{tolerance: 0, max_sweeps: 1000000000, check_every: 1000}}
checkpoint: {{seconds: {every}, walltime: "{seconds}", keep: 2}}
""",
    "cg": """\
app: cg
problem:
  kind: stencil
  stencil: {{points: [80, 80, 80], size: 7, exact: "x + 2*y - z"}}
solver: {{tolerance: 1e-10}}
measure: {{repeats: 1000}}
checkpoint: {{seconds: {every}, walltime: "{seconds}", keep: 2}}
""",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0], epilog=__doc__.rsplit("\n\n", maxsplit=1)[1])
    parser.add_argument("--minutes", type=float, default=60, metavar="N", help="of both together (default: 60)")
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="of each run (default: 2)")
    parser.add_argument("--every", type=float, default=5, metavar="S", help="seconds between checkpoints (default: 5)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER", help="of the programs (default: build)")
    arguments = parser.parse_args()
    good = True
    for app, deck in DECKS.items():
        if not (arguments.build / "bin" / app).exists():
            print(f"kontor: soak: {arguments.build / 'bin' / app} is missing; run 'kontor build' first", file=sys.stderr)
            return 2
        seconds = max(20, round(30 * arguments.minutes))
        with tempfile.TemporaryDirectory(prefix="kontor-soak-") as folder:
            good &= soak(app, deck.format(seconds=seconds, every=arguments.every), Path(folder), seconds, arguments)
    return 0 if good else 1


def soak(app, deck, folder, seconds, arguments):
    (folder / f"{app}.yaml").write_text(deck)
    program = arguments.build.resolve() / "bin" / app
    words = [MPIEXEC, "-n", str(arguments.ranks), str(program), f"{app}.yaml", "--quiet"]
    environment = {**os.environ, **ENVIRONMENT, "KONTOR_SOAK": str(folder)}
    with open(folder / "log", "w+", encoding="utf-8") as log, subprocess.Popen(words, cwd=folder, stdout=log, stderr=log, env=environment) as run:
        samples = []
        end = time.monotonic() + 2 * seconds + 120
        while run.poll() is None and time.monotonic() < end:
            samples += [(rank.pid, memory(rank.pid), files(rank.pid)) for rank in marked(f"KONTOR_SOAK={folder}") if rank.name == app]
            time.sleep(1)
        run.kill()
        run.wait()
        log.seek(0)
        said = log.read()
    checkpoints = len(list(folder.glob("*-checkpoint-*.h5")))
    good = run.returncode == 4 and checkpoints == 2  # the walltime is over
    print(f"{app}: {arguments.ranks} ranks, {seconds} s, exit code {run.returncode}, {checkpoints} checkpoints are there")
    if not good:
        print(said[-2000:])
    for pid in sorted({sample[0] for sample in samples}):
        good &= is_flat([sample for sample in samples if sample[0] == pid])
    return good


def is_flat(samples):
    """Whether the last quarter is as low as the second."""
    quarter = len(samples) // 4
    if quarter < 3:
        print(f"  process {samples[0][0]}: {len(samples)} samples are too few")
        return False
    sizes, opened = ([[sample[what] for sample in samples[n * quarter:(n + 1) * quarter]] for n in range(4)] for what in (1, 2))
    medians, usual = [statistics.median(part) for part in sizes], [statistics.median_high(part) for part in opened]
    flat = medians[3] <= 1.02 * medians[1] + 1024 and usual[3] <= usual[1]
    print(f"  process {samples[0][0]}: {len(samples)} samples, MiB by quarter: {', '.join(f'{median / 1024:.1f}' for median in medians)}; "
          f"open files: {', '.join(map(str, usual))}: {'flat' if flat else 'GROWS'}")
    return flat


def memory(pid):
    """KiB that are resident."""
    try:
        return next(int(line.split()[1]) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    except (OSError, StopIteration):
        return 0


def files(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
