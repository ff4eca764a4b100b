# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Slurm of the test's own: a controller and two nodes, without munge and systemd, in the namespaces of hosts.py.

    def setUpModule():
        slurm.start()

    done = slurm.cluster.collect(slurm.cluster.submit("srun hostname", "--nodes=2"))

Each node, n0 and n1, says that it has four cores, whatever the machine has.
"""

import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import NamedTuple

import hosts

BUILD = Path(os.environ.get("KONTOR_BUILD_DIR", Path(__file__).resolve().parents[2] / "build"))
DECK = """\
app: heat
problem:
  cells: [24, 24]
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
solver: {tolerance: 0, max_sweeps: 20}
verification: {tolerance: 10}
measure: {calibrate: false}
"""
PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "scontrol")
NODES = ("n0", "n1")

CONFIGURATION = """\
ClusterName=kontor
SlurmctldHost={host}(10.77.0.1)
SlurmctldPort=6817
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n/spool
TmpFS={folder}/%n/tmp
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=5
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1
NodeName=n[0-1] NodeHostname=n[0-1] NodeAddr=10.77.0.1 Port=[6818-6819] CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str

    def __str__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}---"


def wait_for(condition, what, limit):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} took more than {limit} s")
        time.sleep(0.02)


class Cluster:
    """Ready when made; end() it. Raises SkipTest where Slurm's packages are not installed."""

    def __init__(self):
        missing = [name for name in PROGRAMS if not shutil.which(name)]
        if missing:
            raise unittest.SkipTest(f"no {', '.join(missing)}: apt-get install slurmctld slurmd slurm-client")
        self.folder = Path(tempfile.mkdtemp(prefix="kontor-slurm-"))
        for name in ("state", *(f"{node}/{part}" for node in NODES for part in ("spool", "tmp"))):
            (self.folder / name).mkdir(parents=True)
        configuration = self.folder / "slurm.conf"
        user = pwd.getpwuid(os.geteuid()).pw_name
        configuration.write_text(CONFIGURATION.format(folder=self.folder, host=socket.gethostname(), user=user))
        os.environ["SLURM_CONF"] = str(configuration)
        self.jobs = 0
        self.daemons = []
        try:
            self.start("slurmctld", "-D")
            for node in NODES:
                self.start(*hosts.on_host(node), "slurmd", "-D", "-N", node)
            wait_for(lambda: self.states() == ["idle"] * len(NODES), "the start of Slurm", 20)
        except BaseException:
            self.end()
            raise

    def start(self, *command):
        self.daemons.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL, start_new_session=True))

    def states(self):
        words = ["sinfo", "--noheader", "--Node", "--format=%T"]
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()

    def end(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def submit(self, script, *options, cwd=None, **variables):
        """Of a job whose script is these lines of bash. The folder of its output, and its number."""
        self.jobs += 1
        folder = self.folder / f"job-{self.jobs}"
        folder.mkdir()
        (folder / "job.sh").write_text(f"#!/bin/bash\n{script}\n")
        words = ["sbatch", "--parsable", f"--output={folder}/out", f"--error={folder}/err", *options, str(folder / "job.sh")]
        done = subprocess.run(words, cwd=cwd or folder, capture_output=True, text=True, check=False,
                              env={**os.environ, **variables})
        if done.returncode:
            raise AssertionError(f"{' '.join(words)}\n{done.stderr}")
        return folder, done.stdout.strip()

    def collect(self, job, limit=30):
        """What a submitted job has left when it is over."""
        folder, number = job
        read = lambda name: (folder / name).read_text() if (folder / name).exists() else ""
        try:
            wait_for(lambda: self.exit_code(number) is not None, f"job {number}", limit)
        except AssertionError as late:
            subprocess.run(["scancel", "--signal=KILL", "--full", number], check=False)
            raise AssertionError(f"{late}\n{read('out')}\n{read('err')}") from None
        return Done(self.exit_code(number), read("out"), read("err"))

    def exit_code(self, number):
        """That of the script, or minus the signal that ended it; None while the job lasts."""
        shown = subprocess.run(["scontrol", "show", "job", number], capture_output=True, text=True, check=True).stdout
        state = re.search(r"JobState=(\w+)", shown)[1]
        code, signal = map(int, re.search(r"ExitCode=(\d+):(\d+)", shown).groups())
        return None if state in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING") else code or -signal


cluster = None


def start():
    """For setUpModule(): the cluster of this test, which ends with it. Kontor's runs are those of the build."""
    global cluster
    hosts.require_isolation()
    os.environ.update(KONTOR_BUILD_DIR=str(BUILD), KONTOR_BUILT="1")
    for name in [name for name in os.environ if name.startswith("OMPI_MCA_") and name not in hosts.NETWORK]:
        del os.environ[name]
    cluster = Cluster()
    unittest.addModuleCleanup(cluster.end)
