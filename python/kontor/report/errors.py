# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What keeps a record from being shown: its file, or a place where nothing can be written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..messages import Failure
from .text import printable


class RecordError(Failure):
    """A file that cannot be read, or what else the user can mend, with what to do and the id of the cause."""

    def __init__(self, message: str, error_id: str = "E-REPORT-FILE"):
        super().__init__(message, error_id=error_id)


def reason(error: BaseException) -> str:
    """In one line, of at most 200 characters."""
    return printable(" ".join(str(error).split()))[:200] or type(error).__name__


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
        raise RecordError(f"{path}: cannot be read, so the file is damaged: {reason(error)}") from error


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Around what writes a file; `what` names it, and the option that asks for it."""
    try:
        yield
    except (OSError, ValueError) as error:  # a folder that is not there, an unknown kind of picture
        why = getattr(error, "strerror", None) or error
        raise RecordError(f"{what} cannot be written: {why}", "E-FILE-WRITE") from error
