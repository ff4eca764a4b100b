# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor lint: formatting and common mistakes, offline, with the tools that are here."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..messages import Failure, have, say, shown
from ..place import Place
from ..run.limits import Limits

SHELL = ("*.sh", "scripts/kontor", ".ci/run")
LICENSED = ("*.cpp", "*.hpp", "*.in", "*.cmake", "CMakeLists.txt", "*/CMakeLists.txt", "*.py", *SHELL)
CHECKS = ("format", "tidy", "language", "licence", "python", "shell")


def main(words: list[str]) -> int:
    chosen = [word for word in words if word != "--fix"]
    if wrong := [word for word in chosen if word not in CHECKS]:
        raise Failure(f"lint: '{wrong[0]}' is neither --fix nor a check; there are {', '.join(CHECKS)}")
    place = Place.here()
    place.need_source("lint")
    if not have("git"):
        raise Failure("lint needs git, to know which files are the project's")
    lint = Lint(place, fix="--fix" in words)
    found = [name for name in chosen or CHECKS if not getattr(lint, name)()]
    for text in [f"findings from {name}" for name in found] or ["nothing found"]:
        say(f"lint: {text}")
    return 1 if found else 0


@dataclass
class Lint:
    """Each check returns whether all is well."""

    place: Place
    fix: bool

    def _sources(self, *patterns: str) -> list[str]:
        """The project's files: what git tracks or would track."""
        words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
        listed = subprocess.run(words, cwd=self.place.root, stdout=subprocess.PIPE, text=True, check=True).stdout
        return sorted({name for name in listed.split("\0") if name and (self.place.root / name).is_file()})

    def _passes(self, *words: str, stderr: int | None = None) -> bool:
        return subprocess.run(words, cwd=self.place.root, stderr=stderr, check=False).returncode == 0

    def _finds_no(self, findings: list[str]) -> bool:
        print("".join(f"{finding}\n" for finding in findings), end="", file=sys.stderr)
        return not findings

    def format(self) -> bool:
        """The style is version 14's: others format a few things differently."""
        tool = _first_of("clang-format-14", "clang-format")
        mode = ["-i"] if self.fix else ["--dry-run", "--Werror"]
        return not tool or self._passes(tool, "--style=file", *mode, *self._sources("*.cpp", "*.hpp"))

    def tidy(self) -> bool:
        """Only what is compiled here has an entry to check with. Tests use C++20 that clang 14 does not compile yet."""
        tool = _first_of("clang-tidy-14", "clang-tidy")
        database, own = self.place.build / "compile_commands.json", self.place.build / "clang-tidy"
        if not tool:
            return True
        if not database.exists():
            say(f"lint: no {shown(database)}: run kontor build first; clang-tidy left out")
            return True
        entries = _for_clang(database)
        own.mkdir(exist_ok=True)
        (own / "compile_commands.json").write_text(json.dumps(entries, indent=1), encoding="utf-8")
        compiled = {entry["file"] for entry in entries}
        files = [name for name in self._sources("*.cpp", ":!:*/tests/*") if str(self.place.root / name) in compiled]
        words = (tool, "--quiet", "-p", str(own.absolute()))
        with ThreadPoolExecutor(Limits().processing_units) as pool:
            return all(list(pool.map(lambda name: self._passes(*words, name, stderr=subprocess.DEVNULL), files)))

    def language(self) -> bool:
        return self._passes(sys.executable, "tests/docs/language.py")

    def licence(self) -> bool:
        line = b"SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
        files = [name for name in self._sources(*LICENSED) if line not in (self.place.root / name).read_bytes()]
        return self._finds_no([f"{name}: no SPDX-License-Identifier line" for name in files])

    def python(self) -> bool:
        errors = [_syntax_error(self.place.root / name) for name in self._sources("*.py")]
        good = [self._finds_no(list(filter(None, errors)))]
        if ruff := _first_of("ruff"):
            good.append(self._passes(ruff, "check", *["--fix"] * self.fix, "python"))
        if mypy := _first_of("mypy"):
            good.append(self._passes(mypy, "--no-error-summary", "python/kontor"))
        return all(good)

    def shell(self) -> bool:
        tool = _first_of("shellcheck")
        return not tool or self._passes(tool, *self._sources(*SHELL))


def _first_of(*tools: str) -> str:
    """The first that is installed; says so when none is."""
    found = next(filter(have, tools), "")
    if not found:
        say(f"lint: {tools[0]} is not installed (apt-get install {tools[0]}); left out")
    return found


def _syntax_error(file: Path) -> str:
    try:
        compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"{file}:{error.lineno}: {error.msg}"
    return ""


def _for_clang(database: Path) -> list[dict[str, str]]:
    """The entries of compile_commands.json, one for each source: of those, too, that are compiled together. clang
    cannot read what g++ precompiled, nor some of its options."""
    entries = []
    for entry in json.loads(database.read_text(encoding="utf-8")):
        unreadable = r" -Winvalid-pch -include \S*cmake_pch\.hxx| -fpch-preprocess| --param=\S*"
        command, file = re.sub(unreadable, "", entry["command"]), entry["file"]
        sources = [file]
        if "Unity" in Path(file).parts and Path(file).exists():
            sources = re.findall(r'(?m)^#include "(.*)"$', Path(file).read_text(encoding="utf-8"))
        entries += [{**entry, "file": source, "command": command.replace(file, source)} for source in sources]
    return entries
