# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/kontor run inside jobs of a real Slurm."""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

import hosts
import slurm
from slurm import BUILD, DECK

ROOT = Path(__file__).resolve().parents[2]
KONTOR = f"{ROOT}/scripts/kontor run"


def setUpModule():
    os.environ.pop("OMP_NUM_THREADS", None)
    slurm.start()


class SlurmTest(unittest.TestCase):
    """Jobs are submitted together, and each test looks at what its own has left."""

    jobs = {}  # by name: the options of sbatch, and the lines of the script

    @classmethod
    def setUpClass(cls):
        cls.submitted = {}
        for name, (options, script) in cls.jobs.items():
            folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="kontor-")))
            (folder / "deck.yaml").write_text(DECK)
            cls.prepare(folder)
            cls.submitted[name] = folder, slurm.cluster.submit(script, *options.split(), cwd=folder)

    @classmethod
    def prepare(cls, folder):
        """What else a job finds in its folder."""

    def done(self, name):
        return slurm.cluster.collect(self.submitted[name][1])

    def record(self, name):
        return json.loads((self.submitted[name][0] / "record.json").read_text())


def starts(words, variables=""):
    """The command that is made of these words, then what it does: all ranks start, and end before they measure."""
    return "\n".join(f"{variables} {KONTOR} {words} deck.yaml {option}" for option in ("--dry-run", "--print-deck"))


THREAD, YIELDS = "OMP_NUM_THREADS=1 ", "OMPI_MCA_mpi_yield_when_idle=1 "
FEW_CORES = YIELDS if len(os.sched_getaffinity(0)) < 4 else ""
UNBOUND = "OMP_PROC_BIND=false "
ALLOCATIONS = {  # by name: the options of sbatch, the lines of the script, and the command that starts the ranks
    "no tasks named": ("--nodes=1", starts("-n 3"), f"{THREAD}{YIELDS}{UNBOUND}srun -n 3 --mpi=pmix --overcommit"),
    "more threads than CPUs": ("--ntasks=2", starts("-n 2", "OMP_NUM_THREADS=3"), f"OMP_NUM_THREADS=3 {YIELDS}{UNBOUND}srun -n 2 --mpi=pmix --overcommit"),
    "CPUs per task": ("--ntasks=2 --cpus-per-task=2", starts(""),
                      f"env -u SLURM_CPUS_PER_TASK OMP_NUM_THREADS=2 {FEW_CORES}{UNBOUND}srun -n 2 --mpi=pmix --cpus-per-task=2"),
    "one rank on two nodes": ("--nodes=2", starts("-n 1"), f"{THREAD}{UNBOUND}srun -n 1 --nodes=1 --mpi=pmix --cpus-per-task=1"),
    "tasks per node": ("--nodes=2 --ntasks-per-node=1", starts("-n 3"),
                       f"env -u SLURM_NTASKS_PER_NODE {THREAD}{YIELDS}{UNBOUND}srun -n 3 --mpi=pmix --overcommit"),
    "variables of another job": ("--ntasks=2 --cpus-per-task=2",
                                 starts("-n 8", f"{THREAD}SLURM_CPUS_PER_TASK=2 SLURM_TRES_PER_TASK=cpu:3 SLURM_MEM_PER_CPU=100 SLURM_MEM_PER_NODE=200"),
                                 "env -u SLURM_CPUS_PER_TASK -u SLURM_MEM_PER_CPU -u SLURM_MEM_PER_NODE -u SLURM_TRES_PER_TASK "
                                 f"{THREAD}{YIELDS}{UNBOUND}srun -n 8 --mpi=pmix --overcommit"),
    # As by srun --pty bash, which has the cores of the job already.
    "a step": ("--ntasks=1", f"srun -n 1 bash -c {shlex.quote(starts('-n 1'))}", f"{THREAD}{UNBOUND}srun -n 1 --overlap --mpi=pmix --cpus-per-task=1"),
    "the user's protocol": ("--nodes=1", starts("", "SLURM_MPI_TYPE=pmix_v4"), f"{THREAD}{UNBOUND}srun -n 1 --cpus-per-task=1"),
}


class Allocation(SlurmTest):
    """Whatever the job was given, the ranks start, without a warning."""

    jobs = {name: job[:2] for name, job in ALLOCATIONS.items()}

    def test_commands(self):
        program = f" {BUILD}/bin/heat deck.yaml"
        for name, (_, _, command) in ALLOCATIONS.items():
            with self.subTest(name):
                done = self.done(name)
                said, _, deck = done.out.partition("\n")
                self.assertEqual((done.code, done.err), (0, ""), done)
                self.assertEqual(deck.count("app: heat"), 1, done)
                self.assertEqual(said, command + program)


