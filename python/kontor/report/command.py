# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor report: shows one run, compares several, reports a study; as text, plots and pages."""

import argparse
import importlib
import os
import sys
import traceback
import warnings
from pathlib import Path

from kontor.messages import Failure, say
from kontor.report.parts import Section
from kontor.report.record import RecordError, read_record, reason
from kontor.report.runs import comparison_sections, sections
from kontor.report.study import read_study
from kontor.report.study_sections import study_sections
from kontor.report.text import markdown, text
from kontor.report.trace import write_trace

os.environ["MPLBACKEND"] = "agg"  # what the user's windows are drawn by has no part in plots


def parse_arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="kontor report", description="Shows the record of one run; compares several, the first being the "
        "baseline; reports how a study scales, in Markdown.")
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="results of runs, .h5 or .json; or the folder of one study")
    add("--plot", metavar="OUT.png", help="all charts of the report, and the field of one file, as a picture")
    add("--html", metavar="OUT.html", help="the report as a page of one file, with its charts")
    add("--trace", metavar="OUT.json", help="the trace of one file, for Perfetto")
    add("--against", metavar="BEFORE", help="name what is slower in FILE, a folder of `kontor benchmark` or another "
        "study, than in BEFORE, such a folder or the name of one next to it")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Returns the exit code."""
    arguments = parse_arguments(words)
    warnings.simplefilter("ignore")  # of values that are not drawn, of letters that a font lacks
    try:
        return report(arguments)
    except (Failure, ModuleNotFoundError, OSError):
        raise
    except Exception as error:  # pylint: disable=broad-except
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise RecordError(f"{', '.join(arguments.files)}: cannot be shown: {type(error).__name__}: {reason(error)} "
                          f"({last.filename}, line {last.lineno}): a defect of Kontor or of a package of Python, or "
                          "values that no run writes") from error


def report(arguments: argparse.Namespace) -> int:
    """Returns the exit code."""
    files = arguments.files
    if arguments.against:
        return _report_against(files[0], arguments.against)
    if any(map(os.path.isdir, files)):
        if len(files) > 1 or arguments.trace:
            raise RecordError("a study's folder is reported alone, without --trace: kontor report FOLDER",
                              "E-USAGE-OPTION")
        study = read_study(files[0])
        title, found = f"{study.name} ({study.app})" if study.app else study.name, study_sections(study)
        print(markdown(study.name, found), end="")
    else:
        records = [read_record(path) for path in files]
        found = sections(records[0]) if len(records) == 1 else comparison_sections(records)
        title = ", ".join(dict.fromkeys(f"{record.app} on {record.run.get('ranks', '?')} ranks" for record in records))
        print("\n".join(map(text, found)))
        if arguments.trace:
            write_trace(records[0], arguments.trace)
            say(f"wrote {arguments.trace}")
    _draw(arguments, title, found)
    return 0


def _draw(arguments: argparse.Namespace, title: str, found: list[Section]) -> None:
    """--html of the sections, --plot of their charts and the field of one file: by packages that only these need."""
    if arguments.html:
        from kontor.report.draw import html
        Path(arguments.html).write_text(html(title, found), encoding="utf-8", errors="replace")
        say(f"wrote {arguments.html}")
    if arguments.plot:
        from kontor.report.draw import plot_charts
        charts = [chart for section in found for chart in section.charts]
        if len(arguments.files) == 1 and arguments.files[0].endswith(".h5"):
            from kontor.report.fields import field_charts
            charts += field_charts(arguments.files[0])
        plot_charts(title, charts, arguments.plot)
        say(f"plotted {arguments.plot}")


def _report_against(after: str, before: str) -> int:
    """By lab/against.py, which a source tree has. Returns the exit code."""
    lab = Path(__file__).resolve().parents[3] / "lab"
    if not lab.is_dir():
        raise RecordError("--against needs a source tree of Kontor: this is an installation", "E-USAGE-OPTION")
    sys.path.insert(1, str(lab))
    return int(importlib.import_module("against").report_against(after, before))
