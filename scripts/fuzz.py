#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fuzz.py: mutated inputs of every kind, as many as asked for; part of `kontor torture`, and alone.

Exit codes: 0 nothing was found, 1 something was, 2 bad usage.
"""

import argparse
import os
import random
import sys
import time
from pathlib import Path

from kontor_fuzz.campaign import KINDS, ROOT, SHARES, Batch, program, run_batch


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0], epilog=__doc__.split("\n\n")[1], allow_abbrev=False)
    parser.add_argument("--cases", type=int, default=100_000, metavar="N", help="inputs in all (default: 100000)")
    parser.add_argument("--seed", type=int, metavar="S", help="of the mutations (default: one that nobody has chosen)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=" ".join(KINDS) + " (default: all)")
    parser.add_argument("--build", type=Path, default=ROOT / "build-asan", metavar="FOLDER", help="of the programs (default: build-asan)")
    parser.add_argument("-o", "--output", type=Path, default=Path("fuzz-findings"), metavar="FOLDER", help="where findings are left (default: fuzz-findings)")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if not program(arguments.build).exists():
        print(f"kontor: fuzz: {program(arguments.build)} is missing; build the preset asan first, or say --build", file=sys.stderr)
        return 2
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(2**31)
    arguments.output.mkdir(parents=True, exist_ok=True)
    print(f"seed {seed}, {arguments.build}")
    whole = sum(SHARES[kind] for kind in arguments.kinds)
    findings, inputs, begun = 0, 0, time.monotonic()
    for kind in arguments.kinds:
        batch = Batch(kind, seed, 0, max(1, round(arguments.cases * SHARES[kind] / whole)))
        since = time.monotonic()
        run_batch(batch, arguments.build.resolve(), arguments.output)
        findings, inputs = findings + len(batch.findings), inputs + batch.read
        print(f"{kind:15} {batch.read:7} inputs {time.monotonic() - since:7.0f} s {len(batch.findings):4} findings", flush=True)
        for finding in batch.findings:
            print(f"  {finding.file}: {finding.what}", flush=True)
    print(f"{inputs} inputs, {findings} findings, {time.monotonic() - begun:.0f} s")
    if findings == 0 and not any(arguments.output.iterdir()):
        os.rmdir(arguments.output)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
