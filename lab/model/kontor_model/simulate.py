# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A point run by SimGrid's SMPI on simulated ranks of the described machine, its kernels charged with described times."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from kontor.messages import Failure
from kontor.place import Place
from kontor.study.plan import Point
from kontor.study.study import Deck, flow

from .compare import seconds_of_step
from .machine import Machine
from .platform import hosts, options, platform
from .rates import kernel_times_text

LIMIT = 1800  # s


def simulate(machine: Machine, point: Point, deck: Deck, folder: Path, place: Place) -> float:
    """Returns simulated seconds of a step. The record goes to the folder, with what simulated it. Raises Failure."""
    program = programs(place) / point.app
    require(program)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{point.app}-{point.id}-{point.ranks}"
    files = {"platform": folder / f"{name}.xml", "hosts": folder / f"{name}.hosts", "kernel_times": folder / f"{name}.kernel-times"}
    files["platform"].write_text(platform(machine, machine.node_of(point.ranks - 1) + 1), encoding="utf-8")
    files["hosts"].write_text(hosts(machine, point.ranks), encoding="utf-8")
    files["kernel_times"].write_text(kernel_times_text(machine.rates), encoding="utf-8")
    record = folder / f"{name}.json"
    settings = {**point.set, "measure.repeats": 1, "measure.calibrate": False, "output.fields": "none"}
    words = ["smpirun", "-np", str(point.ranks), "-platform", str(files["platform"]), "-hostfile", str(files["hosts"]),
             *options(machine, kokkos_of(program)), str(program), str(deck.file),
             *(word for key, value in settings.items() for word in ("--set", f"{key}={flow(value)}")),
             "-o", str(folder / f"{name}.h5"), "--results", str(record), "--quiet"]
    print(f"kontor: simulating {point.words()}", file=sys.stderr)
    with open(folder / f"{name}.log", "w", encoding="utf-8") as log:
        try:
            done = subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, check=False, timeout=LIMIT,
                                  env={**os.environ, "KONTOR_KERNEL_TIMES": str(files["kernel_times"]), "KONTOR_START_SECONDS": "0"})
        except subprocess.TimeoutExpired as error:
            raise Failure(f"the simulation of {point.words()} has not ended in {LIMIT} s", 3) from error
    if done.returncode != 0:
        raise Failure(f"the simulation of {point.words()} failed with exit code {done.returncode}: {log.name} has its output", 3)
    return seconds_of_step(json.loads(record.read_text(encoding="utf-8")))


def programs(place: Place) -> Path:
    """Of the preset smpi."""
    return Path(os.environ.get("KONTOR_SMPI_BUILD", place.root / "build-smpi")) / "bin"


def require(program: Path) -> None:
    if not shutil.which("smpirun"):
        raise Failure("--simulate needs SimGrid (Debian: simgrid, libsimgrid-dev): smpirun is not on PATH")
    if not program.exists():
        raise Failure(f"{program} is not there; build it by KONTOR_PRESET=smpi scripts/kontor build")


def kokkos_of(program: Path) -> str:
    """Kokkos' library: its globals must be each rank's own."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return ";".join(re.findall(r"^\s*(lib\S*kokkoscore\S*)", listed, re.MULTILINE))
