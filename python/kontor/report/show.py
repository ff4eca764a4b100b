# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run as sections."""

from collections.abc import Mapping
from typing import Any

from .curves import curve_sections
from .deck import section_of
from .distributions import distribution_sections
from .energy import energy_sections
from .history import history_sections
from .matrix import matrix_sections
from .noise import noise_sections
from .record import Record, Row
from .report_parts import Part, Section, Table
from .roofline import roofline_sections
from .solves import is_solve, matrix_table, solution_table
from .text import on_off, percent, quantity, seconds, text, verdict
from .time_section import run_bars
from .trace import trace_sections

MOST_RANKS = 16  # whose cores are shown
WIDTH = 110  # of what the deck says
TIMES = ["region", "calls", "min", "median", "max", "slowest rank"]
BANDWIDTHS = ("read_bandwidth", "copy_bandwidth", "triad_bandwidth")
CALIBRATION = {**dict.fromkeys(BANDWIDTHS, "B/s"), "working_set": "B", **{f"working_set_{key}": "B/s" for key in BANDWIDTHS},
               "peer_bandwidth": "B/s", "large_message": "B", "large_bandwidth": "B/s", "latency": "s", "bandwidth": "B/s"}
NO_KINDS = "communication is not known: this file does not give the kinds of its regions"


def show(record: Record) -> str:
    return "\n".join(map(text, sections(record)))


def sections(record: Record) -> list[Section]:
    """Those that the record has something for."""
    found = [
        Section("Run", _run(record)),
        Section("Deck", _deck(record)),
        Section("Matrix", [matrix_table(record)] if record.matrix else []),
        Section("Solution", [solution_table(record)] if is_solve(record) else []),
        Section("Verification", _verification(record)),
        Section("Figures of merit", _figures(record)),
        *curve_sections(record),
        *_times(record),
        Section("Checkpoints", _pairs(_checkpoints(record.checkpoint), left=2)),
        *trace_sections(record),
        *history_sections(record),
        *distribution_sections(record),
        *noise_sections(record),
        *energy_sections(record),
        Section("Cores of ranks and of their threads", _placement(record.placement)),
        *matrix_sections(record),
        Section("Bytes that all ranks send in a repeat", _bytes(record.volume)),
        Section("Memory, all ranks", _bytes(record.memory)),
        Section("Calibration (same job, same ranks)", _calibration(record.calibration)),
        *roofline_sections([record]),
    ]
    return [section for section in found if section.parts]


def _pairs(rows: list[list[str]], left: int = 1) -> list[Part]:
    """A table of names and values, if there are any."""
    return [Table([], rows, left)] if rows else []


def _run(record: Record) -> list[Part]:
    run, hosts = record.run, record.hosts

    def words(*keys: str) -> str:
        return ", ".join(str(run[key]) for key in keys if run.get(key) not in (None, ""))

    def named(name: str, key: str) -> str:
        return f"{name} {run[key]}" if run.get(key) else ""

    exchange = [run.get("backend"), run.get("pattern"), *(f"{key} {run[key]}" for key in ("packing", "path") if key in run)]
    exchange += [f"overlap {on_off(run['overlap'])}"] if "overlap" in run else []
    revision = f" ({run['git_revision']})" if run.get("git_revision") else ""
    grid = f", process grid {run['process_grid']}" if "process_grid" in run else ""
    rows = [
        ["file", record.path],
        ["app", f"{run.get('app', '?')} {run.get('version', '')}{revision}"],
        ["started", words("started")],
        ["hosts", ", ".join(hosts) if len(hosts) <= 4 else f"{hosts[0]} ... {hosts[-1]} ({len(hosts)})"],
        ["ranks", f"{run.get('ranks', '?')}{grid}" + (f", {record.threads} threads each" if record.threads > 1 else "")],
        ["exchange", ", ".join(word for word in exchange if word)],
        ["precision", words("precision")],
        *([key, words(key)] for key in ("sweeps", "steps") if key in run),
        ["runs on", " of ".join(filter(None, [words("execution_space"), named("Kokkos", "kokkos_version")]))],
        ["libraries", ", ".join(filter(None, [words("mpi_library"), named("HDF5", "hdf5_version")]))],
        ["compiler", words("compiler", "flags")],
        ["command", words("command")],
    ]
    return _pairs([row for row in rows if row[1].strip()], left=2)


