# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this process may use of the machine: CPUs by its affinity, CPU time and memory by its control groups."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..messages import said


class Limits:
    def __init__(self, environment: Mapping[str, str] = os.environ):
        self._root = Path(environment.get("KONTOR_LIMITS_ROOT") or "/")  # where proc and sys are, for tests

    def _read(self, name: str | Path) -> str:
        """The file; nothing where it cannot be read."""
        try:
            return (self._root / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def _groups(self, controller: str, version_2: str, version_1: str) -> Iterator[tuple[Path, list[str]]]:
        """These files, with their words, of the group of this process first, then of the groups around it."""
        for line in self._read("proc/self/cgroup").splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers and controller not in controllers.split(","):
                continue
            top, name = (f"sys/fs/cgroup/{controller}", version_1) if controllers else ("sys/fs/cgroup", version_2)
            inside = Path(group.strip("/"))
            # A container may see the path of the host, while its own group is mounted at the top.
            for folder in dict.fromkeys([inside, *inside.parents]):
                file = Path(top) / folder / name
                if words := self._read(file).split():
                    yield file, words

    @property
    def _quota(self) -> int | None:
        """The cores that the least quota of CPU time is worth, rounded up."""
        cores = []
        for file, words in self._groups("cpu", "cpu.max", "cpu.cfs_quota_us"):
            if file.name.endswith("_quota_us"):
                words = words[:1] + self._read(file.with_name("cpu.cfs_period_us")).split()
            if len(words) > 1 and all(re.fullmatch("[1-9][0-9]*", word) for word in words[:2]):  # else "max", -1
                cores.append(-(-int(words[0]) // int(words[1])))
        return min(cores, default=None)

    @property
    def memory(self) -> int | None:
        """The bytes of the least limit of memory."""
        groups = self._groups("memory", "memory.max", "memory.limit_in_bytes")
        return min((int(words[0]) for _, words in groups if re.fullmatch("[0-9]{1,19}", words[0])), default=None)

    @property
    def allowed_cpus(self) -> str:
        """The numbers of the CPUs on which this process may run, as Linux writes them: "0-3,8"."""
        found = re.search(r"(?m)^Cpus_allowed_list:\s*(\S+)", self._read("proc/self/status"))
        return found[1] if found else ",".join(map(str, sorted(os.sched_getaffinity(0))))

    @property
    def machine_cpus(self) -> str:
        """Those that it might have: what the group of CPUs leaves it, else all. They are what launchers know of,
        too."""
        groups = self._groups("cpuset", "cpuset.cpus.effective", "cpuset.effective_cpus")
        found = next((words for _, words in groups), None)
        return (found or self._read("sys/devices/system/cpu/online").split() or [self.allowed_cpus])[0]

    @property
    def is_placed(self) -> bool:
        """Whether somebody has chosen the CPUs of this process out of those that it might have, as by taskset."""
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

    def _at_most_quota(self, count: int) -> int:
        return min(count, self._quota or count)


def _numbers(text: str) -> set[int]:
    """ "0-2,8" is 0, 1, 2 and 8."""
    ranges = [part.partition("-") for part in text.split(",")]
    return {number for first, _, last in ranges for number in range(int(first), int(last or first) + 1)}
