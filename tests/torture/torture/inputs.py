# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs: batches of mutated decks, formulas, matrices, results, checkpoints and studies. Each is accepted or refused in words.

kontor-fuzz makes them all. It reads some kinds itself; torture/readers.py or whole programs read files of the others.
"""

import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

from .case import NO_RUN, Case, dice
from .check import Outcome
from .launch import BUILD, ROOT
from .reference import Reference

KIND = "input"
PROGRAM = BUILD / "tests/fuzz/kontor-fuzz"
SECONDS = 60  # that a whole program may take
What = dict[str, Any]
Found = Iterator[tuple[str, str]]  # the file of an input, and what happened
# Of each kind: how many of 100 inputs of a campaign, and inputs of a batch, which takes a second or a few.
KINDS = {
    "deck": (25, 1000), "override": (18, 1000), "formula": (10, 1000), "matrix": (18, 1000), "vector": (6, 1000),
    "result": (4, 100), "checkpoint": (2, 100), "header": (2, 100),
    "study": (8, 25), "machine": (4, 25), "report": (1, 25), "json": (1.7, 25),
    "program-deck": (0.15, 2), "program-matrix": (0.15, 2),
}
DECKS = {
    "heat": "app: heat\nproblem: {cells: [12, 8], boundary: {y_max: {dirichlet: \"sin(pi*x)\"}}}\nsolver: {max_sweeps: 20, tolerance: 0}\nverification: {tolerance: 10}\n",
    "cg": "app: cg\nproblem: {kind: stencil, stencil: {points: [4, 4, 3], size: 7, exact: x}}\n",
}
SOLVE = "app: cg\nproblem: {kind: matrix_market, matrix_market: {file: x}}\nsolver: {max_iterations: 50}\n"
MATRIX = "%%MatrixMarket matrix coordinate real symmetric\n% comment\n4 4 7\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n2 1 -1\n3 2 -1\n4 3 -1\n"


def cases(seed: int) -> Iterator[Case]:
    """Without end. Each batch has inputs of its own."""
    weights = [share / size for share, size in KINDS.values()]
    for number in itertools.count():
        kind = dice(seed, KIND, number).choices(list(KINDS), weights)[0]
        size = KINDS[kind][1]
        yield Case(number, KIND, NO_RUN, NO_RUN, {"of": kind, "seed": seed, "first": number * size, "inputs": size})


def make(case: Case, place: Path, _: Reference | None, __: dict[int, float]) -> Outcome:
    """Reads the batch. Inputs that are findings are left in the folder of the case."""
    kind = case.what["of"]
    read = whole_programs if kind.startswith("program-") else in_python if kind in ("study", "machine", "report", "json") else in_process
    outcome = Outcome(case)
    outcome.findings += [f"input: {file}: {happened}" for file, happened in read(case.what, place)]
    outcome.seen |= {"hit": True, "inputs": case.what["inputs"]}
    return outcome


def in_process(what: What, place: Path) -> Found:
    first, end, found = what["first"], what["first"] + what["inputs"], set()
    while first < end:
        done = fuzz(what, place, "--first", first, "--cases", end - first)
        if done.returncode == 0:
            return
        left = {path.name for path in place.glob(f"{what['of']}-{what['seed']}-*")} - found
        if not left:
            raise RuntimeError(f"kontor-fuzz does not work: {told(done)}")
        found |= left
        yield (name := left.pop()), told(done)
        first = int(name.rpartition("-")[2]) + 1


def in_python(what: What, place: Path) -> Found:
    todo = make_inputs(what, place)
    while todo:
        done = call([sys.executable, "-m", "torture.readers", what["of"], *todo], place, None, KONTOR_BUILD_DIR=str(BUILD.resolve()),
                    PYTHONPATH=f"{ROOT}/tests/torture:{ROOT}/python")
        begun = re.findall("^begin (.*)$", done.stdout, re.M)
        yield from ((Path(file).name, happened) for file, happened in re.findall("^finding (.*?): (.*)$", done.stdout, re.M))
        if done.returncode == 0:
            return
        if not begun:
            raise RuntimeError(f"the readers do not work: {done.stderr[-400:]}")
        yield Path(begun[-1]).name, told(done)
        todo = todo[len(begun):]


def whole_programs(what: What, place: Path) -> Found:
    (place / "solve").write_text(SOLVE)
    for file in make_inputs(what, place):
        app = re.search(rb"^app: *(heat|cg|matmul|pingpong|kernels|advection|dynamics)\b", file.read_bytes(), re.M)
        words = [BUILD / "bin" / (app[1].decode() if app else "heat"), file, "--print-deck"]
        if what["of"] == "program-matrix":
            words = [BUILD / "bin/cg", "solve", "--set", f"problem.matrix_market.file={file}", "--quiet", "-o", "out.h5"]
        done = call(words, place, SECONDS)
        if done.returncode not in (0, 1, 2, 3) or "Sanitizer" in done.stderr or "runtime error:" in done.stderr:
            yield file.name, told(done)


def make_inputs(what: What, place: Path) -> list[Path]:
    samples = samples_of(what["of"], place)
    suffix = samples[0].suffix
    words = [word for sample in samples for word in ("--sample", sample)] + ["--binary"] * (suffix == ".h5")
    done = fuzz(what, place, "--write", "--first", what["first"], "--cases", what["inputs"], *words)
    if done.returncode != 0:
        raise RuntimeError(f"kontor-fuzz does not work: {told(done)}")
    names = (f"{what['of']}-{what['seed']}-{number}" for number in range(what["first"], what["first"] + what["inputs"]))
    return [(place / name).rename(place / (name + suffix)) for name in names]


def samples_of(kind: str, place: Path) -> list[Path]:
    """Valid inputs."""
    if kind in ("study", "machine"):
        return sorted((ROOT / {"study": "inputs/studies", "machine": "lab/model/machines"}[kind]).glob("*.yaml"))
    if kind == "program-deck":
        return [path for path in sorted((ROOT / "inputs").glob("*/*.yaml")) if "\napp:" in path.read_text(encoding="utf-8")]
    if kind == "program-matrix":
        (place / "sample.mtx").write_text(MATRIX)
        return [place / "sample.mtx"]
    for app, deck in DECKS.items():
        (place / f"{app}.yaml").write_text(deck)
        done = call([BUILD / "bin" / app, f"{app}.yaml", "--quiet", "-o", f"{app}.h5", "--results", f"{app}.json"], place, SECONDS)
        if not (place / f"{app}.h5").exists():
            raise RuntimeError(f"a run for a sample has failed: {told(done)}")
    return [place / f"{app}.{'json' if kind == 'json' else 'h5'}" for app in DECKS]


def fuzz(what: What, place: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return call([PROGRAM.resolve(), what["of"], "--seed", what["seed"], "--folder", place, *words], place, None)


def call(words: list[object], folder: Path, seconds: float | None, **environment: str) -> subprocess.CompletedProcess[str]:
    """With sanitizers that leave leaks alone, which the tests look for, and refuse what asks for too much memory."""
    sanitizers = {"ASAN_OPTIONS": "detect_leaks=0:max_allocation_size_mb=1024:quarantine_size_mb=8", "UBSAN_OPTIONS": "print_stacktrace=1",
                  "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "KONTOR_PYTHON": sys.executable}
    try:
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, errors="replace", check=False, timeout=seconds, cwd=folder,
                              env={**os.environ, **sanitizers, **environment})
    except subprocess.TimeoutExpired as error:
        return subprocess.CompletedProcess(error.cmd, -signal.SIGALRM, "", "it takes too long")


def told(done: subprocess.CompletedProcess[str]) -> str:
    """How it ended, and what a sanitizer said, or the last line."""
    lines = [line for line in done.stderr.splitlines() if "ERROR: " in line or "runtime error:" in line or "kontor-fuzz:" in line]
    how = f"signal {signal.Signals(-done.returncode).name}" if done.returncode < 0 else f"exit code {done.returncode}"
    return f"{how}: {' '.join((lines or done.stderr.splitlines()[-1:])[:2])[:300]}"
