# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches of mutated inputs: in one process where that can be, as files for the Python commands, and as files for whole programs.

A batch is made again from its kind, the seed, and the number of its first input. What is found is left in a folder, named by these.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, NamedTuple

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 60  # that a whole program may take
IN_PROCESS = ("deck", "override", "formula", "matrix", "vector", "result", "checkpoint", "header")
IN_PYTHON = ("study", "machine", "report", "json")
PROGRAMS = ("program-deck", "program-matrix", "program-result")
KINDS = (*IN_PROCESS, *IN_PYTHON, *PROGRAMS)
# Of 100: how many of a campaign's inputs.
SHARES = {"deck": 25, "override": 18, "formula": 10, "matrix": 18, "vector": 6, "result": 4, "checkpoint": 2, "header": 2, "study": 8, "machine": 4, "report": 1,
          "json": 1.7, "program-deck": 0.15, "program-matrix": 0.1, "program-result": 0.05}


class Finding(NamedTuple):
    file: Path  # the input
    what: str


@dataclass
class Batch:
    kind: str
    seed: int
    first: int
    cases: int
    read: int = 0  # inputs so far
    findings: list[Finding] = field(default_factory=list)


def run_batch(batch: Batch, build: Path, keep: Path) -> None:
    """Reads the batch's inputs. Those that are findings are left in `keep`, which must exist."""
    with tempfile.TemporaryDirectory(prefix="kontor-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        folder = Path(name)
        if batch.kind in IN_PROCESS:
            in_process(batch, build, folder)
        elif batch.kind in IN_PYTHON:
            in_python(batch, build, folder)
        else:
            whole_programs(batch, build, folder)
        for number, finding in enumerate(batch.findings):
            kept = keep / finding.file.name
            shutil.copyfile(finding.file, kept)
            batch.findings[number] = Finding(kept, finding.what)


def in_process(batch: Batch, build: Path, folder: Path) -> None:
    end = batch.first + batch.cases
    while (first := batch.first + batch.read) < end:
        done = call([program(build), batch.kind, "--seed", batch.seed, "--first", first, "--cases", end - first, "--folder", folder],
                    folder, None)
        left = [path for path in folder.glob(f"{batch.kind}-{batch.seed}-*") if path.suffix == "" and path not in {f.file for f in batch.findings}]
        if done.returncode == 0:
            batch.read = batch.cases
        elif left:
            number = int(left[0].name.rsplit("-", 1)[1])
            batch.findings.append(Finding(left[0], f"{told(done.returncode)}: {essence(done.stderr)}"))
            batch.read = number + 1 - batch.first
        else:
            raise RuntimeError(f"kontor-fuzz does not work: {told(done.returncode)}: {done.stderr[-400:]}")


def in_python(batch: Batch, build: Path, folder: Path) -> None:
    todo = [str(path) for path in make_inputs(batch, build, folder)]
    while todo:
        done = call([sys.executable, "-m", "fuzzing.readers", batch.kind, *todo], folder,
                    None, KONTOR_BUILD_DIR=str(build), PYTHONPATH=f"{ROOT}/tests/torture:{ROOT}/python")
        begun = re.findall("^begin (.*)$", done.stdout, re.M)
        batch.findings += [Finding(Path(file), what) for file, what in re.findall("^finding (.*?): (.*)$", done.stdout, re.M)]
        if done.returncode == 0:
            break
        if not begun:
            raise RuntimeError(f"the readers do not work: {done.stderr[-400:]}")
        batch.findings.append(Finding(Path(begun[-1]), f"{told(done.returncode)}: {essence(done.stderr)}"))
        todo = todo[len(begun):]
    batch.read = batch.cases


def whole_programs(batch: Batch, build: Path, folder: Path) -> None:
    command: Callable[[Path], list[object]] = {
        "program-deck": lambda file: [build / "bin" / app_of(file), file, "--print-deck"],
        "program-matrix": lambda file: [build / "bin/cg", matrix_deck(folder), "--set", f"problem.matrix_market.file={file}", "--quiet",
                                        "-o", folder / "out.h5"],
        "program-result": lambda file: [ROOT / "scripts/kontor", "report", file],
    }[batch.kind]
    for file in make_inputs(batch, build, folder):
        batch.read += 1
        done = call(command(file), folder, SECONDS)
        if done.returncode not in (0, 1, 2, 3) or "Sanitizer" in done.stderr or "runtime error:" in done.stderr:
            batch.findings.append(Finding(file, f"{told(done.returncode)}: {essence(done.stderr)}"))


def make_inputs(batch: Batch, build: Path, folder: Path) -> list[Path]:
    """By the one mutator that there is."""
    samples, binary, suffix = samples_of(batch.kind, build, folder)
    words = [word for sample in samples for word in ("--sample", sample)]
    done = call([program(build), batch.kind, "--write", *["--binary"] * binary, "--seed", batch.seed, "--first", batch.first,
                 "--cases", batch.cases, "--folder", folder, *words], folder, None)
    if done.returncode != 0:
        raise RuntimeError(f"kontor-fuzz does not work: {done.stderr[-400:]}")
    files = []
    for number in range(batch.first, batch.first + batch.cases):
        path = folder / f"{batch.kind}-{batch.seed}-{number}"
        files.append(path.rename(path.with_name(path.name + suffix)))
    return files


def samples_of(kind: str, build: Path, folder: Path) -> tuple[list[Path], bool, str]:
    """Valid inputs, whether they are binary, and how their names end."""
    if kind in ("study", "machine"):
        folder = {"study": "inputs/studies", "machine": "lab/model/machines"}[kind]
        return sorted((ROOT / folder).glob("*.yaml")), False, ".yaml"
    if kind == "program-deck":
        return [path for path in sorted((ROOT / "inputs").glob("*/*.yaml")) if "\napp:" in path.read_text(encoding="utf-8")], False, ".yaml"
    if kind == "program-matrix":
        matrix = folder / "sample.mtx"
        matrix.write_text("%%MatrixMarket matrix coordinate real symmetric\n% comment\n4 4 7\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n2 1 -1\n3 2 -1\n4 3 -1\n")
        return [matrix], False, ".mtx"
    ending = "json" if kind == "json" else "h5"
    return [run_sample(build, folder, app, ending) for app in DECKS], kind != "json", f".{ending}"


DECKS = {
    "heat": "app: heat\nproblem: {cells: [12, 8], boundary: {y_max: {dirichlet: \"sin(pi*x)\"}}}\nsolver: {max_sweeps: 20, tolerance: 0}\nverification: {tolerance: 10}\n",
    "cg": "app: cg\nproblem: {kind: stencil, stencil: {points: [4, 4, 3], size: 7, exact: x}}\n",
}


def run_sample(build: Path, folder: Path, app: str, ending: str) -> Path:
    """What a run writes."""
    place = folder / "samples"
    place.mkdir(exist_ok=True)
    file = place / f"{app}.{ending}"
    if not file.exists():
        deck = folder / f"{app}.yaml"
        deck.write_text(DECKS[app])
        done = call([build / "bin" / app, deck, "--quiet", "-o", place / f"{app}.h5", "--results", place / f"{app}.json"], folder, SECONDS)
        if not file.exists():
            raise RuntimeError(f"a run for a sample has failed: {done.stderr[-400:]}")
    return file


def matrix_deck(folder: Path) -> Path:
    deck = folder / "deck"
    if not deck.exists():
        deck.write_text("app: cg\nproblem: {kind: matrix_market, matrix_market: {file: x}}\nsolver: {max_iterations: 50}\n")
    return deck


def app_of(file: Path) -> str:
    found = re.search(rb"^app: *(heat|cg|matmul|pingpong|advection)\b", file.read_bytes(), re.M)
    return found[1].decode() if found else "heat"


def program(build: Path) -> Path:
    return build / "tests/fuzz/kontor-fuzz"


def call(words: list[object], folder: Path, seconds: float | None, **environment: str) -> subprocess.CompletedProcess[str]:
    """With sanitizers that leave leaks alone, which the tests look for, and refuse what asks for too much memory."""
    sanitizers = {"ASAN_OPTIONS": "detect_leaks=0:max_allocation_size_mb=1024:quarantine_size_mb=8", "UBSAN_OPTIONS": "print_stacktrace=1",
                  "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "KONTOR_PYTHON": sys.executable}
    try:
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, errors="replace", check=False, timeout=seconds, cwd=folder,
                              env={**os.environ, **sanitizers, **environment})
    except subprocess.TimeoutExpired as error:
        return subprocess.CompletedProcess(error.cmd, -signal.SIGALRM, "", "")


def told(code: int) -> str:
    if code == -signal.SIGALRM:
        return "takes too long"
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def essence(text: str) -> str:
    """What a sanitizer says, or the last line."""
    lines = [line for line in text.splitlines() if "ERROR: " in line or "runtime error:" in line or "kontor-fuzz:" in line] or text.splitlines()[-1:]
    return " ".join(lines[:2])[:300]
