# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong with a study: collected, so that all of it is told at once."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from kontor.messages import with_id
from kontor.report.text import printable

MOST = 20  # problems that are listed


class StudyError(Exception):
    """What ends `kontor study`, with its exit code: 2 for what the user can mend, 3 for what failed at run time."""

    def __init__(self, message: str, error_id: str = "E-STUDY-FILE", code: int = 2, places: bool = False) -> None:
        super().__init__(with_id(message, error_id))
        self.code, self.places = code, places

    def text(self) -> str:
        """Lines that begin with a place, as compilers have them; others say who speaks, and details stand below."""
        return str(self) if self.places else "kontor: " + str(self).replace("\n", "\n  ")


class Problems:
    """Each is a place, such as study.yaml:3:7, and a message."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, place: str, message: str) -> Any:
        """Returns None, for readers that have no value then."""
        line = with_id(f"{place}: {message}", "E-STUDY-FILE")
        if line not in self.lines:
            self.lines.append(line)

    def raise_any(self) -> None:
        if self.lines:
            more = [f"and {len(self.lines) - MOST} more"] if len(self.lines) > MOST else []
            raise StudyError("\n".join(self.lines[:MOST] + more), places=True)


def nearest(name: str, known: Iterable[str]) -> str:
    """'; did you mean "ranks"?', or the known names where none is near."""
    known = list(known)
    found = get_close_matches(name, known, n=1)
    if found:
        return f'; did you mean "{found[0]}"?'
    return f"; allowed are: {', '.join(known)}" if len(known) <= 30 else ""


def shown(value: object, most: int = 60) -> str:
    """A value as messages show it: printable, and not too long."""
    text = printable(str(value))
    return text if len(text) <= most else f"{text[:most]}..."
