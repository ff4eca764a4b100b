#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""checkpoint.py FILE: the app and the ranks of a checkpoint, on one line.

FILE is one, or the name that stands for several (NAME-checkpoint.h5); then the newest that can be read counts. Whether
it is whole is for the app to find out, which then takes the one before.
"""

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

Header = tuple[int, str, int]  # number, app, ranks

sys.path[0] = str(Path(__file__).resolve().parents[2])
from kontor.report.errors import RecordError, isolated
from kontor.report.stored import read_json


def named_by(file: Path) -> list[Path]:
    """The file, or those that the name stands for."""
    if file.is_file():
        return [file]
    stem = file.stem if file.suffix == ".h5" else file.name
    return sorted(path for path in file.parent.glob("*.h5") if re.fullmatch(re.escape(stem) + r"-\d{9,}", path.stem))


def header(path: Path) -> Header:
    """Raises RecordError, and ValueError for a file that is no checkpoint."""
    try:
        members = read_json(str(path), "/checkpoint")
    except RecordError as error:
        if "/checkpoint" in str(error) and is_result(path):
            raise ValueError("it is no checkpoint, but the result of a run; leave out --restart to repeat that") from error
        raise
    number, app, ranks = int(members["number"]), str(members["app"]), int(members["ranks"])
    if not re.fullmatch(r"\w+", app):
        raise ValueError(f"it is damaged: its app is {app!r}")
    return number, app, ranks


def is_result(path: Path) -> bool:
    with suppress(RecordError):
        read_json(str(path))
        return True
    return False


def look(path: Path, now: Callable[[str], None]) -> tuple[list[Header], list[str]]:
    """The headers of the files, and why there are none of the others."""
    found: list[Header] = []
    problems: list[str] = []
    for file in named_by(path):
        now(str(file))
        try:
            found.append(header(file))
        except RecordError as error:
            problems.append(str(error))
        except (KeyError, ValueError, TypeError) as error:
            problems.append(f"{file}: {(error.args or [error])[0]}")
    return found, problems


def tell(path: str, now: Callable[[str], None]) -> int:
    """Returns the exit code."""
    found, problems = look(Path(path), now)
    if not found:  # a run may have replaced them by others meanwhile
        found, problems = look(Path(path), now)
    if not found:
        what = f"kontor: {path}: there is no checkpoint of that name that can be read"
        print("\n  ".join([what, *problems]), file=sys.stderr)
        return 2
    _, app, ranks = max(found)
    print(app, ranks)
    return 0


if __name__ == "__main__":
    sys.exit(isolated(lambda now: tell(sys.argv[1], now), sys.argv[1:]))
