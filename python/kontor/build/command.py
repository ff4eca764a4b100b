# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor build and kontor test."""

from __future__ import annotations

import os
import re
import subprocess
import time

from ..messages import exit_code, say, shown
from ..place import Place
from ..run.limits import Limits
from .setup import Build

BUILD_USAGE = """\
kontor build [TARGET...] [CMake options]

Installs missing packages, configures (preset "release", folder build/) and compiles everything, or
only these targets, such as heat.
Options go to CMake and stay in force:
  kontor build -DKokkos_ROOT=/opt/kokkos

KONTOR_KOKKOS_SOURCE names a source tree of Kokkos, which is built first, with kokkos-kernels next to it if
there is one. OpenMP is on; CUDA is on with nvcc and a GPU (KONTOR_CUDA_ARCH=90 names a GPU; off: no CUDA):
  KONTOR_KOKKOS_SOURCE=~/kokkos kontor build

Another preset of CMakePresets.json has a folder of its own, for every command:
  KONTOR_PRESET=mpich kontor test
"""

TEST_USAGE = """\
kontor test [ctest options]

Builds everything, runs all tests and prints the time of each. On Debian and Ubuntu it first installs the
packages of tests (scripts/packages-test.txt), if it may; without them tests are skipped. Options go to ctest:
  kontor test -R heat        the tests whose name contains heat
  kontor test -N             list them
"""


def build(words: list[str]) -> int:
    if words[:1] in (["-h"], ["--help"]):
        print(BUILD_USAGE, end="")
        return 0
    place = Place.here()
    place.need_source("build")
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
    if words[:1] in (["-h"], ["--help"]):
        print(TEST_USAGE, end="")
        return 0
    place, cores, start = Place.here(), Limits().processing_units, time.monotonic()
    place.need_source("test")
    Build(place, os.environ, for_tests=True).ensure("all")
    built = time.monotonic()
    ctest = ["ctest", "--test-dir", str(place.build), "--output-on-failure", "--parallel", str(cores)]
    code = subprocess.run([*ctest, "--no-tests=error", *words], check=False).returncode
    if code and Place.here().setting("GTest_DIR").endswith("NOTFOUND"):
        say("there are no tests without GoogleTest: apt-get install libgtest-dev, or set GTest_ROOT")
    say(f"build: {built - start:.0f} s, tests: {time.monotonic() - built:.0f} s, on {cores} cores")
    return exit_code(code)
