# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runs that jobs of a study have made, which do not write study.json: each has left an entry next to its run."""

import contextlib
import json
from pathlib import Path
from typing import Any

ENTRY = ".run.json"
Entry = dict[str, Any]


def entries_of_jobs(folder: Path, known: list[Entry]) -> list[Entry]:
    """Those of runs that study.json does not have yet, as they were made."""
    found = []
    for file in (folder / "runs").glob(f"*{ENTRY}"):
        with contextlib.suppress(OSError, ValueError, RecursionError):
            found.append(json.loads(file.read_text(encoding="utf-8")))
    has = {_run(entry) for entry in known}
    entries = [entry for entry in found if isinstance(entry, dict) and _run(entry) not in has]
    return sorted(entries, key=lambda entry: (str(entry.get("started")), str(entry.get("attempt"))))


def _run(entry: Entry) -> tuple[str, ...]:
    return tuple(str(entry.get(key)) for key in ("point", "repeat", "attempt"))
