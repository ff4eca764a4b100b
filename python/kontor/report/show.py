# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run as sections."""

from collections.abc import Mapping

from .curves import curve_sections
from .deck import section_of
from .rates import roofline_sections
from .record import Record
from .report_parts import Section, Table, paired, tabulated
from .solves import history_sections, matrix_section, solution_section
from .text import on_off, percent, quantity, seconds, spaced, text
from .time_section import run_bars
from .trace import matrix_sections

MOST_RANKS = 16  # whose cores are shown
WIDTH = 110  # of what the deck says
HEADER = ["name", "value", "attainable", "fraction"]
TIMES = ["region", "calls", "min", "median", "max", "slowest rank"]
BANDWIDTHS = ("read_bandwidth", "copy_bandwidth", "triad_bandwidth")
CALIBRATION = {**dict.fromkeys(BANDWIDTHS, "B/s"), "vector_bytes": "B", "working_set": "B",
               **{f"working_set_{key}": "B/s" for key in BANDWIDTHS}, "peer_bandwidth": "B/s", "latency": "s",
               "bandwidth": "B/s"}
MESSAGES = {"bandwidth": "message bandwidth", "latency": "message latency"}
NO_KINDS = "communication is not known: this file does not give the kinds of its regions"
QUANTILES = ("p50", "p95", "p99", "max")
COUNTERS = {"gpu": "GPUs", "package": "processor packages"}


def show(record: Record) -> str:
    return "\n".join(map(text, sections(record)))


def sections(record: Record) -> list[Section]:
    """Those that the record has something for."""
    return [*_run(record), *_deck(record), *matrix_section(record), *solution_section(record), _verification(record),
            _figures(record), *curve_sections(record), *_times(record), *_checkpoints(record),
            *history_sections(record), *_distributions(record), *_noise(record), *energy_sections(record),
            *_placement(record), *matrix_sections(record),
            *_bytes("Bytes that all ranks send in a repeat", record.volume),
            *_bytes("Memory, all ranks", record.memory), *_calibration(record), *roofline_sections([record])]


def _run(record: Record) -> list[Section]:
    run, hosts = record.run, record.hosts

    def words(*keys: str, between: str = ", ", **named: str) -> str:
        """Values of attributes, and of some with their names."""
        found = [str(run[key]) for key in keys if run.get(key) not in (None, "")]
        return between.join([*found, *(f"{name} {run[key]}" for name, key in named.items() if run.get(key))])

    exchange = words("backend", "pattern", packing="packing", path="path")
    overlap = f", overlap {on_off(run['overlap'])}" if "overlap" in run else ""
    revision = f" ({run['git_revision']})" if run.get("git_revision") else ""
    grid = f", process grid {run['process_grid']}" if "process_grid" in run else ""
    rows = [
        ("file", record.path),
        ("app", f"{record.app} {run.get('version', '')}{revision}"),
        ("started", words("started")),
        ("hosts", ", ".join(hosts) if len(hosts) <= 4 else f"{hosts[0]} ... {hosts[-1]} ({len(hosts)})"),
        ("ranks", f"{run.get('ranks', '?')}{grid}" + f", {record.threads} threads each" * (record.threads > 1)),
        ("exchange", (exchange + overlap).removeprefix(", ")),
        ("precision", words("precision")), ("sweeps", words("sweeps")), ("steps", words("steps")),
        ("runs on", words("execution_space", between=" of ", Kokkos="kokkos_version")),
        ("libraries", words("mpi_library", HDF5="hdf5_version")),
        ("compiler", words("compiler", "flags")),
        ("command", words("command")),
    ]
    return paired("Run", [row for row in rows if row[1].strip()])


def _deck(record: Record) -> list[Section]:
    """What was asked for, a few lines a section."""
    rows: list[tuple[str, object]] = []
    for name in ("problem", "product", "solver", "time"):
        lines = [""]
        for phrase in section_of(record, name):
            longer = f"{lines[-1]}, {phrase}" if lines[-1] else phrase
            lines = [*lines[:-1], longer] if len(longer) < WIDTH else [*lines, phrase]
        rows += [("" if place else name, line) for place, line in enumerate(lines) if line]
    return paired("Deck", rows)


def _verification(record: Record) -> Section:
    check, signal = record.verification, record.run.get("end_signal")
    asked = "checkpoint.walltime" if signal == "walltime" else f"signal {signal}"
    early = [f"the run ended early: {asked} asked"] if signal else []
    if record.passed is None:
        return Section("Verification", [record.verdict, *early])
    error, tolerance = (f"{check.get(key, float('nan')):.3g}" for key in ("error", "tolerance"))
    row = [record.verdict, check.get("measure", "error"), error, tolerance]
    table = Table(["verdict", "measure", "error", "tolerance"], [row], left=2)
    judged = [f"judged: {', '.join(check['judged'])}"] if check.get("judged") else []
    return Section("Verification", [table, *judged, *filter(None, [check.get("remark")]), *early])


def _figures(record: Record) -> Section:
    rows = [[spaced(figure["name"]), *(quantity(figure.get(key), figure.get("unit", "")) for key in HEADER[1:3]),
             percent(figure.get("fraction"))] for figure in record.figures]
    remarks = [f"{figure['name']}: {figure['remark']}" for figure in record.figures if figure.get("remark")]
    none = "none" + f": verification {record.verdict.lower()}" * (record.passed is False)
    return Section("Figures of merit", [Table(HEADER, rows), *remarks] if rows else [none])


