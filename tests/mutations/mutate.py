#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mutate.py TABLE FOLDER: writes the sources that a table of mutants names, with all of its mistakes in them.

The text `right` becomes a choice at run time between it and the texts `wrong`, in which @ stands for it: of statements
where it ends in ; or }, else of an expression. FOLDER/sources.cpp includes all sources of the table.
"""

import re
import shutil
import sys
import tomllib
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIRST_ITEM = re.compile(r'"(kernels/[^"]+)",[^;]*?[(, {](0)(?=[,}])')  # a kernel's label, and the first 0 of its policy


def number_of(name):
    """What stands for a mutant's name in a program; 0: the right one."""
    return zlib.crc32(name.encode())


def mutants_in(entries):
    """Those of a table, by name. In files of `first_items` each kernel leaves out its first item, and is the name."""
    groups = [group for group in entries.values() if isinstance(group, dict)]
    found = {name: mutant for group in groups for name, mutant in group.items()}
    for path in sorted((ROOT / entries.get("folder", "")).glob(entries.get("first_items", "no file"))):
        for match in FIRST_ITEM.finditer(path.read_text(encoding="utf-8")):
            found[match[1]] = {"file": path.name, "right": "0", "wrong": "1", "at": match.start(2),
                               "only": path.stem.replace("_", "-")}
    return found


def choice(right, mutants):
    """The right text, or that of the mutant that is chosen."""
    made = [(f"::kontor::mutants::chosen({number_of(name)}u)", wrong.replace("@", right)) for name, wrong in mutants]
    if right.endswith((";", "}")):
        return "{ " + "".join(f"if ({chosen}) {{ {wrong} }} else " for chosen, wrong in made) + f"{{ {right} }} }}"
    return "(" + "".join(f"{chosen} ? ({wrong}) : " for chosen, wrong in made) + f"({right}))"


def mutated(text, mutants, file):
    """The text with these mutants in it; SystemExit if it does not have exactly one place for each."""
    places = {}
    for name, mutant in mutants:
        right = mutant["right"]
        if "at" not in mutant and text.count(right) != 1:
            sys.exit(f"{file} has {text.count(right)} places for '{name}', not one: {right}")
        begin = mutant["at"] if "at" in mutant else text.index(right)
        places.setdefault((begin, right), []).append((name, mutant["wrong"]))
    end = len(text)
    for (begin, right), wrong in sorted(places.items(), reverse=True):
        if begin + len(right) > end:
            sys.exit(f"{file}: the places of '{wrong[0][0]}' and of another mutant overlap: {right}")
        text, end = text[:begin] + choice(right, wrong) + text[begin + len(right) :], begin
    return '#include "mutants.hpp"\n' + text


def main(table, folder):
    entries = tomllib.loads(Path(table).read_text(encoding="utf-8"))
    base, of_file = ROOT / entries.get("folder", ""), {}
    for name, mutant in mutants_in(entries).items():
        for place in (mutant, *(also for key, also in mutant.items() if key.startswith("also"))):
            of_file.setdefault(base / place["file"], []).append((name, place))
    sources = list(dict.fromkeys(path for part in entries["sources"].split() for path in sorted(base.glob(part))))
    shutil.rmtree(folder, ignore_errors=True)  # of a table that was another one
    lines = []
    for file in [*sources, *(file for file in of_file if file not in sources)]:
        used = file
        if file in of_file:
            used = Path(folder, file.relative_to(ROOT)).resolve()
            used.parent.mkdir(parents=True, exist_ok=True)
            used.write_text(mutated(file.read_text(encoding="utf-8"), of_file[file], file), encoding="utf-8")
        if file.suffix == ".cpp":
            lines.append(f'#include "{used}"')
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, "sources.cpp").write_text("\n".join(lines) + "\n", encoding="utf-8")
    read = [Path(__file__), Path(table).resolve(), *of_file]
    Path(folder, "sources.d").write_text(f"{folder}/sources.cpp: {' '.join(map(str, read))}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