def _deck(record: Record) -> list[Part]:
    """What was asked for, a few lines a section."""
    rows = []
    for name in ("problem", "product", "solver", "time"):
        lines = [""]
        for phrase in section_of(record, name):
            longer = f"{lines[-1]}, {phrase}" if lines[-1] else phrase
            lines = [*lines[:-1], longer] if len(longer) < WIDTH else [*lines, phrase]
        rows += [[name if place == 0 else "", line] for place, line in enumerate(lines) if line]
    return _pairs(rows, left=2)


def _verification(record: Record) -> list[Part]:
    check, signal = record.verification, record.run.get("end_signal")
    asked = "checkpoint.walltime" if signal == "walltime" else f"signal {signal}"
    early = [f"the run ended early: {asked} asked"] if signal else []
    if record.passed is None:
        return ["not verified", *early]
    error, tolerance = (f"{check.get(key, float('nan')):.3g}" for key in ("error", "tolerance"))
    row = [verdict(record.passed), check.get("measure", "error"), error, tolerance]
    return [Table(["verdict", "measure", "error", "tolerance"], [row], left=2), *filter(None, [check.get("remark")]), *early]


def _figures(record: Record) -> list[Part]:
    if not record.figures:
        return ["none" + (": the run failed its verification" if record.passed is False else "")]
    rows = [[figure["name"].replace("_", " "), *(quantity(figure.get(key), figure.get("unit", "")) for key in ("value", "attainable")),
             percent(figure.get("fraction"))] for figure in record.figures]
    remarks = [f"{figure['name']}: {figure['remark']}" for figure in record.figures if figure.get("remark")]
    return [Table(["name", "value", "attainable", "fraction"], rows), *remarks]


def _times(record: Record) -> list[Section]:
    """The measured time of a repeat, and what is outside of it."""
    if not record.timers:
        return []
    inside = [region for region in ("total", *record.parts) if region in record.timers]
    rows = [[*_timer(record, region), percent(record.share(region))] for region in inside]
    known, repeats = record.share(*record.parts), record.repeats
    if known is not None and known < 0.995:
        rows.append(["other", *[""] * (len(TIMES) - 1), percent(1 - known)])
    note = f"{len(repeats)} repeats: {seconds(record.seconds)}, {seconds(min(repeats))} to {seconds(max(repeats))}" if len(repeats) > 1 else ""
    parts: list[Part] = [Table([*TIMES, "share"], rows), *([] if record.knows_kinds else [NO_KINDS]), *run_bars([record])]
    outside = [_timer(record, region) for region in record.timers if region != "total" and record.is_outside(region)]
    return [Section("Time of one repeat, over ranks", parts, note),
            Section("Outside the measured time", [Table(TIMES, outside)] if outside else [])]


def _timer(record: Record, region: str) -> list[str]:
    times = record.timers[region]
    values = [seconds(times.get(key)) for key in ("min", "median", "max")]
    return [region, str(times.get("calls", "-")), *values, str(times.get("slowest_rank", "-"))]


def _placement(ranks: list[Row]) -> list[Part]:
    rows = [[str(rank), *(row.get(key) or "-" for key in ("host", "cores", "threads"))] for rank, row in enumerate(ranks[:MOST_RANKS])]
    if len(ranks) > MOST_RANKS:
        rows.append(["...", "", "", f"{len(ranks)} ranks"])
    return [Table(["rank", "host", "cores", "of threads"], rows, left=4)] if rows else []


def _checkpoints(found: Row) -> list[list[str]]:
    rows = []
    if "restarted_from" in found:
        rows.append(["resumed from", f"{found['restarted_from']}, after step {found.get('at_step', '?')}"])
    written = found.get("written", 0)
    if found:
        rows.append(["written", f"{written}, {quantity(found.get('bytes'), 'B')}, the last {found.get('newest', '?')}" if written else "none"])
    if written:
        rows.append(["bandwidth", quantity(found.get("bandwidth"), "B/s")])
        rows.append(["overhead", f"{percent(found.get('overhead'))} of the time of the steps"])
    return rows


def _bytes(values: Mapping[str, Any]) -> list[Part]:
    return _pairs([[key.replace("_", " "), quantity(value, "B")] for key, value in values.items()])


def _calibration(found: Row) -> list[Part]:
    names = {"bandwidth": "message bandwidth", "latency": "message latency"}
    rows = [[names.get(key, key.replace("_", " ")), quantity(found[key], unit)] for key, unit in CALIBRATION.items() if found.get(key)]
    return _pairs(rows or [["nothing measured", ""]]) if found else []
