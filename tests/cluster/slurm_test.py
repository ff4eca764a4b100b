# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/kontor run inside jobs of a real Slurm, and scripts/kontor study --submit, which makes such jobs."""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import unittest

import hosts
import slurm
from hosts import BUILD, KONTOR, ROOT, wait_for
from slurm import DECK

RUN = f"{KONTOR} run"
ENDLESS = DECK.replace("max_sweeps: 20", "max_sweeps: 1000000000")


def setUpModule():
    os.environ.pop("OMP_NUM_THREADS", None)
    slurm.start()


class SlurmTest(hosts.FolderTest):
    def setUp(self):
        super().setUp()
        (self.folder / "deck.yaml").write_text(DECK)

    def submit(self, options, script):
        """A job in the test's folder, which ends with the test."""
        number = slurm.cluster.submit(self.folder, script, *options.split())
        self.addCleanup(signal, number, "--signal=KILL", "--full")
        return number

    def ends(self, job, code, said=r"\A", err=r"\A"):
        """What a job has said that must end with this code, with such words in its output and its errors."""
        done = slurm.cluster.collect(self.folder, job)
        self.assertEqual(done.returncode, code, done)
        self.assertRegex(done.stdout, said)
        self.assertRegex(done.stderr, err)
        return done


def signal(job, *options):
    subprocess.run(["scancel", *options, job], stderr=subprocess.DEVNULL, check=False)


def starts(words, variables=""):
    """The command that is made of these words, then what it does: all ranks start, and end before they measure."""
    return "\n".join(f"{variables} {RUN} {words} deck.yaml {option}" for option in ("--dry-run", "--print-deck"))


THREAD, YIELDS, UNBOUND = "OMP_NUM_THREADS=1 ", "OMPI_MCA_mpi_yield_when_idle=1 ", "OMP_PROC_BIND=false "
FEW_CORES = YIELDS if len(os.sched_getaffinity(0)) < 4 else ""
OTHERS = f"{THREAD}SLURM_CPUS_PER_TASK=2 SLURM_TRES_PER_TASK=cpu:3 SLURM_MEM_PER_CPU=100 SLURM_MEM_PER_NODE=200"
WITHOUT = "env -u SLURM_CPUS_PER_TASK -u SLURM_MEM_PER_CPU -u SLURM_MEM_PER_NODE -u SLURM_TRES_PER_TASK "
ALLOCATIONS = {  # by name: the options of sbatch, the lines of the script, and the command that starts the ranks
    "no tasks named": ("--nodes=1", starts("-n 3"), f"{THREAD}{YIELDS}{UNBOUND}srun -n 3 --mpi=pmix --overcommit"),
    "more threads than CPUs": ("--ntasks=2", starts("-n 2", "OMP_NUM_THREADS=3"),
                               f"OMP_NUM_THREADS=3 {YIELDS}{UNBOUND}srun -n 2 --mpi=pmix --overcommit"),
    "CPUs per task": ("--ntasks=2 --cpus-per-task=2", starts(""), "env -u SLURM_CPUS_PER_TASK OMP_NUM_THREADS=2 "
                      f"{FEW_CORES}{UNBOUND}srun -n 2 --mpi=pmix --cpus-per-task=2"),
    "one rank on two nodes": ("--nodes=2", starts("-n 1"),
                              f"{THREAD}{UNBOUND}srun -n 1 --nodes=1 --mpi=pmix --cpus-per-task=1"),
    "tasks per node": ("--nodes=2 --ntasks-per-node=1", starts("-n 3"), "env -u SLURM_NTASKS_PER_NODE "
                       f"{THREAD}{YIELDS}{UNBOUND}srun -n 3 --mpi=pmix --overcommit"),
    "variables of another job": ("--ntasks=2 --cpus-per-task=2", starts("-n 8", OTHERS),
                                 f"{WITHOUT}{THREAD}{YIELDS}{UNBOUND}srun -n 8 --mpi=pmix --overcommit"),
    # As by srun --pty bash, which has the cores of the job already.
    "a step": ("--ntasks=1", f"srun -n 1 bash -c {shlex.quote(starts('-n 1'))}",
               f"{THREAD}{UNBOUND}srun -n 1 --overlap --mpi=pmix --cpus-per-task=1"),
    "the user's protocol": ("--nodes=1", starts("", "SLURM_MPI_TYPE=pmix_v4"),
                            f"{THREAD}{UNBOUND}srun -n 1 --cpus-per-task=1"),
}


