# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages of Debian and Ubuntu: the lists of scripts/, and their installation by apt-get."""

from __future__ import annotations

import glob
import os
import re
import subprocess
import sys
from pathlib import Path

from ..messages import Failure, have, said, say
from .log import Log


def missing(*lists: Path) -> list[str]:
    """The names in these files, those that there are, that are not installed. None where packages are not Debian's."""
    if not (have("apt-get") and have("dpkg-query")):
        return []
    text = "\n".join(file.read_text(encoding="utf-8") for file in lists if file.exists())
    wanted = set(re.findall(r"(?m)^[^#\s]+", text))
    known = said("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *sorted(wanted))
    return sorted(wanted - set(re.findall("(?m)^(.*) installed$", known)))


def install(names: list[str], log: Log) -> None:
    apt = [*_as_root(names), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    command = [*apt, "install", "--yes", "--no-install-recommends", *names]
    say(f"installing {len(names)} packages (about a minute): {' '.join(names)}")
    if not glob.glob("/var/lib/apt/lists/*_Packages*"):
        log.run([*apt, "update"])
    # A second try with fresh lists: old ones name files that the mirror no longer has.
    if not log.run(command) and not (log.run([*apt, "update"]) and log.run(command)):
        log.show_end()
        raise Failure(f"apt-get could not install; the whole output is in {log}", error_id="E-BUILD-PACKAGE")


def _as_root(names: list[str]) -> list[str]:
    if os.geteuid() == 0:
        return []
    if have("sudo"):
        quiet = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
        if quiet.returncode == 0 or sys.stdin.isatty() and subprocess.run(["sudo", "-v"], check=False).returncode == 0:
            return ["sudo"]
    raise Failure("packages are missing, and installing them needs root or sudo. Have this run once:\n"
                  f"apt-get install --no-install-recommends {' '.join(names)}", error_id="E-BUILD-PACKAGE")
