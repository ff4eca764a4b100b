# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this process may use of the machine: CPUs by its affinity, CPU time and memory by the control group that its
container has at the top."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from .messages import said


class Limits:
    def __init__(self, environment: Mapping[str, str] = os.environ):
        self._root = Path(environment.get("KONTOR_LIMITS_ROOT") or "/")  # where proc and sys are, for tests

    def _read(self, name: str) -> str:
        """The file; nothing where it cannot be read."""
        try:
            return (self._root / name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def _at_most_quota(self, count: int) -> int:
        """The cores that the CPU time is worth, rounded up."""
        quota, _, period = self._read("sys/fs/cgroup/cpu.max").partition(" ")
        return min(count, -(-int(quota) // int(period))) if quota.isdigit() and period.isdigit() else count

    @property
    def memory(self) -> int | None:
        """The limit of memory in bytes."""
        limit = self._read("sys/fs/cgroup/memory.max")
        return int(limit) if limit.isdigit() else None

    @property
    def allowed_cpus(self) -> str:
        """The numbers of the CPUs on which this process may run, as Linux writes them: "0-3,8"."""
        found = re.search(r"(?m)^Cpus_allowed_list:\s*(\S+)", self._read("proc/self/status"))
        return found[1] if found else ",".join(map(str, sorted(os.sched_getaffinity(0))))

    @property
    def machine_cpus(self) -> str:
        return self._read("sys/devices/system/cpu/online") or self.allowed_cpus

    @property
    def is_placed(self) -> bool:
        """Whether this process may run on some of the CPUs only, as by taskset."""
        return self.allowed_cpus != self.machine_cpus

    @property
    def processing_units(self) -> int:
        """The CPUs that this process may keep busy."""
        return self._at_most_quota(len(_numbers(self.allowed_cpus)))

    @property
    def physical_cores(self) -> int:
        """The same, where two hardware threads of a core, which share its bandwidth and its arithmetic, count once."""
        allowed = _numbers(self.allowed_cpus)
        listed = re.findall(r"(?m)^(\d+),(.*)$", said("lscpu", "--parse=CPU,CORE,SOCKET"))
        cores = {core for cpu, core in listed if int(cpu) in allowed}
        return self._at_most_quota(len(cores) or self.processing_units)


def _numbers(text: str) -> set[int]:
    """ "0-2,8" is 0, 1, 2 and 8."""
    ranges = [part.partition("-") for part in text.split(",")]
    return {number for first, _, last in ranges for number in range(int(first), int(last or first) + 1)}
