# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records of HDF5 files, which are texts of JSON, by the program that reads them: it compares what it reads with the
checksums of the file."""

import json
import signal
import subprocess
from typing import Any

from ..place import Place
from .errors import RecordError


def read_json(path: str, name: str = "/run", whole: bool = False) -> dict[str, Any]:
    """What --results writes, or the text of another name. `whole`: all bytes of the file are compared, those of fields
    too."""
    if path.endswith(".tmp"):
        raise RecordError(f"{path}: unfinished: the run is still going on or was killed; finished files end in .h5")
    place = Place.here()
    program = place.program("kontor-record")
    try:
        done = subprocess.run([program, *["--whole"] * whole, path, name], capture_output=True, text=True,
                              encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise RecordError(f"{path}: {place.lacks(program.name)} ({error.strerror})", "E-BUILD-FAILED") from error
    if done.returncode < 0:
        raise RecordError(f"{path}: cannot be read, so the file is damaged: reading it ends with "
                          f"{signal.Signals(-done.returncode).name}", "E-FILE-DAMAGED")
    if done.returncode:
        raise RecordError(done.stderr.strip())
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        raise RecordError(f"{path}: cannot be read, so the file is damaged: {name} is no JSON: {error}", "E-FILE-DAMAGED") from error
    if not isinstance(found, dict):
        raise RecordError(f"{path}: cannot be read, so the file is damaged: {name} is no object of JSON", "E-FILE-DAMAGED")
    return found
