# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report: shows one run, compares several, reports a study; as text, plots and pages."""

from __future__ import annotations

import argparse
import codecs
import importlib
import io
import json
import os
import signal
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kontor.report.isolated import DRAWING, READING, Now, allow, isolated

if TYPE_CHECKING:
    from kontor.report.record import Record
    from kontor.report.report_parts import Chart, Section

os.environ["MPLBACKEND"] = "agg"  # what the user's windows are drawn by has no part in plots
# What an ASCII terminal cannot show.
PLAIN = {"µ": "u", "±": "+-"}


def parse_arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="kontor report",
        description="Shows the record of one run; compares several, the first being the baseline; reports how a study scales, in Markdown.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="results of runs, .h5 or .json; or the folder of one study")
    parser.add_argument("--plot", metavar="OUT.png", help="all charts of the report, and the field of one file, as a picture")
    parser.add_argument("--html", metavar="OUT.html", help="the report as a page of one file, with its charts")
    parser.add_argument("--trace", metavar="OUT", help="the trace of one file: OUT.json for Perfetto, OUT.otf2 for Vampir")
    parser.add_argument("--json", action="store_true", help="print the records as JSON instead of tables")
    parser.add_argument("--extract-deck", metavar="DECK.yaml", help="write the file's deck there and print its rank count")
    parser.add_argument("--against", metavar="BEFORE", help="name what is slower in FILE, a folder of records as lab/run makes it, than in BEFORE, such a folder or the name of one next to it")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    codecs.register_error("plain", encodable)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="plain")
    arguments = parse_arguments(words)
    warnings.simplefilter("ignore")  # of values that are not drawn, of letters that a font lacks
    return isolated(lambda now: report(arguments, now), [*arguments.files, *filter(None, [arguments.against])])


def laboratory(name: str) -> Any:
    """A module of lab/, which a source tree has."""
    from kontor.report.errors import RecordError

    sys.path.insert(1, str(Path(__file__).resolve().parents[3] / "lab"))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise RecordError(f"--{name} needs a source tree of Kontor: this is an installation", "E-USAGE-OPTION") from error


def report(arguments: argparse.Namespace, now: Now) -> int:
    """Returns the exit code. `now` is told which file is being read."""
    from kontor.report.errors import RecordError, packages

    try:
        with packages("report"):
            from kontor.report.record import read_record
            if not arguments.extract_deck:
                import yaml  # noqa: F401
        if arguments.against:
            return int(laboratory("against").report_against(arguments.files[0], arguments.against, now))
        if any(map(os.path.isdir, arguments.files)):
            report_study(arguments, now)
        else:
            records = []
            for path in arguments.files:
                now(path)
                records.append(read_record(path))
            allow(READING + len(records))
            report_runs(records, arguments)
        sys.stdout.flush()
        return 0
    except RecordError as error:
        print(f"kontor: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"kontor: stdout cannot be written: {error.strerror}", file=sys.stderr)
        return 3


def report_study(arguments: argparse.Namespace, now: Now) -> None:
    from kontor.report.errors import RecordError, shown
    from kontor.report.reports import study_sections
    from kontor.report.study import read_study
    from kontor.report.text import markdown

    if len(arguments.files) > 1 or arguments.json or arguments.extract_deck or arguments.trace:
        raise RecordError("a study's folder is reported alone, without --json, --trace and --extract-deck: kontor report FOLDER", "E-USAGE-OPTION")
    with shown(arguments.files[0]):
        study = read_study(arguments.files[0], now)
        allow(DRAWING)
        sections = study_sections(study)
        print(markdown(study.name, sections), end="")
    draw(arguments, f"{study.name} ({study.app})" if study.app else study.name, sections, [])


def report_runs(records: list[Record], arguments: argparse.Namespace) -> None:
    from kontor.report.errors import shown

    print(text_of(records, arguments))
    if arguments.trace:
        from kontor.report.trace_files import write_trace

        write_trace(records[0], arguments.trace)
        print(f"kontor: wrote {arguments.trace}", file=sys.stderr)
    if arguments.html or arguments.plot:
        from kontor.report.field import field_charts, read_field
        from kontor.report.reports import run_sections, run_title

        allow(DRAWING)
        with shown(*arguments.files):
            title, sections = run_title(records), run_sections(records)
            fields = field_charts(read_field(records[0].path)) if arguments.plot and len(records) == 1 else []
        draw(arguments, title, sections, fields)


def draw(arguments: argparse.Namespace, title: str, sections: list[Section], more: list[Chart]) -> None:
    """--html of the sections, and --plot of their charts and more."""
    from kontor.report.errors import RecordError, packages, shown
    from kontor.report.report_parts import charts_of

    if arguments.html:
        from kontor.report.html_page import write_html

        write_html(arguments.html, title, sections)
        print(f"kontor: wrote {arguments.html}", file=sys.stderr)
    if arguments.plot:
        with packages("--plot"):
            from kontor.report.draw import plot_charts
        try:
            with shown(*arguments.files, but=(OSError, ValueError)):
                plot_charts(title, [*charts_of(sections), *more], arguments.plot)
        except (OSError, ValueError) as error:  # a folder that is not there, an unknown kind of picture
            raise RecordError(f"--plot: {arguments.plot} cannot be written: {error}", "E-FILE-WRITE") from error
        print(f"kontor: plotted {arguments.plot}", file=sys.stderr)


def text_of(records: list[Record], arguments: argparse.Namespace) -> str:
    if arguments.extract_deck:
        return extract_deck(records[0], arguments.extract_deck)
    if arguments.json:
        from kontor.report.record_json import finite

        return json.dumps(finite(as_plain(records)), indent=2, allow_nan=False)
    from kontor.report.compare import compare
    from kontor.report.errors import shown
    from kontor.report.show import show

    with shown(*arguments.files):
        return show(records[0]) if len(records) == 1 else compare(records)


def as_plain(records: list[Record]) -> list[dict[str, Any]]:
    from kontor.report.compare import by_app, speed

    groups = by_app(records).values()
    return [{**asdict(record), "speed": speed(record, group[0])} for group in groups for record in group]


def extract_deck(record: Record, path: str) -> str:
    from kontor.report.errors import RecordError

    missing = [key for key in ("deck", "ranks") if not record.run.get(key)]
    if missing:
        raise RecordError(f"{record.path}: the run cannot be repeated: /run has no attribute {' and no '.join(missing)}")
    try:
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as deck:
            deck.write(record.run["deck"])
    except OSError as error:
        raise RecordError(f"{path} cannot be written: {error.strerror}", "E-FILE-WRITE") from error
    return str(record.run["ranks"])


def encodable(error: UnicodeError) -> tuple[str, int]:
    """For characters that stdout's encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in missing), error.end
