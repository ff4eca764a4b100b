# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Open MPI's ranks share is a file in /dev/shm, which their mpirun removes, unless it is killed."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

FOLDER = "/dev/shm"
KINDS = ("vader_segment", "sm_segment", "osc_sm", "osc_rdma")  # a file is called KIND.HOST.more


def reclaim() -> None:
    """Removes the files of this user and host that no process has mapped or open: of runs that are dead.

    A process in a container, or below another root, has the file in another folder: names decide.
    """
    host = os.uname().nodename.partition(".")[0]
    names = [path for kind in KINDS for path in glob.glob(f"{FOLDER}/{kind}.{glob.escape(host)}.*")]
    found = {path for path in names if _is_ours(Path(path))}
    if not found:
        return
    in_use = set(_in_use())
    for path in found:
        if os.path.basename(path) not in in_use:
            Path(path).unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink() and path.stat().st_uid == os.geteuid()
    except OSError:
        return False


def _in_use() -> Iterator[str]:
    for link in glob.iglob("/proc/[0-9]*/fd/*"):  # first: what is open now may be mapped then
        try:
            yield os.path.basename(os.readlink(link))
        except OSError:
            pass
    for maps in glob.iglob("/proc/[0-9]*/maps"):
        try:
            lines = Path(maps).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        yield from (os.path.basename(line) for line in lines)
