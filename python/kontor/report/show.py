# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run as text."""

from .curves import curve_sections
from .deck import section_of
from .history import history_section
from .report_parts import Section, Table
from .solves import is_solve, matrix_table, solution_table
from .text import on_off, percent, quantity, seconds, text, verdict
from .timeline import timeline_table

TRAFFIC_ROWS = 8  # more neighbours than this are summed up
MOST_RANKS = 16  # whose cores are shown
WIDTH = 110  # of what the deck says
TIMES = ["region", "calls", "min", "median", "max", "slowest rank"]


def show(record):
    return "\n".join(map(text, sections(record)))


def sections(record):
    """Those that the record has something for."""
    found = [
        Section("Run", _run(record)),
        Section("Deck", _deck(record)),
        Section("Matrix", [matrix_table(record)] if record.matrix else []),
        Section("Solution", [solution_table(record)] if is_solve(record) else []),
        Section("Verification", _verification(record)),
        Section("Figures of merit", _figures(record)),
        *curve_sections(record),
        Section("Time of one repeat, over ranks", [_timers(record)] if record.timers else [], _repeats(record)),
        Section("Outside the measured time", _outside(record)),
        Section("Checkpoints", [_checkpoints(record.checkpoint)] if record.checkpoint else []),
        Section("Steps of the last repeat", [timeline_table(record)] if record.timeline else [], "of the rank that each takes longest"),
        *([history_section(record)] if record.history else []),
        Section("Cores of ranks and of their threads", [_placement(record.placement)] if record.placement else []),
        Section("Traffic of one exchange", [_traffic(record)] if record.traffic else []),
        Section("Bytes that all ranks send in a repeat", _bytes(record.volume)),
        Section("Memory, all ranks", _bytes(record.memory)),
        Section("Calibration (same job, same ranks)", [_calibration(record)] if record.calibration else []),
    ]
    return [section for section in found if section.parts]


def _run(record):
    run = record.run

    def words(*keys):
        return ", ".join(str(run[key]) for key in keys if run.get(key) not in (None, ""))

    hosts = run.get("hosts", [])
    hosts = [hosts] if isinstance(hosts, str) else list(dict.fromkeys(hosts))
    exchange = [run.get("backend"), run.get("pattern")]
    exchange += [f"{key} {run[key]}" for key in ("packing", "path") if key in run]
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
        ["runs on", " of ".join(filter(None, [words("execution_space"), _named("Kokkos", run.get("kokkos_version"))]))],
        ["libraries", ", ".join(filter(None, [words("mpi_library"), _named("HDF5", run.get("hdf5_version"))]))],
        ["compiler", words("compiler", "flags")],
        ["command", words("command")],
    ]
    return [Table([], [row for row in rows if row[1].strip()], left=2)]


def _deck(record):
    """What was asked for, a few lines a section."""
    rows = []
    for name in ("problem", "product", "solver", "time"):
        lines = [""]
        for phrase in section_of(record, name):
            longer = f"{lines[-1]}, {phrase}" if lines[-1] else phrase
            lines = [*lines[:-1], longer] if len(longer) < WIDTH else [*lines, phrase]
        rows += [[name if place == 0 else "", line] for place, line in enumerate(lines) if line]
    return rows and [Table([], rows, left=2)]


def _named(name, version):
    return f"{name} {version}" if version else None


def _verification(record):
    check = record.verification
    early = record.run.get("end_signal")
    asked = "checkpoint.walltime" if early == "walltime" else f"signal {early}"
    early = [f"the run ended early: {asked} asked"] if early else []
    if record.passed is None:
        return ["not verified", *early]
    error, tolerance = (f"{check.get(key, float('nan')):.3g}" for key in ("error", "tolerance"))
    row = [verdict(record.passed), check.get("measure", "error"), error, tolerance]
    return [Table(["verdict", "measure", "error", "tolerance"], [row], left=2), *filter(None, [check.get("remark")]), *early]


