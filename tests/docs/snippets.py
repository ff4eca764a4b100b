# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""snippets.py OUT.cpp PAGE.md...: a program that runs the pages' C++ blocks that stand under <!-- run -->."""

import sys
from pathlib import Path

from prose import fenced_blocks

BEGIN = """\
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/comm.hpp>

#include <cstdio>

using namespace kontor::comm;

static void run(const Communicator& comm) {
  (void)comm;
"""
END = """\
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    run(Communicator(MPI_COMM_WORLD));
  }
  MPI_Finalize();
}
"""

out, *pages = sys.argv[1:]
parts = []
for page in pages:
    found = [block for block in fenced_blocks(Path(page)) if block.mark == "run"]
    assert found, f"{page}: no block to run"
    for block in found:
        file, line = block.where.rsplit(":", 1)
        parts.append(f'{{\n#line {int(line) + 1} "{file}"\n{block.text}}}\n')
Path(out).write_text(BEGIN + "".join(parts) + END)
