# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where Kontor is: its source tree and build folder, or the prefix that it is installed below."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .messages import said, shown


@dataclass(frozen=True)
class Place:
    root: Path  # of the source tree, or <prefix>/share/kontor; it has inputs/
    build: Path  # it has the programs: the build folder, or <prefix>
    preset: str
    is_source: bool

    @classmethod
    def here(cls, environment: Mapping[str, str] = os.environ) -> Place:
        package = Path(__file__).resolve().parent
        root, preset = package.parents[1], environment.get("KONTOR_PRESET") or "release"
        if (root / "CMakeLists.txt").exists():
            build = root / ("build" if preset == "release" else f"build-{preset}")
            return cls(root, Path(environment.get("KONTOR_BUILD_DIR") or build), preset, True)
        prefix = package.parents[3]
        if not (root / "inputs").exists():  # the package alone, as pip installs it: the programs are those on PATH
            prefix = Path(shutil.which("kontor-deck") or package).resolve().parent.parent
            root = prefix / "share/kontor"
        return cls(root, Path(environment.get("KONTOR_BUILD_DIR") or prefix), preset, False)

    @property
    def kontor(self) -> Path:
        """The command, as a program to start."""
        return self.root / "scripts/kontor" if self.is_source else self.build / "bin/kontor"

    @property
    def version(self) -> str:
        file = self.root / "VERSION"
        if file.exists():
            return file.read_text(encoding="ascii").strip()
        from importlib import metadata  # it takes longer than all the rest
        return metadata.version("kontor")

    @property
    def revision(self) -> str:
        """Of the sources, or of those that the installation was built from."""
        if self.is_source:  # not of a repository around an archive
            git = ["git", "-c", "safe.directory=*", f"--git-dir={self.root}/.git", f"--work-tree={self.root}"]
            return said(*git, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").strip() or "unknown"
        file = self.root / "revision.txt"
        return file.read_text(encoding="ascii").strip() if file.exists() else "unknown"

    def program(self, name: str) -> Path:
        """A mini-app or a tool. Installed mini-apps are not on PATH: others have such names."""
        installed = self.build / "libexec/kontor" / name
        return installed if installed.exists() else self.build / "bin" / name

    def lacks(self, name: str) -> str:
        """The message about a program that is not there."""
        file = shown(self.program(name))
        return f"{file} is not built: run 'kontor build'" if self.is_source else f"{file} is not installed"

    @cached_property
    def _cache(self) -> str:
        file = self.build / "CMakeCache.txt" if self.is_source else self.root / "installed.txt"
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""

    @property
    def is_configured(self) -> bool:
        return bool(self._cache)

    def setting(self, name: str) -> str:
        """A variable of the build's CMake cache; empty without one. An installation has some of them in a file."""
        found = re.search(rf"(?m)^{name}:[A-Z]*=(.*)$", self._cache)
        return found[1] if found else ""

    @property
    def apps(self) -> list[str]:
        """As CMake lists them."""
        if not self.is_source:
            return self.setting("KONTOR_APPS").split(";")
        listed = re.search(r"(?m)^set\(apps ([\w ]+)", (self.root / "miniapps/CMakeLists.txt").read_text(encoding="utf-8"))
        return listed[1].split() if listed else []

    @property
    def mpirun(self) -> str:
        """That of the MPI that was linked: another one would start single processes that do not see each other."""
        linked, first = self.setting("MPIEXEC_EXECUTABLE"), shutil.which("mpirun") or "./mpirun"
        return "mpirun" if linked in ("", str(Path(first).parent / "mpiexec")) else linked

    @property
    def decks(self) -> list[Path]:
        """Those that come with Kontor; inputs/ has studies, too."""
        return sorted(file for file in self.root.glob("inputs/*/*.yaml") if re.search(rb"(?m)^app:", file.read_bytes()))

    def find(self, name: str) -> str:
        """A file here, else one of inputs/ of this name."""
        places = (str(self.root / folder / name) for folder in ("", "inputs"))
        return name if os.path.exists(name) else next(filter(os.path.isfile, places), name)

    def lasting(self, path: Path) -> str:
        """From `root` if it lies below, else absolute."""
        return str(path.relative_to(self.root) if path.is_relative_to(self.root) else path)


def nearest(name: str, known: Iterable[str | Path]) -> str:
    """'; did you mean ranks?', of words or of files; the known words where none is near."""
    from difflib import get_close_matches  # only for what is wrong
    by_name = {each.name if isinstance(each, Path) else each: each for each in known}
    files = any(isinstance(each, Path) for each in by_name.values())
    if found := get_close_matches(Path(name).name if files else name, by_name, n=1):
        return f"; did you mean {shown(by_name[found[0]])}?"
    return f"; known are: {', '.join(by_name)}" if not files and len(by_name) <= 30 else ""
