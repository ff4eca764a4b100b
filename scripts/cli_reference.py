#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python/kontor/cli.md, from `--help` of the programs and of the command `kontor`, which reads some of it there."""

import os
import re
import subprocess
import sys
from pathlib import Path

from reference_page import ROOT, generate

KONTOR = ROOT / "scripts/kontor"
WIDTH = 100
ABOUT = """`kontor help` and `kontor COMMAND --help` print the blocks of this page. `kontor app NAME --help` is that of a program.
scripts/cli_reference.py renews those of compare, benchmark, report, study, predict and the programs.
"""


def help_of(command: list[str]) -> str:
    kept = {name: value for name, value in os.environ.items() if not re.match("KONTOR_(?!PYTHON)", name)}
    environment = {**kept, "COLUMNS": str(WIDTH), "NO_COLOR": "1", "KONTOR_BUILT": "1"}
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} --help: exit code {done.returncode}\n{done.stderr}")
    text = re.sub(r"(?m)^( +-\w) [A-Z]\S*, (--[\w-]+ [A-Z])", r"\1, \2", done.stdout)  # as Python 3.13 prints it
    text = re.sub(r"(?m)^( +-\w), {2,}(--)", r"\1,\2", text)  # CLI11 2.6 in the form of 2.3
    text = re.sub(r"(?m)^(\w+ \[OPTIONS\])", r"Usage: \1", text)
    text = text.replace("POSITIONALS:", "Positionals:").replace("OPTIONS:", "Options:")
    return "".join(f"{line.rstrip()}\n" for line in text.strip().splitlines())


def fenced(text: str) -> str:
    return f"```text\n{text}```\n"


def programs_section(programs: list[str]) -> str:
    """What each is, and the options, which all share."""
    helps = {Path(program).name: help_of([program]) for program in programs}
    parts = {name: said.partition("Usage:") for name, said in helps.items()}
    rows = "".join(f"| `{name}` | {' '.join(about.split())} |\n" for name, (about, _, _) in parts.items())
    text = f"| program | description |\n|---|---|\n{rows}"
    options = {name: (usage + rest).replace(f"{usage} {name} ", f"{usage} APP ") for name, (_, usage, rest) in parts.items()}
    (shared,) = set(options.values())
    return f"{text}\nOptions of {', '.join(options)}:\n\n{fenced(shared)}"


def commands_section(block: str, called: str) -> str:
    names = [name for name in dict.fromkeys(re.findall(r"(?m)^ {2}kontor (\w+)", block)) if name != "help"]
    sections = (f"### kontor {name}\n\n{fenced(help_of([str(KONTOR), name]))}" for name in names)
    return "\n".join([f"\n## {called}\n\n{fenced(block)}", *sections])


def page(programs: list[str]) -> str:
    everywhere, heading, in_source = help_of([str(KONTOR)]).partition("\nIn a source tree:\n")
    return (f"# Command line\n\n{ABOUT}" + commands_section(everywhere, "kontor")
            + commands_section(heading.lstrip() + in_source, "In a source tree")
            + f"\n## Programs\n\n{programs_section(programs)}")


def same(one: str, other: str) -> bool:
    """Versions of argparse break lines at other places."""
    return one.split() == other.split()


if __name__ == "__main__":
    generate(__doc__, lambda arguments, _: page(arguments.programs), is_whole=True, same=same)
