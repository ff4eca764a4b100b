# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs: batches of mutated decks, overrides, matrices, results, checkpoints and studies, made and read by kontor_fuzz."""

import itertools
from pathlib import Path
from typing import Iterator

from fuzzing.campaign import IN_PROCESS, IN_PYTHON, KINDS, SHARES, Batch, program, run_batch

from .after import Outcome
from .case import Case, Run, dice
from .launch import BUILD
from .reference import Reference

KIND = "input"
PROGRAM = program(BUILD)
NO_RUN = Run("", 0, ())


def size_of(kind: str) -> int:
    """Inputs of a batch, which takes a second or a few."""
    if kind in ("result", "checkpoint", "header"):
        return 100
    return 1000 if kind in IN_PROCESS else 25 if kind in IN_PYTHON else 2


def cases(seed: int) -> Iterator[Case]:
    """Without end. Each batch has inputs of its own; as many of each kind as kontor_fuzz says."""
    weights = [SHARES[kind] / size_of(kind) for kind in KINDS]
    for number in itertools.count():
        kind = dice(seed, KIND, number).choices(KINDS, weights)[0]
        yield Case(number, KIND, NO_RUN, NO_RUN, {"of": kind, "seed": seed, "first": number * size_of(kind), "inputs": size_of(kind)})


def make(case: Case, place: Path, _: Reference | None, __: dict[int, float]) -> Outcome:
    """Reads the batch. Inputs that are findings are left in the folder of the case."""
    what = case.what
    batch = Batch(what["of"], what["seed"], what["first"], what["inputs"])
    run_batch(batch, BUILD.resolve(), place)
    outcome = Outcome(case)
    outcome.seen["hit"] = batch.read > 0
    outcome.seen["inputs"] = batch.read
    for finding in batch.findings:
        outcome.findings.append(f"input: {finding.file.name}: {finding.what}")
    return outcome
