# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of Kontor: runs, studies and reports of its mini-apps."""

import sys

OLDEST = (3, 11)  # Python, also in scripts/kontor and pyproject.toml
if sys.version_info < OLDEST:
    print(f"kontor: Python 3.11 or later is needed, this is {sys.version.split()[0]} of {sys.executable};"
          " set KONTOR_PYTHON [E-USAGE-OPTION]", file=sys.stderr)
    sys.exit(2)
