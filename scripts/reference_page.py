# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the generators of docs/reference share: their command line, the part by hand of a page, and --check."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = "build/bin/{heat,pingpong,advection,cg,matmul}"


def usage(script: str, page: str) -> str:
    command = f"scripts/{script} docs/reference/{page} {PROGRAMS}"
    return f"{command}\n  writes the page; with --check it exits with 1 if that would change it"


def parser(description: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("page", type=Path, help="the Markdown file")
    made.add_argument("programs", nargs="+", help="the mini-apps, in this order")
    made.add_argument("--check", action="store_true", help="change nothing")
    made.add_argument("--mpirun", default="mpirun", help="words that start MPI programs, before -n")
    return made


def by_hand(page: Path, marker: str) -> tuple[str, str]:
    """The text up to the marker, with it, and the text behind it."""
    head, found, rest = page.read_text(encoding="utf-8").partition(marker)
    if not found:
        sys.exit(f"{page}: has no line {marker.strip()}")
    return head + marker, rest


def finish(arguments: argparse.Namespace, text: str, same: Callable[[str, str], bool] = str.__eq__) -> None:
    """Writes the page, or ends with 1 if it has another text."""
    page: Path = arguments.page
    if not arguments.check:
        page.write_text(text, encoding="utf-8")
    elif not page.exists() or not same(text, page.read_text(encoding="utf-8")):
        sys.exit(f"{page} is out of date: run {sys.argv[0]} {page} {' '.join(arguments.programs)}")
