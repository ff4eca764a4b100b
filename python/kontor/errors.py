# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Error ids: a message ends with the id of its cause on its first line, as in `plate.yaml:4:3: ... [E-...]`.

docs/reference/errors.md lists all ids, errors/include/kontor/errors/id.hpp those that C++ raises.
"""

from __future__ import annotations

import re

IN_A_MESSAGE = re.compile(r" \[(E-[A-Z-]+)\]")


def with_id(message: str, name: str) -> str:
    """The message with an id at the end of its first line: the first that the line quotes, else `name`."""
    first, newline, rest = message.partition("\n")
    found = IN_A_MESSAGE.search(first)
    return f"{IN_A_MESSAGE.sub('', first)} [{found[1] if found else name}]{newline}{rest}"
