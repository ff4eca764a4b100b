# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Slurm of the test's own: a controller and two nodes, without munge and systemd, in the namespaces of hosts.py.

    def setUpModule():
        slurm.start()

    done = slurm.cluster.collect(slurm.cluster.submit(folder, "srun hostname", "--nodes=2"))

Each node, n0 and n1, says that it has four cores, whatever the machine has.
"""

import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

import hosts

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
        self.daemons = []
        try:
            self.start("slurmctld", "-D")
            for node in NODES:
                self.start(*hosts.on_host(node), "slurmd", "-D", "-N", node)
            hosts.wait_for(lambda: self.states() == ["idle"] * len(NODES), "the start of Slurm", 20)
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

    def submit(self, folder, script, *options):
        """The number of a job in that folder, whose script is these lines of bash."""
        words = ["sbatch", "--parsable", "--output=%j.out", "--error=%j.err", *options]
        done = subprocess.run(words, input=f"#!/bin/bash\n{script}\n", cwd=folder, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise AssertionError(f"{' '.join(words)}\n{done.stderr}")
        return done.stdout.strip()

    def collect(self, folder, number, limit=30):
        """What a submitted job has left when it is over."""
        told = [folder / f"{number}.{name}" for name in ("out", "err")]
        texts = lambda: [path.read_text() if path.exists() else "" for path in told]
        hosts.wait_for(lambda: self.exit_code(number) is not None, lambda: f"job {number}: {texts()}", limit)
        return subprocess.CompletedProcess(number, self.exit_code(number), *texts())

    def exit_code(self, number):
        """That of the script, or minus the signal that ended it; None while the job lasts."""
        shown = subprocess.run(["scontrol", "show", "job", number], capture_output=True, text=True, check=True).stdout
        state = re.search(r"JobState=(\w+)", shown)[1]
        code, signal = map(int, re.search(r"ExitCode=(\d+):(\d+)", shown).groups())
        return None if state in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING") else code or -signal


cluster = None


def start():
    """For setUpModule(): the cluster of this test, which ends with it."""
    global cluster
    hosts.require_isolation()
    for name in [name for name in os.environ if name.startswith("OMPI_MCA_")]:
        del os.environ[name]
    os.environ.update(hosts.NETWORK)
    cluster = Cluster()
    unittest.addModuleCleanup(cluster.end)
