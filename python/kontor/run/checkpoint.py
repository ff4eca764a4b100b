# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The app and the ranks of a checkpoint: of a file, or of the name that stands for several (NAME-checkpoint.h5), of which
the newest that can be read counts. Whether it is whole is for the app to find out, which then takes the one before."""

import re
from contextlib import suppress
from pathlib import Path

from ..messages import Failure
from ..report.record import read_json

Header = tuple[int, str, int]  # number, app, ranks


def of_checkpoint(name: str) -> tuple[str, int]:
    """Its app and its ranks. Failure if there is none."""
    found, problems = look(Path(name))
    if not found:  # a run may have replaced them by others meanwhile
        found, problems = look(Path(name))
    if not found:
        told = "\n  ".join([f"{name}: there is no checkpoint of that name that can be read", *problems])
        raise Failure(told, error_id="E-FILE-READ")
    _, app, ranks = max(found)
    return app, ranks


def look(path: Path) -> tuple[list[Header], list[str]]:
    """The headers of the files, and why there are none of the others."""
    found: list[Header] = []
    problems: list[str] = []
    for file in named_by(path):
        try:
            found.append(header(file))
        except Failure as error:
            problems.append(str(error))
        except (KeyError, ValueError, TypeError) as error:
            problems.append(f"{file}: {(error.args or [error])[0]}")
    return found, problems


def named_by(file: Path) -> list[Path]:
    """The file, or those that the name stands for."""
    if file.is_file():
        return [file]
    stem = file.stem if file.suffix == ".h5" else file.name
    return sorted(path for path in file.parent.glob("*.h5") if re.fullmatch(re.escape(stem) + r"-\d{9,}", path.stem))


def header(path: Path) -> Header:
    """Raises Failure, and ValueError for a file that is no checkpoint."""
    try:
        members = read_json(str(path), "/checkpoint")
    except Failure as error:
        if "/checkpoint" in str(error) and is_result(path):
            raise ValueError("it is no checkpoint, but the result of a run; leave out --restart to repeat that") from error
        raise
    number, app, ranks = int(members["number"]), str(members["app"]), int(members["ranks"])
    if not re.fullmatch(r"\w+", app):
        raise ValueError(f"it is damaged: its app is {app!r}")
    return number, app, ranks


def is_result(path: Path) -> bool:
    with suppress(Failure):
        read_json(str(path))
        return True
    return False
