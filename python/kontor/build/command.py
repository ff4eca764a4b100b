# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor build, test and lint."""

import contextlib
import os
import re
import subprocess
import sys
import time

from ..limits import Limits
from ..messages import exit_code, say, shown
from ..place import Place
from ..run.mpi import left_by
from .setup import Build

CTEST_FAILED = 8  # exit code of ctest where a test fails


def build(words: list[str]) -> int:
    place = Place.here()
    pairs = zip(["", *words], words)
    is_option = [word.startswith("-") or bool(re.fullmatch("-[ACDGTU]", before)) for before, word in pairs]
    options = [word for word, option in zip(words, is_option) if option]
    targets = [word for word, option in zip(words, is_option) if not option]
    work = Build(place, os.environ, options)
    for target in targets or ["all"]:
        work.ensure(target)
    if not targets:
        say(f"built: {shown(place.build)}")
    return 0


def test(words: list[str]) -> int:
    place, cores, start = Place.here(), Limits().processing_units, time.monotonic()
    wanted = "ON" if "--all" in words else "OFF"
    changed = [f"-DKONTOR_ALL_TESTS={wanted}"] if place.setting("KONTOR_ALL_TESTS") != wanted else []
    Build(place, os.environ, changed, for_tests=True).ensure("all")
    built = time.monotonic()
    ctest = ["ctest", "--test-dir", str(place.build), "--output-on-failure", "--parallel", str(cores)]
    code = run_beside_others([*ctest, "--no-tests=error", *(word for word in words if word != "--all")])
    if code and Place.here().setting("GTest_DIR").endswith("NOTFOUND"):
        say("there are no tests without GoogleTest: apt-get install libgtest-dev, or set GTest_ROOT")
    say(f"build: {built - start:.0f} s, tests: {time.monotonic() - built:.0f} s, on {cores} cores")
    return 1 if code == CTEST_FAILED else exit_code(code)


def lint(words: list[str]) -> int:
    script = str(Place.here().root / "scripts/lint")
    os.execve(script, [script, *words], {**os.environ, "KONTOR_PYTHON": sys.executable})


def run_beside_others(command: list[str]) -> int:
    """Open MPI removes the folder of all its runs when one leaves it empty, even if another just begins there."""
    not_empty = left_by(os.getpid(), os.environ)[0]
    with contextlib.suppress(OSError):
        not_empty.mkdir(mode=0o700, parents=True)
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        with contextlib.suppress(OSError):
            not_empty.rmdir()
