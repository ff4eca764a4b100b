# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report: shows one run, compares several, reports a study; as text, plots and pages."""

import argparse
import codecs
import importlib
import io
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

from kontor.messages import say
from kontor.report.errors import DRAWING, READING, Now, RecordError, allow, isolated, packages

os.environ["MPLBACKEND"] = "agg"  # what the user's windows are drawn by has no part in plots
PLAIN = {"µ": "u", "±": "+-"}  # what an ASCII terminal cannot show


def parse_arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="kontor report", description="Shows the record of one run; compares several, the first being the "
        "baseline; reports how a study scales, in Markdown.")
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="results of runs, .h5 or .json; or the folder of one study")
    add("--plot", metavar="OUT.png", help="all charts of the report, and the field of one file, as a picture")
    add("--html", metavar="OUT.html", help="the report as a page of one file, with its charts")
    add("--trace", metavar="OUT.json", help="the trace of one file, for Perfetto")
    add("--json", action="store_true", help="print the records as JSON instead of tables")
    add("--extract-deck", metavar="DECK.yaml", help="write the file's deck there and print its rank count")
    add("--against", metavar="BEFORE", help="name what is slower in FILE, a folder of records as lab/run makes it, "
        "than in BEFORE, such a folder or the name of one next to it")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    codecs.register_error("plain", encodable)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="plain")
    arguments = parse_arguments(words)
    warnings.simplefilter("ignore")  # of values that are not drawn, of letters that a font lacks
    return isolated(lambda now: report(arguments, now), [*arguments.files, *filter(None, [arguments.against])])


def report(arguments: argparse.Namespace, now: Now) -> int:
    """Returns the exit code. `now` is told which file is being read."""
    try:
        return _report(arguments, now)
    except RecordError as error:
        say(str(error))
        return 2


def _report(arguments: argparse.Namespace, now: Now) -> int:
    with packages("report"):
        from kontor.report.record import extract_deck, read_record
        is_study = any(map(os.path.isdir, arguments.files))
        if is_study or not arguments.extract_deck:  # a run can be repeated without PyYAML
            from kontor.report import reports
    if arguments.against:
        return int(_laboratory("against").report_against(arguments.files[0], arguments.against, now))
    if is_study:
        study = reports.only_study(arguments, now)
        allow(DRAWING)
        reports.report_study(study, arguments)
        return 0
    records = []
    for path in arguments.files:
        now(path)
        records.append(read_record(path))
    allow(DRAWING if arguments.html or arguments.plot else READING + len(records))
    if arguments.extract_deck:
        print(extract_deck(records[0], arguments.extract_deck))
    else:
        reports.report_runs(records, arguments)
    return 0


def _laboratory(name: str) -> Any:
    """A module of lab/, which a source tree has."""
    sys.path.insert(1, str(Path(__file__).resolve().parents[3] / "lab"))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        message = f"--{name} needs a source tree of Kontor: this is an installation"
        raise RecordError(message, "E-USAGE-OPTION") from error


def encodable(error: UnicodeError) -> tuple[str, int]:
    """For characters that stdout's encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(PLAIN.get(each) or each.encode("ascii", "backslashreplace").decode() for each in letters), error.end