class Ends(SlurmTest):
    """What the exit code tells."""

    jobs = {
        "launcher": ("--nodes=1", f'KONTOR_LAUNCHER="srun --nodes=7" {KONTOR} -n 2 deck.yaml'),
        "protocol": ("--nodes=1", f'KONTOR_LAUNCHER="srun --mpi=none" {KONTOR} -n 1 deck.yaml'),
        "wrong": ("--nodes=1", f"{KONTOR} -n 1 deck.yaml --quiet --set verification.tolerance=0"),
    }

    def test_a_launcher_that_fails_and_a_protocol_that_the_mpi_does_not_speak(self):
        for name, said in (("launcher", r"srun --nodes=7 -n 2 \S+/heat .*\n.*asked for 2"),
                           ("protocol", "srun --mpi=none -n 1 ")):
            done = self.done(name)
            self.assertEqual(done.code, 3, done)
            self.assertRegex(done.err, f"(?s)kontor: the program could not be started: {said}")

    def test_a_wrong_answer(self):
        done = self.done("wrong")
        self.assertEqual(done.code, 1, done)
        self.assertIn("VERIFICATION FAILED", done.out)
        self.assertNotIn("launcher", done.err)


class EndsEarly(SlurmTest):
    """As by sbatch --signal=B:USR1@60, which tells the script; the job of GoesOn tells the ranks."""

    words = "-n 3 deck.yaml --quiet --results record.json --set solver.max_sweeps=1000000000 --set output.every=1000"
    jobs = {"script": ("--nodes=1", f"exec {KONTOR} {words}")}

    def test_the_script_is_told(self):
        folder, (_, number) = self.submitted["script"]
        size = lambda: sum(path.stat().st_size for path in folder.glob("deck.h5.*.tmp"))
        slurm.wait_for(lambda: size() > 50_000, "a series of fields", 20)
        subprocess.run(["scancel", "--signal=USR1", "--batch", number], check=True)
        done = self.done("script")
        self.assertEqual(done.code, 4, done)
        self.assertIn("ENDED EARLY", done.out)
        record = self.record("script")
        self.assertEqual((record["ended_early"], record["end_signal"], record["repeats"]), (True, "USR1", []))
        self.assertIn("kontor: heat ended early, as signal USR1 asked", done.err)


@unittest.skipUnless(importlib.util.find_spec("h5py"), "no h5py, by which kontor run --restart looks into a checkpoint")
class GoesOn(SlurmTest):
    """The job script of docs/checkpoints.md, which puts itself into the queue again; there it is held, so that its deck may have an end."""

    deck = "inputs/heat/plate.yaml"
    documented = re.search(r"(?s)```\n(#!/bin/bash\n.*?)```", (ROOT / "docs/checkpoints.md").read_text())[1]
    script = documented.replace("--ntasks=64", "--ntasks=3").replace('sbatch "$0"', 'sbatch --hold "$0"')
    jobs = {"docs": ("", script)}

    @classmethod
    def prepare(cls, folder):
        (folder / "scripts").symlink_to(ROOT / "scripts")
        (folder / cls.deck).parent.mkdir(parents=True)
        (folder / cls.deck).write_text(DECK.replace("max_sweeps: 20", "max_sweeps: 1000000000") + "checkpoint: {every: 1000, keep: 1}\n")

    def test_a_job_that_is_told_to_end_goes_on_in_another(self):
        import h5py

        folder, (_, number) = self.submitted["docs"]
        checkpoints = lambda: sorted(path.name for path in folder.glob("plate-checkpoint-*.h5"))
        slurm.wait_for(checkpoints, "a checkpoint", 20)
        subprocess.run(["scancel", "--signal=USR1", number], check=True)
        done = self.done("docs")
        self.assertEqual(done.code, 0, done)
        self.assertRegex(done.out, r"(?m)^ENDED EARLY: .*\bUSR1\b.*\bplate-checkpoint-\d+\.h5 --restart$")
        again = re.search(r"(?m)^Submitted batch job (\d+)$", done.out)
        self.assertTrue(again, done)
        [checkpoint] = checkpoints()
        step = int(checkpoint[-12:-3])
        (folder / self.deck).write_text(DECK.replace("max_sweeps: 20", f"max_sweeps: {step + 20}"))
        subprocess.run(["scontrol", "release", again[1]], check=True)
        slurm.cluster.collect((folder, again[1]))
        said = (folder / f"slurm-{again[1]}.out").read_text()
        self.assertIn("VERIFICATION PASSED", said)
        with h5py.File(folder / "plate.h5") as file:
            run = json.loads(file["run"][()])
        found = (run["ranks"], run["sweeps"], run["checkpoint"].get("at_step"), run["checkpoint"].get("restarted_from"))
        self.assertEqual(found, (3, step + 20, step, checkpoint), said)


if __name__ == "__main__":
    hosts.isolate()
    unittest.main(verbosity=2)
