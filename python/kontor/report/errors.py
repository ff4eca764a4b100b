# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What keeps a record from being shown: its file, Python's packages, or a defect of Kontor."""

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from ..messages import Failure
from .text import printable


class RecordError(Failure):
    """A file that cannot be read, or what else the user can mend, with what to do and the id of the cause."""

    def __init__(self, message: str, error_id: str = "E-REPORT-FILE"):
        super().__init__(message, error_id=error_id)


def _reason(error: BaseException) -> str:
    """In one line, of at most 200 characters."""
    return printable(" ".join(str(error).split()))[:200] or type(error).__name__


def placed(error: BaseException) -> str:
    """The reason, with its kind and where it was thrown."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {_reason(error)} ({printable(last.filename)}, line {last.lineno})"


@contextmanager
def read_as_damaged(path: object) -> Iterator[None]:
    """Around what reads a file: any exception becomes one line about it, because damage has no end of symptoms."""
    try:
        yield
    except (RecordError, ImportError):
        raise
    except Exception as error:  # pylint: disable=broad-except
        if isinstance(error, OSError) and error.errno:  # what the system says is not the file's fault
            raise RecordError(f"{path}: cannot be read: {os.strerror(error.errno)}") from error
        raise RecordError(f"{path}: cannot be read, so the file is damaged: {_reason(error)}") from error


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Around what writes a file; `what` names it, and the option that asks for it."""
    try:
        yield
    except (OSError, ValueError) as error:  # a folder that is not there, an unknown kind of picture
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"{what} cannot be written: {reason}", "E-FILE-WRITE") from error


@contextmanager
def packages(what: str) -> Iterator[None]:
    """Around imports that `what` needs, such as --plot: what fails there is Python's installation, not a file."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise RecordError(f"{what} needs Python with {error.name}: apt-get install python3-{error.name}",
                          "E-REPORT-PACKAGE") from error
    except Exception as error:  # pylint: disable=broad-except
        raise RecordError(f"{what}: a package of Python cannot be loaded: {placed(error)}; KONTOR_PYTHON names "
                          "another Python", "E-REPORT-PACKAGE") from error