def _times(record: Record) -> list[Section]:
    """The measured time of a repeat, and what is outside of it."""
    def row(region: str) -> list[object]:
        times = record.timers[region]
        return [region, times.get("calls"), *(seconds(times.get(key)) for key in TIMES[2:5]), times.get("slowest_rank")]

    inside = [region for region in ("total", *record.parts) if region in record.timers]
    rows = [[*row(region), percent(record.share(region))] for region in inside]
    known, repeats = record.share(*record.parts), record.repeats
    if known is not None and known < 0.995:
        rows.append(["other", *[""] * (len(TIMES) - 1), percent(1 - known)])
    note = (f"{len(repeats)} repeats: {seconds(record.seconds)}, {seconds(min(repeats))} to {seconds(max(repeats))}"
            if len(repeats) > 1 else "")
    outside = [row(region) for region in record.timers if region != "total" and record.is_outside(region)]
    return [*tabulated("Time of one repeat, over ranks", [*TIMES, "share"], rows,
                       *([] if record.knows_kinds else [NO_KINDS]), *run_bars([record]), note=note),
            *tabulated("Outside the measured time", TIMES, outside)] if record.timers else []


def _checkpoints(record: Record) -> list[Section]:
    found, rows = record.checkpoint, []
    written = found.get("written", 0)
    if "restarted_from" in found:
        rows.append(("resumed from", f"{found['restarted_from']}, after step {found.get('at_step', '?')}"))
    if written:
        rows += [("written", f"{written}, {quantity(found.get('bytes'), 'B')}, the last {found.get('newest', '?')}"),
                 ("bandwidth", quantity(found.get("bandwidth"), "B/s")),
                 ("overhead", f"{percent(found.get('overhead'))} of the time of the steps")]
    elif found:
        rows.append(("written", "none"))
    return paired("Checkpoints", rows)


def _distributions(record: Record) -> list[Section]:
    """The seconds of single exchanges and steps: how far the slow ones are from the usual one."""
    rows = [[row["name"], row.get("count"), *(seconds(row.get(key)) for key in QUANTILES),
             f"{row['max'] / row['p50']:.1f}" if row.get("p50") else None, row.get("slowest_rank")]
            for row in record.distributions]
    parts = [Table(["", "count", *QUANTILES, "max / p50", "slowest rank"], rows)] if rows else []
    parts += filter(None, [record.run.get("distributions_remark")])
    return [Section("Single exchanges and steps", parts, "of all ranks and repeats")] if parts else []


def _noise(record: Record) -> list[Section]:
    """By how much a fixed quantum of work is slower than at its fastest."""
    noise, header = record.noise, ["quantum", "samples", "p50", "p99", "max", "slowest rank"]
    slower = [f"{noise[key]:.3g}" if key in noise else None for key in header[2:5]]
    row = [seconds(noise.get("quantum")), noise.get("samples"), *slower, noise.get("slowest_rank")]
    return tabulated("Noise of a fixed quantum of work", header, [row] if noise.get("quantum") else [], left=0,
                     note="times the fastest of the same rank")


def energy_sections(record: Record) -> list[Section]:
    """J, W, and the figure of merit per J, of what counters can be read."""
    figure, time, energy = record.figure or {}, record.seconds, record.energy
    unit, name = figure.get("unit", ""), spaced(figure.get("name", "figure of merit"))
    read = {words: float(energy[key]) for key, words in COUNTERS.items() if energy.get(key)}
    reasons = [f"{words}: {energy[f'{key}_remark']}" for key, words in COUNTERS.items() if energy.get(f"{key}_remark")]
    rows = []
    for words, joules in [*read.items(), *([("all", sum(read.values()))] if len(read) > 1 else [])]:
        work = figure["value"] * time / joules if time and unit.endswith("/s") else None  # a rate times seconds
        rows.append([words, quantity(joules, "J"), quantity(joules / time if time else None, "W"),
                     quantity(work, f"{unit.removesuffix('/s')}/J")])
    table = [Table(["", "J a repeat", "power", f"{name} per J"], rows)] if rows else []
    return [Section("Energy", [*table, *reasons], "mean power from the first repeat to the last, of all hosts")] if energy else []


def _placement(record: Record) -> list[Section]:
    ranks = record.placement
    rows = [[rank, *(row.get(key) or None for key in ("host", "cores", "threads"))] for rank, row in enumerate(ranks)]
    rows[MOST_RANKS:] = [["...", "", "", f"{len(ranks)} ranks"]] if len(ranks) > MOST_RANKS else []
    return tabulated("Cores of ranks and of their threads", ["rank", "host", "cores", "of threads"], rows, left=4)


def _bytes(title: str, values: Mapping[str, float]) -> list[Section]:
    return paired(title, [(spaced(key), quantity(value, "B")) for key, value in values.items()], left=1)


def _calibration(record: Record) -> list[Section]:
    found = record.calibration
    rows = [(MESSAGES.get(key, spaced(key)), quantity(found[key], unit)) for key, unit in CALIBRATION.items()
            if found.get(key)]
    return paired("Calibration (same job, same ranks)", rows or [("nothing measured", "")] if found else [], left=1)
