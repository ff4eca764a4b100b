# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups of HDF5 files as plain Python values, by the program that reads records: it compares what it reads with the
checksums of the file."""

import json
import signal
import subprocess
from typing import Any

from ..place import Place
from .errors import RecordError


def read_group(path: str, group: str = "/run", whole: bool = False) -> dict[str, Any]:
    """Attributes, groups, arrays and tables by name, as --results writes them. `whole`: all bytes of the file are
    compared, those of fields too."""
    if path.endswith(".tmp"):
        raise RecordError(f"{path}: unfinished: the run is still going on or was killed; finished files end in .h5")
    program = Place.here().program("kontor-record")
    try:
        done = subprocess.run([program, *["--whole"] * whole, path, group], capture_output=True, text=True,
                              encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise RecordError(f"{path}: {program}, which reads it, cannot be started: {error.strerror}; 'kontor build "
                          "kontor_record' builds it", "E-BUILD-FAILED") from error
    if done.returncode < 0:
        raise RecordError(f"{path}: cannot be read, so the file is damaged: reading it ends with "
                          f"{signal.Signals(-done.returncode).name}", "E-FILE-DAMAGED")
    if done.returncode:
        raise RecordError(done.stderr.strip())
    found: dict[str, Any] = json.loads(done.stdout)
    return found
