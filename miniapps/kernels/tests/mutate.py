#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mutate.py FILE SOURCE...: one copy of all; a kernel leaves out its first item if KONTOR_MUTATION is its name."""

import re
import sys
from pathlib import Path

FIRST_ITEM = re.compile(r'("kernels/([^"]+)",[^;]*?[(, {])0(?=[,}])')  # the label of a kernel, and the first 0 of its policy
OTHERS = {  # what is in a source, and what is there instead
    "volume": ("- y[7] * z54;", "- y[7] * (MUTATED ? -z54 : z54);"),
    "Gauss points": ("constexpr double near = ", "const double near = MUTATED ? 0.2 : "),
    "spmv teams": ("league_rank() * team_rows,", "league_rank() * team_rows + MUTATED,"),
    "sum over ranks": ("dots.start(instance);", "dots.exchange(!MUTATED); dots.start(instance);"),
}
MUTATED = """#include <cstdlib>
#include <string_view>
static bool mutated(std::string_view name) {
  static const char* const wanted = std::getenv("KONTOR_MUTATION");
  return wanted && wanted == name;
}
"""


def mutate(text):
    """The text with all its mutations, and their names."""
    names = [match[2] for match in FIRST_ITEM.finditer(text)]
    text = FIRST_ITEM.sub(r'\1mutated("\2")', text)
    for name, (right, wrong) in OTHERS.items():
        if right in text:
            names.append(name)
            text = text.replace(right, wrong.replace("MUTATED", f'mutated("{name}")'))
    return text, names


if __name__ == "__main__":
    mutants = [mutate(Path(source).read_text(encoding="utf-8"))[0] for source in sys.argv[2:]]
    Path(sys.argv[1]).write_text(MUTATED + "".join(mutants), encoding="utf-8")
