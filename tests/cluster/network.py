# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two hosts with a network between them, in the namespaces of hosts.py; root is not needed here either.

    net = network.Network(folder, latency=200e-6, bandwidth=100e6)
    net.start(*net.launcher(2), "-n", "4", program)   # ranks 0 and 1 on the first host, 2 and 3 on the second
    net.end()

Each host has its own name, /dev/shm and network interface; the second one has its own processes, too, so that it
can be killed as a whole. Between the interfaces is a third host, as a switch: delay_line.py carries what comes.
"""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

LINE = Path(__file__).with_name("delay_line.py")
NAMES = ("alpha", "beta-2")
ADDRESSES = ("10.78.0.1", "10.78.0.2")
SUBNET = "10.78.0.0/24"
MTU = "9000"
KINDS = ("--net", "--uts", "--ipc", "--mount")  # of namespaces
PROCESSES = ("--pid", "--fork", "--kill-child", "--mount-proc")
SHELL = """\
#!/bin/sh
# HOST COMMAND...: as ssh does, for mpirun
host=$1; shift
exec {second} --wd="$PWD" sh -c "$*"
"""


def require_network():
    """For setUpModule(), after hosts.require_isolation(): skips where there is no such network."""
    if not shutil.which("ip"):
        raise unittest.SkipTest("no ip: apt-get install iproute2")
    words = ["unshare", "--net", "ip", "link", "add", "name", "kv0", "type", "veth", "peer", "name", "kv1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise unittest.SkipTest(f"no virtual Ethernet here: {done.stderr.strip()}")


def processes_of(*programs):
    """Numbers and names of those that live, of these names."""
    told = subprocess.run(["ps", "-e", "-o", "state=,pid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in told.splitlines()]
    return [f"{number} {name}" for state, number, name in rows if name in programs and state not in "ZX"]


class Host:
    """Lives as long as the process that holds its namespaces."""

    def __init__(self, name, spaces):
        inside = 'hostname "$0" && mount -t tmpfs tmpfs /dev/shm && ip link set lo up && echo ready && read; exit'
        words = ["unshare", *KINDS, *spaces, "bash", "-c", inside, name]
        self.holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "ready\n":
            raise unittest.SkipTest(f"no host {name} here")
        own = Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text().split() if spaces else []
        self.pid = int(own[0]) if own else self.holder.pid
        self.words = ["nsenter", f"--target={self.pid}", *KINDS, *spaces[:1]]

    def run(self, *words):
        """What the command prints."""
        command = [*self.words, *words]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout

    def kill(self):
        """All processes that are its own."""
        os.kill(self.pid, 9)
        self.holder.wait()

    def end(self):
        if self.holder.poll() is None:
            self.kill()
        self.holder.stdin.close()
        self.holder.stdout.close()


class Network:
    """Of the latency (seconds, one way) and bandwidth (bytes per second, each way) of the line."""

    def __init__(self, folder, latency=0.0, bandwidth=1e10):
        self.folder = Path(folder)
        self.hosts = []
        self.line = None
        try:
            for name, spaces in (NAMES[0], ()), (NAMES[1], PROCESSES), ("switch", ()):
                self.hosts.append(Host(name, spaces))
            first, second, switch = self.hosts
            for i, host in enumerate((first, second)):
                switch.run("ip", "link", "add", "name", f"port{i}", "mtu", MTU, "type", "veth",
                           "peer", "name", "eth0", "mtu", MTU, "netns", str(host.pid))
                switch.run("sh", "-c", f"echo 1 >/proc/sys/net/ipv6/conf/port{i}/disable_ipv6; ip link set port{i} up")
                host.run("sh", "-c", f"ip address add {ADDRESSES[i]}/24 dev eth0 && ip link set eth0 up; "
                                     "echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle")
            self.start_line(latency, bandwidth)
            self.shell = self.folder / "on-host"
            self.shell.write_text(SHELL.format(second=" ".join(second.words)))
            self.shell.chmod(0o755)
        except BaseException:
            self.end()
            raise

    def start_line(self, latency, bandwidth):
        words = [*self.hosts[2].words, sys.executable, LINE, "port0", "port1", repr(latency), repr(bandwidth)]
        self.line = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if self.line.stdout.readline() != "ready\n":
            raise AssertionError("the delay line has not begun")

    def cut(self):
        """From now on what hosts send to each other is lost, and neither is told."""
        self.line.kill()
        self.line.wait()

    def end(self):
        if self.line:
            self.cut()
            self.line.stdout.close()
        for host in self.hosts:
            host.end()

    def launcher(self, per_host):
        """mpirun on the first host, with so many ranks of each; options and the program are to follow."""
        local = {"btl_tcp_if_include": SUBNET, "oob_tcp_if_include": SUBNET, "plm": "rsh",
                 "plm_rsh_agent": str(self.shell), "mpi_yield_when_idle": "1"}
        options = [word for item in local.items() for word in ("--mca", *item)]
        return ["mpirun", "--quiet", "--allow-run-as-root", "--bind-to", "none", *options,
                "--host", ",".join(f"{name}:{per_host}" for name in NAMES)]

    def start(self, *words, cwd=".", **options):
        """A command on the first host."""
        return subprocess.Popen([*self.hosts[0].words, f"--wd={cwd}", *words], stdin=subprocess.DEVNULL, **options)

    def packets(self, interface):
        """How many the first host has sent by it so far."""
        told = self.hosts[0].run("cat", "/proc/net/dev").splitlines()
        line = next(line for line in told if line.strip().startswith(f"{interface}:"))
        return int(line.split(":")[1].split()[9])