class Runs(SlurmTest):
    def test_allocations(self):
        """Whatever the job was given, the ranks start, without a warning."""
        jobs = {name: self.submit(*job[:2]) for name, job in ALLOCATIONS.items()}
        for name, job in jobs.items():
            with self.subTest(name):
                done = self.ends(job, 0, err=r"\A\Z")
                said, _, deck = done.stdout.partition("\n")
                self.assertEqual(deck.count("app: heat"), 1, done)
                self.assertEqual(said, f"{ALLOCATIONS[name][2]} {BUILD}/bin/heat deck.yaml")

    def test_exit_codes(self):
        """A launcher that fails, a protocol that the MPI does not speak, and a wrong answer."""
        start = "(?s)kontor: the program could not be started: srun"
        cases = (
            (f'KONTOR_LAUNCHER="srun --nodes=7" {RUN} -n 2 deck.yaml', 3, r"\A",
             rf"{start} --nodes=7 -n 2 \S+/heat .*\n.*asked for 2"),
            (f'KONTOR_LAUNCHER="srun --mpi=none" {RUN} -n 1 deck.yaml', 3, r"\A", f"{start} --mpi=none -n 1 "),
            (f"{RUN} -n 1 deck.yaml --quiet --set verification.tolerance=0", 1, "VERIFICATION FAILED",
             r"\A(?!.*launcher)"),
        )
        jobs = [self.submit("--nodes=1", script) for script, *_ in cases]
        for job, (script, *how) in zip(jobs, cases):
            with self.subTest(script):
                self.ends(job, *how)

    def test_the_script_is_told_to_end(self):
        """As by sbatch --signal=B:USR1@60; the job below tells the ranks."""
        (self.folder / "deck.yaml").write_text(ENDLESS)
        words = "--quiet --results record.json --set output.every=1000"
        job = self.submit("--nodes=1", f"exec {RUN} -n 3 deck.yaml {words}")
        size = lambda: sum(path.stat().st_size for path in self.folder.glob("deck.h5.*.tmp"))
        wait_for(lambda: size() > 50_000, "a series of fields", 60)
        signal(job, "--signal=USR1", "--batch")
        self.ends(job, 4, "ENDED EARLY", "kontor: heat ended early, as signal USR1 asked")
        record = json.loads((self.folder / "record.json").read_text())
        self.assertEqual((record["ended_early"], record["end_signal"], record["repeats"]), (True, "USR1", []))

    @unittest.skipUnless(importlib.util.find_spec("h5py"), "no h5py")
    def test_a_job_that_is_told_to_end_resumes_in_another(self):
        """The job script of docs/checkpoints.md, which puts itself into the queue again; there it is held, so that its
        deck may have an end."""
        import h5py

        deck = self.folder / "inputs/heat/plate.yaml"
        deck.parent.mkdir(parents=True)
        deck.write_text(ENDLESS + "checkpoint: {every: 1000, keep: 1}\n")
        (self.folder / "scripts").symlink_to(ROOT / "scripts")
        documented = re.search(r"(?s)```\n(#!/bin/bash\n.*?)```", (ROOT / "docs/checkpoints.md").read_text())[1]
        script = documented.replace("--ntasks=64", "--ntasks=3").replace('sbatch "$0"', 'sbatch --hold "$0"')
        job = self.submit("", script)
        checkpoints = lambda: sorted(path.name for path in self.folder.glob("plate-checkpoint-*.h5"))
        wait_for(checkpoints, "a checkpoint", 60)
        signal(job, "--signal=USR1")
        done = self.ends(job, 0, r"(?m)^ENDED EARLY: .*\bUSR1\b.*\bplate-checkpoint-\d+\.h5 --restart$")
        again = re.search(r"(?m)^Submitted batch job (\d+)$", done.stdout)[1]
        [checkpoint] = checkpoints()
        step = int(checkpoint[-12:-3])
        deck.write_text(DECK.replace("max_sweeps: 20", f"max_sweeps: {step + 20}"))
        subprocess.run(["scontrol", "release", again], check=True)
        slurm.cluster.collect(self.folder, again)
        said = (self.folder / f"slurm-{again}.out").read_text()
        self.assertIn("VERIFICATION PASSED", said)
        with h5py.File(self.folder / "plate.h5") as file:
            run = json.loads(file["run"][()])
        told = run["checkpoint"]
        found = (run["ranks"], run["sweeps"], told.get("at_step"), told.get("restarted_from"))
        self.assertEqual(found, (3, step + 20, step, checkpoint), said)


STUDY = """\
study: jobs
deck: deck.yaml
kind: strong
ranks: [2, 4]
ranks_per_node: 2
vary: {comm.backend: [view]}
repeats: 2
launch: {scheduler: slurm, exclusive: false, minutes: 5}
"""


class Studies(SlurmTest):
    def test_jobs_on_one_and_two_nodes(self):
        """What they leave, in a folder whose name a shell would take apart."""
        folder = self.folder / """it's "$my" study: 50%j"""
        folder.mkdir()
        (folder / "deck.yaml").write_text(DECK.replace("max_sweeps: 20", "max_sweeps: 20, check_every: 0"))
        (folder / "study.yaml").write_text(STUDY)

        def told():
            """By the jobs and their runs."""
            files = [*sorted(folder.glob("jobs/jobs/*.out")), *sorted(folder.glob("jobs/runs/*.log"))]
            return "".join(f"--- {file.name}\n{file.read_text()}" for file in files)

        def study(*words):
            done = subprocess.run([KONTOR, "study", *words], cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr + told())
            return json.loads((folder / "jobs/study.json").read_text()), done.stdout

        self.assertEqual(study("study.yaml", "--submit")[0]["runs"], [])
        queue = lambda: subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=False).stdout.strip()
        wait_for(lambda: not queue(), "the jobs", 90)
        state, said = study("jobs", "--resume", "--submit")
        self.assertIn("4 passed", said + told())
        found = {(run["point"], run["repeat"], run["state"]) for run in state["runs"]}
        self.assertEqual(found, {(f"p00{point}", repeat, "passed") for point in range(2) for repeat in (1, 2)}, told())
        self.assertEqual(len(list(folder.glob("jobs/jobs/*.out"))), 2)
        for run in state["runs"]:
            record = json.loads((folder / "jobs" / run["record"]).read_text())
            self.assertEqual((record["ranks"], len(record["hosts"])), (2, 1) if run["point"] == "p000" else (4, 2))
        self.assertTrue(state["machine"]["job"].startswith("Slurm "), state["machine"])
        self.assertEqual(len(state["jobs"]), 2, "there was nothing to submit")


if __name__ == "__main__":
    hosts.isolate()
    unittest.main(verbosity=2)
