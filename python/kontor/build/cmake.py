# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How CMake is called."""

from pathlib import Path

from ..messages import have


def generator(folder: Path) -> list[str]:
    """The option for a new build folder: Ninja where it is, because a bare Debian has no make; else CMake's default."""
    return ["-G", "Ninja"] if have("ninja") and not (folder / "CMakeCache.txt").exists() else []