def _figures(record):
    if not record.figures:
        return ["none" + (": the run failed its verification" if record.passed is False else "")]
    rows = [
        [figure["name"].replace("_", " "), quantity(figure["value"], figure.get("unit", "")),
         quantity(figure.get("attainable"), figure.get("unit", "")), percent(figure.get("fraction"))]
        for figure in record.figures
    ]
    remarks = [f"{figure['name']}: {figure['remark']}" for figure in record.figures if figure.get("remark")]
    return [Table(["name", "value", "attainable", "fraction"], rows), *remarks]


def _repeats(record):
    repeats = record.repeats
    return f"{len(repeats)} repeats: {seconds(record.seconds)}, {seconds(min(repeats))} to {seconds(max(repeats))}" if len(repeats) > 1 else ""


def _timers(record):
    regions = [region for region in ("total", *record.parts) if region in record.timers]
    rows = [[region, *_times(record.timers[region]), percent(record.share(region))] for region in regions]
    known = record.share(*record.parts)
    if known is not None and known < 0.995:
        rows.append(["other", "", "", "", "", "", percent(1 - known)])
    return Table([*TIMES, "share"], rows)


def _outside(record):
    rows = [[region, *_times(times)] for region, times in record.timers.items() if region != "total" and record.is_outside(region)]
    return rows and [Table(TIMES, rows)]


def _times(times):
    values = [seconds(times.get(key)) for key in ("min", "median", "max")]
    return [str(times.get("calls", "-")), *values, str(times.get("slowest_rank", "-"))]


def _traffic(record):
    messages = sum(row["messages"] for row in record.traffic)
    size = sum(row["bytes"] for row in record.traffic)
    rows = [["all", "all", str(messages), quantity(size, "B")]]
    if len(record.traffic) <= TRAFFIC_ROWS:
        rows = [[str(row["rank"]), str(row["neighbour"]), str(row["messages"]), quantity(row["bytes"], "B")]
                for row in record.traffic] + rows
    return Table(["rank", "neighbour", "messages", "bytes"], rows, left=2)


def _placement(ranks):
    rows = [[str(rank), *(row.get(key) or "-" for key in ("host", "cores", "threads"))] for rank, row in enumerate(ranks[:MOST_RANKS])]
    if len(ranks) > MOST_RANKS:
        rows.append(["...", "", "", f"{len(ranks)} ranks"])
    return Table(["rank", "host", "cores", "of threads"], rows, left=4)


def _checkpoints(found):
    rows = []
    if "restarted_from" in found:
        rows.append(["gone on from", f"{found['restarted_from']}, after step {found.get('at_step', '?')}"])
    written = found.get("written", 0)
    rows.append(["written", f"{written}, {quantity(found.get('bytes'), 'B')}, the last {found.get('newest', '?')}" if written else "none"])
    if written:
        rows.append(["bandwidth", quantity(found.get("bandwidth"), "B/s")])
        rows.append(["overhead", f"{percent(found.get('overhead'))} of the time of the steps"])
    return Table([], rows, left=2)


def _bytes(values):
    rows = [[key.replace("_", " "), quantity(value, "B")] for key, value in values.items()]
    return rows and [Table([], rows)]


def _calibration(record):
    patterns = ("read_bandwidth", "copy_bandwidth", "triad_bandwidth")
    units = {**dict.fromkeys(patterns, "B/s"), "working_set": "B", **{f"working_set_{key}": "B/s" for key in patterns},
             "peer_bandwidth": "B/s", "large_message": "B", "large_bandwidth": "B/s", "latency": "s", "bandwidth": "B/s"}
    names = {"bandwidth": "message bandwidth", "latency": "message latency"}
    rows = [[names.get(key, key.replace("_", " ")), quantity(record.calibration[key], unit)]
            for key, unit in units.items() if record.calibration.get(key)]
    return Table([], rows or [["nothing measured", ""]])
