# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor app: becomes the program of a mini-app, which may be a rank of a launcher."""

import os

from .messages import Failure
from .place import Place


def main(words: list[str]) -> int:
    place = Place.here()
    if not words:
        print(*place.apps, sep="\n")
        return 0
    name = words[0]
    if name not in place.apps:
        raise Failure(f"app: '{name}' is unknown; allowed are: {' '.join(place.apps)}")
    program = place.program(name)
    if not os.access(program, os.X_OK):
        raise Failure(f"app: {place.lacks(name)}", error_id="E-BUILD-FAILED")
    os.execv(program, [str(program), *words[1:]])
