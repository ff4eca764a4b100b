# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names for places in a program. The same code in two programs has the same name."""

import bisect
import functools
import subprocess

from .launch import BUILD


@functools.cache
def functions(app: str) -> tuple[list[int], list[str]]:
    """Where they begin, in order, and their names. Empty without nm, or in a program without symbols."""
    try:
        listed = subprocess.run(["nm", "-C", "--numeric-sort", BUILD / "bin" / app], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return [], []
    lines = [line.split(" ", 2) for line in listed.splitlines() if not line.startswith(" ")]
    return [int(line[0], 16) for line in lines], [line[2] for line in lines]


def name_of(app: str, place: str) -> str:
    """`function+offset` for a place in the program; a place in a library is its own name."""
    module, _, offset = place.partition("+")
    begins, names = functions(app)
    if module != app or not begins:
        return place
    index = bisect.bisect_right(begins, int(offset, 16)) - 1
    return f"{names[index]}+{int(offset, 16) - begins[index]:#x}"
