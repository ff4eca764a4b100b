# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a bare machine to built programs: packages, configuration, compilation. Does only what is still to do."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from ..limits import Limits
from ..messages import Failure, have, said, say, shown
from ..place import Place
from .log import Log

LACKS = re.compile(r"Kontor needs|Could NOT find|No CMAKE_C(XX)?_COMPILER|build program corresponding to")


class Build:
    def __init__(self, place: Place, environment: Mapping[str, str], options: Sequence[str] = (),
                 for_tests: bool = False):
        self.place, self.environment = place, environment
        self._options, self._for_tests = list(options), for_tests  # CMake's options of this call
        self.folder = place.build.absolute()

    @cached_property
    def log(self) -> Log:
        return Log(self.folder / "kontor-build.log")

    def ensure(self, target: str) -> None:
        """Returns when the target is built and up to date."""
        if self.environment.get("KONTOR_BUILT") or not self.place.is_source:
            return  # the caller has seen to it
        if self.is_configured and not (have("cmake") and os.access(self.folder, os.W_OK)):
            say(f"cannot build here (no cmake, or a read-only folder): using {shown(self.folder)} as it is")
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        # Two runs that start at once must not build at once, unless the file system has no locks.
        with open(self.folder / "kontor-build.lock", "w", encoding="ascii") as lock:
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.is_configured or self._options:
                self._configure()
                self._options = []
            if self._for_tests:
                self._get_test_packages()
            self._compile(target)

    @property
    def is_configured(self) -> bool:
        return any((self.folder / name).exists() for name in ("build.ninja", "Makefile"))

    @property
    def can_configure(self) -> bool:
        return have("cmake") and any(map(have, (self.environment.get("CXX") or "c++", "g++", "clang++")))

    @property
    def jobs(self) -> str:
        return self.environment.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(Limits(self.environment).processing_units)

    def _configure(self) -> None:
        if self.can_configure:
            if self._run_cmake():
                return
            if not LACKS.search(self.log.text):
                raise self._cannot_configure()
        if not self.install_missing():
            if not self.can_configure:
                say("a C++20 compiler and CMake (3.22 or later) are not both on PATH")
            raise self.log.failed("set-up stopped: get what scripts/packages.txt lists (Spack, modules, own builds), then run"
                                  " this again", "E-BUILD-PACKAGE", code=2)
        (self.folder / "CMakeCache.txt").unlink(missing_ok=True)  # it remembers what was not found
        shutil.rmtree(self.folder / "CMakeFiles", ignore_errors=True)
        if not self._run_cmake():
            raise self._cannot_configure()

    def _cannot_configure(self) -> Failure:
        return self.log.failed("CMake could not configure", code=2)

    def _run_cmake(self) -> bool:
        say("configuring (some seconds)")
        # Ninja where it is, because a bare Debian has no make; else CMake's default.
        ninja = ["-G", "Ninja"] if have("ninja") and not (self.folder / "CMakeCache.txt").exists() else []
        words = ["cmake", "--preset", self.place.preset, "-B", str(self.folder), *ninja, *self._options]
        return self.log.run(words, self.place.root)

    def install_missing(self, *lists: str) -> bool:
        """Whether there was something to install, of these lists or of those for all."""
        names = lists or ("packages.txt", f"packages-{self.place.preset}.txt")
        missing = missing_packages(*(self.place.root / "scripts" / name for name in names))
        if missing:
            install_packages(missing, self.log)
        return bool(missing)

    def _get_test_packages(self) -> None:
        """Tests are skipped without these, so they are asked for once in a build folder, and done without where they
        cannot be had."""
        asked = self.folder / "kontor-test-packages"
        if asked.exists():
            return
        asked.touch()
        try:
            is_new = self.install_missing("packages-test.txt")
        except Failure as failure:
            say(f"{failure}\nkontor: continuing without: the tests that need them are skipped")
            return
        if is_new and not self._run_cmake():
            raise self._cannot_configure()

    def _compile(self, target: str) -> None:
        words = ["cmake", "--build", str(self.folder), "--target", target, "--parallel", self.jobs]
        if self.log.show_progress(self.log.start(words)) != 0:
            raise self.log.failed("the build failed")


def missing_packages(*lists: Path) -> list[str]:
    """The names in these files, those that there are, that are not installed. None where packages are not Debian's."""
    if not (have("apt-get") and have("dpkg-query")):
        return []
    text = "\n".join(file.read_text(encoding="utf-8") for file in lists if file.exists())
    wanted = set(re.findall(r"(?m)^[^#\s]+", text))
    known = said("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *sorted(wanted))
    return sorted(wanted - set(re.findall("(?m)^(.*) installed$", known)))


def install_packages(names: list[str], log: Log) -> None:
    apt = [*_as_root(names), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    command = [*apt, "install", "--yes", "--no-install-recommends", *names]
    say(f"installing {len(names)} packages (about a minute): {' '.join(names)}")
    if not (log.run([*apt, "update"]) and log.run(command)):  # old lists name files that the mirror no longer has
        raise log.failed("apt-get could not install", "E-BUILD-PACKAGE", code=2)


def _as_root(names: list[str]) -> list[str]:
    if os.geteuid() == 0:
        return []
    if have("sudo"):
        quiet = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
        if quiet.returncode == 0 or sys.stdin.isatty() and subprocess.run(["sudo", "-v"], check=False).returncode == 0:
            return ["sudo"]
    raise Failure("packages are missing, and installing them needs root or sudo. Have this run once:\n"
                  f"apt-get install --no-install-recommends {' '.join(names)}", error_id="E-BUILD-PACKAGE")
