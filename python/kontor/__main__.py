#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor COMMAND WORD...: builds, runs, tests and compares the mini-apps."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from kontor.messages import Failure, say
from kontor.place import Place

USAGE = """\
kontor - Kokkos mini-apps over a swappable communication layer

  kontor run DECK        run a deck; build first if need be
  kontor run RESULT.h5   repeat the run that wrote this file
  kontor run CHECKPOINT.h5 --restart   resume from a checkpoint, on any number of ranks
  kontor report FILE...  show one run, compare several, plot; or report a study's FOLDER
  kontor study STUDY     make or resume the runs of a study: ranks x backends x repeats
  kontor predict STUDY   predict its times on a described machine, by a model or by SimGrid
  kontor test            build and run all tests
  kontor build           build only
  kontor lint            check formatting and common mistakes, offline
  kontor help            this text; `kontor COMMAND --help` has the details
  kontor --version       the version

Try:  kontor run inputs/heat/plate.yaml

The first run builds into build/. On Debian and Ubuntu it installs missing packages first
(scripts/packages.txt; for tests packages-test.txt, too), if it may. Elsewhere CMake finds them (Spack, modules).

Exit codes: 0 verified or verification off, 1 verification failed or inconclusive, or findings, 2 bad deck, usage
or set-up, 3 failed at run time, 4 ended early, 128 + N ended by signal N.

Environment:
  KONTOR_PRESET        release, debug, asan, tsan, valgrind, mpich, smpi, openmp or cuda  (default: release; the others
                       use build-<preset>/)
  KONTOR_BUILD_DIR     the build folder                     (default: build/ next to scripts/)
  KONTOR_KOKKOS_SOURCE sources of Kokkos to build first, for threads and GPUs (`kontor build --help`)
  KONTOR_CUDA_ARCH     compute capability for that Kokkos, such as 90; off: without CUDA  (default: the GPU found)
  KONTOR_LAUNCHER      words that start MPI programs; -n RANKS is appended  (default: srun, flux run or mpirun)
  KONTOR_RANKS_PER_NODE  ranks that `run` places on a node  (default: by the launcher)
  KONTOR_LOCKS         folder of the locks of cores in use  (default: /dev/shm; empty: no locks)
  KONTOR_PYTHON        the Python of kontor                 (default: the first that has the packages)
  KONTOR_START_SECONDS time limit of the start of all ranks (default: 300; 0: none)
  KONTOR_END_SECONDS   time limit of an early end           (default: 60)
  KONTOR_ABORT_SECONDS time that a launcher may outlive a failed rank (default: 10)
  KONTOR_FINISH_SECONDS  or a finished one                  (default: 60)
  KONTOR_GPU_AWARE_MPI 1: MPI takes device memory (comm.path: direct), 0: it does not  (default: as MPI reports)
  KONTOR_REHEARSE      path of kontor-rehearse, which reads HDF5 files first  (default: the program next to the app)
  OMP_NUM_THREADS      threads a rank                       (default: 1; in a Slurm job a task's CPUs)
  OMP_PROC_BIND, OMP_PLACES  their binding                  (default: the rank's own cores)
"""
COMMANDS = ("run", "report", "study", "predict", "test", "build", "lint")
MODULES = {"run": ("run.command", "main"), "build": ("build.command", "build"), "test": ("build.command", "test"),
           "lint": ("build.lint", "main")}  # of the commands that need no packages


def main(words: list[str] | None = None) -> int:
    """Returns the exit code."""
    command, *words = (sys.argv[1:] if words is None else words) or ["help"]
    _leave_stdin(words)
    try:
        return _call(command, words)
    except Failure as failure:
        say(str(failure))
        return failure.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        raise


def _call(command: str, words: list[str]) -> int:
    if command in ("help", "-h", "--help"):
        print(USAGE, end="")
        return 0
    place = Place.here()
    if command == "--version":
        print(f"kontor {place.version}")
        return 0
    if command not in COMMANDS:
        raise Failure(f"'{command}' is not a command; there are {', '.join(COMMANDS)} and help")
    if place.preset == "smpi" and command in ("run", "study", "test"):
        raise Failure("preset smpi makes programs for simulated ranks, and no tests:"
                      " 'kontor predict STUDY --machine FILE --simulate FOLDER' runs them")
    # One command does without the packages of the others, and starts sooner.
    module, function = MODULES.get(command, ("packaged", ""))
    called = importlib.import_module(f"kontor.{module}")
    return int(getattr(called, function)(words) if function else called.call(command, words, place))


def _leave_stdin(words: list[str]) -> None:
    """What this starts would read what is not for it, such as the rest of the script that calls it. Stdin stays if it
    is a terminal, by which sudo knows that somebody is there, or one of the words."""
    names = [re.sub("^--[^=]*=", "", word) for word in words]
    if {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}.isdisjoint(names) and not os.isatty(0):
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)


if __name__ == "__main__":
    sys.exit(main())
