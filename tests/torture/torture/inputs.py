# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs: mutated files and values, given to the programs as users do. Each is accepted, or refused in words with a
documented exit code. One that is neither is left in the folder of its batch as KIND-SEED-NUMBER, of which it is made."""

import functools
import io
import itertools
import os
import random
import re
import struct
import sys
import tempfile
from pathlib import Path
from typing import Callable, Iterator, NamedTuple, Sequence

from kontor.report.hdf5 import h5py

from .case import NO_RUN, Case, dice
from .check import Outcome
from .fault import UNWORDED
from .launch import BUILD, OWN, ROOT, sanitizers
from .mpirun import MPIEXEC, Program, Result
from .reference import Reference

KIND = "input"
BATCH = 20  # inputs
SECONDS = 60  # that a program may take
BYTES = 4 << 30  # of address space
REFUSED = re.compile(r"\[E-(?!INTERNAL|MEMORY)[A-Z-]+\]|^usage: ", re.M)
FILES = {
    "heat.yaml": b"app: heat\nproblem: {cells: [12, 8], boundary: {y_max: {dirichlet: \"sin(pi*x)\"}}}\nsolver: {max_sweeps: 20, tolerance: 0}\n"
                 b"verification: {tolerance: 10}\nmeasure: {calibrate: false}\ncheckpoint: {every: 10, file: c.h5}\n",
    "cg.yaml": b"app: cg\nproblem: {kind: matrix_market, matrix_market: {file: matrix.mtx}}\nsolver: {max_iterations: 50}\nmeasure: {calibrate: false}\n",
    "matrix.mtx": b"%%MatrixMarket matrix coordinate real symmetric\n% comment\n4 4 7\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n2 1 -1\n3 2 -1\n4 3 -1\n",
    "vector.mtx": b"%%MatrixMarket matrix array real general\n4 1\n1\n2.5\n-3e-4\n0\n",
}
FORMULAS = [b"sin(pi*x)*sinh(pi*y)/sinh(pi)", b'"x > 0.5 && y < 0.25 ? 1 : -x^2"', b"exp(-x)*max(x, y, z)", b"(((x+1)*2)-3)/4", b"rint(x*10)+sign(y)"]
OVERRIDES = [b"problem.cells=[64,64]", b"problem.boundary={x_min: {neumann: 0}, x_max: {dirichlet: 1}}", b"comm.backend=raw", b"solver.tolerance=1e-9",
             b'output.file="a b.h5"', b'problem.boundary.x_min={dirichlet: "y*x"}', *(b"problem.initial=" + formula for formula in FORMULAS)]
# At the edge of what a type holds; and words that mean something in a format.
NUMBERS = b"""0 -1 1 2 255 65536 2147483647 2147483648 -2147483649 9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775808
    18446744073709551616 1e308 1e999 -1e-999 nan -inf 0x10 010 1.5D+3 0.5 . 1e""".split()
WORDS = [b"", b"\n", b"\r\n", b"\n  ", b" ", b"\0\0\0", b"\xff\xfe", "\u202e\xfc\U0001f600".encode(), *rb"""
    [ ] { } {a: - ? : &a *a <<: !!binary !<x> | > --- ... %YAML " ' # ~ null true auto none "no" "\u0000" "\e[2J" ../../etc/passwd /dev/zero app: +
    x pi sin( max( ( ) == = , ^ ** 1e308* % %%MatrixMarket complex pattern array integer symmetric hermitian""".split()]


def mutated(chance: random.Random, samples: Sequence[bytes], binary: bool = False) -> bytes:
    """A sample, changed at one to eight places: numbers, words, lines or bytes are removed, repeated, moved, counted up or
    down, or replaced by others or by parts of another sample; or it is cut off."""
    data = chance.choice(samples)
    sizes = [rb"(?s).", rb"(?s).{1,8}", rb"(?s).{1,64}"] if binary else [rb"\d+", rb"\d+", rb"[\w.]+", rb"[\w.]+", rb".*\n?", rb"(?s)."]
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        spans = [match.span() for match in re.finditer(chance.choice(sizes), data)] or [(0, 0)]
        first, moved = (chance.randrange(len(spans)) for _ in range(2))
        begin, end = spans[first][0], spans[min(first + chance.choice([*[0] * 12, 1, 2, 19]), len(spans) - 1)][1]
        piece, other = data[begin:end], chance.choice(samples)
        at, bits = chance.randrange(len(other) + 1), 8 * len(piece)
        number = int.from_bytes(piece, "little") if binary else int(piece) if piece.isdigit() and bits < 160 else 0
        number = chance.choice([number + 1, number - 1, number << chance.randint(1, 16), number ^ 1 << chance.randrange(min(bits, 99) + 1), -1])
        words = re.findall(rb"[\w.]+", other) + [b""]  # most of these leave the syntax right
        word = chance.choice(chance.choice([[b"%d" % number] if piece.isdigit() else words, NUMBERS, words, words, WORDS]))
        if binary:
            word = (number % 2**bits).to_bytes(len(piece), "little")
        new = chance.choice([*[word] * 9, b"", piece * 2, piece[:64] * 2 ** chance.randint(1, 14), piece + chance.choice(WORDS),
                             data[slice(*spans[moved])], other[at:at + chance.randrange(256)]])
        data = data[:begin] + new[:1 << 16] + data[end:]
        if chance.random() < 0.02:
            data = data[:chance.randrange(len(data) + 1)]
    return data


def other_attribute(chance: random.Random, samples: Sequence[bytes]) -> bytes:
    """A checkpoint that tells something else of itself, behind checksums that are right."""
    file = io.BytesIO(chance.choice(samples)[:-48])
    with h5py.File(file, "r+") as h5:
        attributes = h5[chance.choice(["checkpoint", "checkpoint", "checkpoint/keys", "state"])].attrs
        key = chance.choice(sorted(attributes))
        value = attributes[key]
        new: object = chance.choice([None, -1, 0, 2**31, 2**53, 2**63 - 1, -2**63, float("nan"), [], [1, 2], ""])
        if isinstance(value, str) == (chance.random() < 0.8):
            new = mutated(chance, [str(value).encode()]).replace(b"\0", b"").decode(errors="replace")
        del attributes[key]
        if new is not None:
            attributes[key] = new
    body = file.getvalue()  # below the 512 KiB of a block of output/src/seal.cpp
    sizes, sums = struct.pack("<3Q", len(body), 512 << 10, 1), struct.pack("<Q", checksum(body))
    return body + sums + sizes + struct.pack("<Q8s", checksum(sizes, checksum(sums)), b"Kontor1\n")


def checksum(data: bytes, seed: int = 0) -> int:
    """As output/src/checksum.cpp has it."""
    def mix(total: int, word: int) -> int:
        mixed = (total ^ word) * 0x9e3779b97f4a7c15 % 2**64
        return (mixed << 29 | mixed >> 35) % 2**64

    whole = len(data) // 32 * 4
    words = struct.unpack(f"<{whole + 4}Q", data + bytes(8 * whole + 32 - len(data)))
    lanes = [functools.reduce(mix, words[lane:whole:4], seed + lane + 1) for lane in range(4)]
    return functools.reduce(mix, itertools.chain(*zip(lanes, words[whole:])), mix(seed, len(data)))


@functools.cache
def yaml_files(folder: str, key: bytes) -> list[bytes]:
    """Those with this key, without comments, where no mistake would be one."""
    texts = (re.sub(rb"(?m)^ *#.*\n", b"", path.read_bytes()) for path in sorted((ROOT / folder).glob("**/*.yaml")))
    return [text for text in texts if re.search(rb"(?m)^" + key, text)]


@functools.cache
def written(pattern: str) -> list[bytes]:
    """What runs have written."""
    with tempfile.TemporaryDirectory(prefix="kontor-torture-") as name:
        for file, text in FILES.items():
            Path(name, file).write_bytes(text)
        for app in "heat", "cg":
            run(f"{BUILD}/bin/{app} {app}.yaml --quiet -o {app}.h5 --results {app}.json".split(), Path(name), Outcome(Case(0, KIND, NO_RUN, NO_RUN)))
        return [path.read_bytes() for path in sorted(Path(name).glob(pattern))]


class Kind(NamedTuple):
    suffix: str
    words: str  # of the command
    samples: Callable[[], Sequence[bytes]]  # valid inputs
    make: Callable[[random.Random, Sequence[bytes]], bytes] = mutated


SOLVE = "{bin}/cg cg.yaml --quiet -o out.h5 --set problem.matrix_market."
RESTART = "{bin}/heat --restart {file} --quiet -o out.h5 --set solver.max_sweeps=20 --set measure.repeats=1"
REPORT = "{kontor} report {file} --html out.html"
in_bytes = functools.partial(mutated, binary=True)
KINDS = {
    "deck": Kind(".yaml", "{bin}/{app} {file} --print-deck", lambda: yaml_files("inputs", b"app:")),
    "override": Kind(".txt", "{bin}/heat heat.yaml --print-deck --set {text}", lambda: OVERRIDES),
    "formula": Kind(".txt", "{bin}/heat heat.yaml --quiet -o out.h5 --set problem.initial={text}", lambda: FORMULAS),
    "matrix": Kind(".mtx", SOLVE + "file={file}", lambda: [FILES["matrix.mtx"]]),
    "vector": Kind(".mtx", SOLVE + "rhs=file --set problem.matrix_market.rhs_file={file}", lambda: [FILES["vector.mtx"]]),
    "checkpoint": Kind(".h5", RESTART, lambda: written("c-*.h5"), in_bytes),
    "attribute": Kind(".h5", RESTART, lambda: written("c-*.h5"), other_attribute),
    "report": Kind(".h5", REPORT, lambda: written("[hc][eg]*.h5"), in_bytes),
    "record": Kind(".json", REPORT, lambda: written("*.json")),
    "study": Kind(".yaml", "{kontor} study {file} --dry-run", lambda: yaml_files("inputs", b"study:")),
    "machine": Kind(".yaml", "{kontor} predict {root}/inputs/studies/heat-strong.yaml --machine {file} --ranks 1,2",
                    lambda: yaml_files("lab/model/machines", b"name:")),
}


def cases(seed: int) -> Iterator[Case]:
    """Without end, each kind in turn. Each batch has inputs of its own."""
    for number, kind in enumerate(itertools.cycle(KINDS)):
        yield Case(number, KIND, NO_RUN, NO_RUN, {"of": kind, "seed": seed, "first": number // len(KINDS) * BATCH, "inputs": BATCH})


def make(case: Case, place: Path, _: Reference | None, __: dict[int, float]) -> Outcome:
    """Lets a program read each input of the batch, and a valid one first."""
    of, seed, first = (case.what[key] for key in ("of", "seed", "first"))
    kind, outcome = KINDS[of], Outcome(case)
    for name, text in FILES.items():
        (place / name).write_bytes(text)
    for number in range(first, first + BATCH):
        chance, samples = dice(seed, f"{KIND} {of}", number), kind.samples()
        file = place / f"{of}-{seed}-{number}{kind.suffix}"
        file.write_bytes(kind.make(chance, samples) if number > first else chance.choice(samples))
        outcome.findings, before = [], outcome.findings
        code = give(kind.words.split(), file, (number - first) % 8 == 0, outcome)
        if number == first and code != 0:
            outcome.findings.append(f"valid: refused with exit code {code}: {outcome.seen['stderr'][-300:]}")
        if not outcome.findings:
            file.unlink()
        outcome.findings = before + [f"{finding} [{file.name}]" for finding in outcome.findings]
        outcome.seen["accepted"] = outcome.seen.get("accepted", 0) + (code == 0)
    outcome.seen |= {"hit": True, "inputs": BATCH}
    return outcome


def give(words: list[str], file: Path, several: bool, outcome: Outcome) -> int | None:
    """Lets a program read it, on several ranks or one. What it prints as a deck it must print again."""
    data = file.read_bytes()
    app = re.search(rb"^app: *(heat|cg|matmul|pingpong|kernels|advection|dynamics)\b", data, re.M)
    names = {"file": file, "text": os.fsdecode(data.replace(b"\0", b"")[:100_000]), "app": app[1].decode() if app else "heat",
             "bin": BUILD / "bin", "root": ROOT, "kontor": ROOT / "scripts/kontor"}
    own = words[0].startswith("{bin}")
    words = [MPIEXEC, "-n", "2"] * (own and several and "{text}" not in words[-1]) + [word.format(**names) for word in words]
    result = run(words, file.parent, outcome)
    if result.code not in ((0, 1, 2, 3) if "--quiet" in words else (0, 2)):
        outcome.findings.append(f"exit code: {result.code}: {result.err.strip()[-300:]}")
    elif "Traceback" in result.err or own and UNWORDED.search(result.err) or result.code in (2, 3) and not REFUSED.search(result.err):
        outcome.findings.append(f"words: {result.err.strip()[-300:]}")
    if result.code == 0 and "--print-deck" in words:
        (file.parent / "printed.yaml").write_text(result.out, encoding="utf-8")
        again = run([*words[:words.index("--print-deck") - 1], "printed.yaml", "--print-deck"], file.parent, outcome)
        if again.out != result.out:
            outcome.findings.append(f"printed: what it prints is printed otherwise when it is read: {again.err.strip()[-300:]}")
    return result.code


def run(words: list[str], folder: Path, outcome: Outcome) -> Result:
    """With sanitizers that leave leaks alone, which the tests look for, and refuse what asks for too much memory."""
    options = {"ASAN_OPTIONS": "detect_leaks=0:max_allocation_size_mb=1024:quarantine_size_mb=8", "UBSAN_OPTIONS": "print_stacktrace=1",
               "TMPDIR": str(folder), "KONTOR_PYTHON": sys.executable}
    program = Program([*([] if sanitizers() else ["prlimit", f"--as={BYTES}"]), *words], folder, {**OWN, **options})
    result = program.finish(SECONDS)
    outcome.end(program, result, program.begun)
    return result
