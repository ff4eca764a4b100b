# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of one run, of several, or of a study: its sections, and what it is written as."""

import argparse
import base64
import json
import math
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .compare import by_app, compare, comparison_sections
from .errors import RecordError, packages, shown, writing
from .rates import roofline_sections, throughput_of_study
from .record import Record
from .report_parts import Chart, Section, Table
from .scaling import scaling_sections
from .series import crossover_sections, points_of, series_of
from .show import sections, show
from .solves import ending, is_solve, speed
from .study import Study, read_study
from .study_sections import failure_section, limits_sections, provenance_section, summary_section
from .text import markdown, printable, quantity, seconds
from .time_section import time_sections
from .trace import write_trace

PAGE = Path(__file__).parent / "page"
ROOM = 1130  # pixels for a table in a window of 1,200
LETTER, CELL = 7.6, 23  # pixels: of a character, and around the text of a cell, in tables of page.css


def only_study(arguments: argparse.Namespace, now: Callable[[str], None]) -> Study:
    if len(arguments.files) > 1 or arguments.json or arguments.extract_deck or arguments.trace:
        raise RecordError("a study's folder is reported alone, without --json, --trace and --extract-deck: kontor "
                          "report FOLDER", "E-USAGE-OPTION")
    with shown(arguments.files[0]):
        return read_study(arguments.files[0], now)


def report_study(study: Study, arguments: argparse.Namespace) -> None:
    with shown(arguments.files[0]):
        found = study_sections(study)
        told = markdown(study.name, found)
    print(told, end="")
    _draw(arguments, f"{study.name} ({study.app})" if study.app else study.name, found, [])


def study_sections(study: Study) -> list[Section]:
    series = series_of(study)
    return [summary_section(study, series), *scaling_sections(study, series), *crossover_sections(series),
            *throughput_of_study(study), *time_sections(study, series),
            *roofline_sections([point.records[0] for _, point in points_of(series)]), *limits_sections(study, series),
            failure_section(study), provenance_section(study)]


def report_runs(records: list[Record], arguments: argparse.Namespace) -> None:
    with shown(*arguments.files):
        if arguments.json:
            groups = by_app(records).values()
            plain = [{**asdict(record), "speed": speed(record, group[0])} for group in groups for record in group]
            told = json.dumps(_finite(plain), indent=2, allow_nan=False)
        else:
            told = show(records[0]) if len(records) == 1 else compare(records)
    print(told)
    if arguments.trace:
        write_trace(records[0], arguments.trace)
        print(f"kontor: wrote {arguments.trace}", file=sys.stderr)
    if arguments.html or arguments.plot:
        with shown(*arguments.files):
            found = sections(records[0]) if len(records) == 1 else comparison_sections(records)
            fields = _field_charts(records[0].path) if arguments.plot and len(records) == 1 else []
            title = _title(records)
        _draw(arguments, title, found, fields)


def _field_charts(path: str) -> list[Chart]:
    with packages("--plot"):
        from .hdf5 import field_charts, read_field  # by h5py
    return field_charts(read_field(path))


def _title(records: list[Record]) -> str:
    if len(records) > 1:
        return f"{len(records)} runs of {', '.join(by_app(records))}"
    record, run = records[0], records[0].run
    title = f"{record.app}: {run.get('backend', '?')}, {run.get('ranks', '?')} ranks"
    if not is_solve(record):
        return title
    return f"{title}; {ending(record)}: {run.get('iterations', '?')} iterations, {seconds(record.seconds)}"


def _draw(arguments: argparse.Namespace, title: str, found: list[Section], more: list[Chart]) -> None:
    """--html of the sections, and --plot of their charts and more."""
    if arguments.html:
        page = html(title, found)
        with writing(f"--html: {arguments.html}"):
            Path(arguments.html).write_text(page, encoding="utf-8", errors="replace")
        print(f"kontor: wrote {arguments.html}", file=sys.stderr)
    if arguments.plot:
        with packages("--plot"):
            from .draw import plot_charts
        with shown(*arguments.files), writing(f"--plot: {arguments.plot}"):
            plot_charts(title, [*(chart for section in found for chart in section.charts), *more], arguments.plot)
        print(f"kontor: plotted {arguments.plot}", file=sys.stderr)


def _finite(value: Any) -> Any:
    """null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _finite(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_finite, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


def html(title: str, found: list[Section]) -> str:
    """One file that needs nothing else: neither a network nor scripts."""
    with packages("--html"):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        from .draw import chart_svg

    environment = Environment(loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True,
                              finalize=lambda value: printable(value) if type(value) is str else value)
    environment.filters.update(svg=lambda chart: base64.b64encode(chart_svg(chart)).decode(), in_words=in_words)
    environment.tests.update(table=lambda part: isinstance(part, Table), wide=lambda table: pixels(table) > ROOM)
    return environment.get_template("page.html.j2").render(title=title, sections=found)


def pixels(table: Table) -> float:
    """How wide the table is if no cell is folded."""
    return sum(LETTER * max(map(len, column)) + CELL for column in zip(*table.lines))


def in_words(chart: Chart) -> str:
    """What those read who do not see the chart: its lines, or its bars with all numbers."""
    if not chart.bars:
        names = dict.fromkeys(line.name for line in chart.lines)
        return f"{chart.y_label} over {chart.x_label}" + (f": {'; '.join(names)}" if names else "")
    told = []
    for bar in chart.bars:
        parts = ", ".join(f"{name} {quantity(length, chart.unit)}" for name, length in bar.parts)
        told.append(f"{bar.name}: {bar.words}" + (f" ({parts})" if len(bar.parts) > 1 else ""))
    return "; ".join(told)
