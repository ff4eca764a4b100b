# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the mini-apps as a user does, several ranks under mpirun, and never waits for ever.

The environment may name other programs (KONTOR_HEAT, KONTOR_PINGPONG, KONTOR_CG) and another launcher (KONTOR_MPIEXEC).
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import uuid
from pathlib import Path
from typing import NamedTuple

BIN = Path(__file__).resolve().parents[2] / "build" / "bin"
HEAT = os.environ.get("KONTOR_HEAT", str(BIN / "heat"))
PINGPONG = os.environ.get("KONTOR_PINGPONG", str(BIN / "pingpong"))
MPIEXEC = os.environ.get("KONTOR_MPIEXEC", "mpirun")

# As kontor_add_mpi_run() in cmake/KontorTargets.cmake. Then: mpirun adds nothing to what a run says, and does
# not rest for two seconds after a run that ended with an error.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OMP_PROC_BIND": "false",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_orte_execute_quiet": "1",
    "OMPI_MCA_odls_base_sigkill_timeout": "0",
}


class Result(NamedTuple):
    code: int
    out: str
    err: str

    def __str__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}---"


class Running:
    """mpirun and its ranks, which are recognised by a mark in their environment.

    `variables` are set for the ranks, not for mpirun.
    """

    def __init__(self, program, arguments, ranks, cwd, variables):
        if not os.path.exists(program):
            raise FileNotFoundError(f"{program} is not built; KONTOR_HEAT or KONTOR_PINGPONG may name another")
        of_ranks = [f"{key}={text}" for key, text in variables.items()]
        alone = ranks == 1 and ":" not in arguments  # needs no launcher, which takes longer to start than the program
        launcher = [] if alone else [MPIEXEC, "-n", str(ranks)]
        self.launch([*launcher, "env", *of_ranks, program, *arguments], cwd)

    def launch(self, command, cwd, **variables):
        self.mark = f"KONTOR_TEST_RUN={uuid.uuid4()}"
        name, value = self.mark.split("=")
        self.command = " ".join(command)
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **ENVIRONMENT, name: value, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test in the background ignores it
        )

    def finish(self, limit):
        """The result; AssertionError if it takes more than `limit` seconds."""
        try:
            out, err = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.end()
            out, err = self.process.communicate()
            raise AssertionError(f"{self.command}\nstill ran after {limit} s; it had said\n{out}\n{err}") from None
        # Open MPI's launcher now and then tells of its event library what nobody asked.
        err = "".join(line for line in err.splitlines(keepends=True) if not line.startswith("[warn] Epoll "))
        return Result(self.process.returncode, out, err)

    def end(self):
        """Kills mpirun and its ranks."""
        self.process.kill()
        for pid in self.ranks().values():
            os.kill(pid, signal.SIGKILL)

    def ranks(self):
        """The process of each rank that is alive."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*/environ"):
            try:
                variables = entry.read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue  # it has ended
            if self.mark not in variables:
                continue
            for variable in variables:
                name, _, value = variable.partition("=")
                if name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK"):
                    found[int(value)] = int(entry.parent.name)
        return found


def wait_until(condition, what, limit=20):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {limit} s")
        time.sleep(0.02)


class HeatTest(unittest.TestCase):
    """A test in an empty folder of its own."""

    program = HEAT
    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kontor-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def start(self, *arguments, ranks=1, variables={}):
        """Runs the program in the test's folder."""
        running = Running(self.program, arguments, ranks, self.folder, variables)
        self.addCleanup(running.process.stdout.close)
        self.addCleanup(running.process.stderr.close)
        return running

    def heat(self, *arguments, ranks=1, limit=30, **others):
        return self.start(*arguments, ranks=ranks, **others).finish(limit)

    def passes(self, *arguments, **others):
        """A run that must be verified."""
        result = self.heat(*arguments, **others)
        self.assertEqual(result.code, 0, result)
        return result

    def temporary(self, name):
        """The file that a run writes aside for `name`, or None."""
        return next(self.folder.glob(f"{name}.????????.tmp"), None)

    def files(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))
