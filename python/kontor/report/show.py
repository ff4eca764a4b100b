# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run as sections."""

from collections.abc import Collection, Mapping

from .compare import run_bars
from .curves import curve_sections
from .deck import section_of
from .parts import Part, Section, member, paired, tabulated
from .rates import Rate, roofline
from .record import DO_NOT_QUOTE, Record
from .solves import history_sections, solution_section
from .text import on_off, percent, quantity, seconds, spaced
from .traffic import traffic_sections

MOST_RANKS = 16  # whose cores are shown
WIDTH = 110  # of what the deck says
UNITS = {"bandwidth": "B/s", "bytes": "B", "working_set": "B", "latency": "s", "seconds": "s", "quantum": "s"}
QUANTILES = ("p50", "p95", "p99", "max")
COUNTERS = {"gpu": "GPUs", "package": "processor packages"}
EXCHANGE = {"backend": "", "pattern": "", "packing": "packing ", "path": "path "}


def sections(record: Record) -> list[Section]:
    """Those that the record has something for."""
    return [*_run(record), *_deck(record), *_facts("Matrix", record.matrix), *solution_section(record),
            _verification(record), _figures(record), *curve_sections(record), *_times(record),
            *_facts("Checkpoints", record.checkpoint), *history_sections(record), *_distributions(record),
            *_facts("Noise of a fixed quantum of work", record.noise, note="quantiles relative to the fastest of a rank"),
            *energy_sections(record), *_placement(record), *traffic_sections(record),
            *_facts("Bytes that all ranks send in a repeat", record.volume, "B"),
            *_facts("Memory, all ranks", record.memory, "B"),
            *_facts("Calibration (same job, same ranks)", record.calibration, skip=("oversubscribed", "huge_pages"))]


def _run(record: Record) -> list[Section]:
    run, hosts = record.run, record.hosts

    def words(*keys: str, between: str = ", ") -> str:
        return between.join(str(run[key]) for key in keys if run.get(key) not in (None, ""))

    def named(**keys: str) -> str:
        return ", ".join(f"{name} {run[key]}" for name, key in keys.items() if run.get(key))

    exchange = [f"{name}{run[key]}" for key, name in EXCHANGE.items() if run.get(key) not in (None, "")]
    exchange += [f"overlap {on_off(run['overlap'])}"] if "overlap" in run else []
    revision = f" ({run['git_revision']})" if run.get("git_revision") else ""
    grid = f", process grid {run['process_grid']}" if "process_grid" in run else ""
    return paired("Run", [
        ("file", record.path),
        ("app", f"{record.app} {run.get('version', '')}{revision}"),
        ("started", words("started")),
        ("hosts", ", ".join(hosts) if len(hosts) <= 4 else f"{hosts[0]} ... {hosts[-1]} ({len(hosts)})"),
        ("ranks", f"{run.get('ranks', '?')}{grid}" + f", {record.threads} threads each" * (record.threads > 1)),
        ("exchange", ", ".join(exchange)),
        ("precision", words("precision")), ("sweeps", words("sweeps")), ("steps", words("steps")),
        ("runs on", ", ".join(filter(None, [words("execution_space"), named(Kokkos="kokkos_version")]))),
        ("libraries", ", ".join(filter(None, [words("mpi_library"), named(HDF5="hdf5_version")]))),
        ("compiler", words("compiler", "flags")),
        ("command", words("command")),
        ("warning", f"{record.disturbed}: {DO_NOT_QUOTE}" if record.disturbed else None)])


def _facts(title: str, group: Mapping[str, object], unit: str = "", skip: Collection[str] = (),
           note: str = "") -> list[Section]:
    """The members of a group of a record, by their names and with the units that these tell."""
    def shown(key: str, value: object) -> object:
        if not isinstance(value, int | float):
            return value if isinstance(value, str) else None
        if key == "overhead":
            return percent(value)
        its = unit or next((UNITS[word] for word in UNITS if word in key), "")
        return quantity(value, its) if its else f"{value:.3g}" if isinstance(value, float) else value

    return paired(title, [(spaced(key), shown(key, value)) for key, value in group.items()
                          if key not in skip and (value or key == "written")], note=note)


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
    words: list[Part] = [f"judged: {', '.join(check['judged'])}"] if check.get("judged") else []
    words += [check["remark"]] if check.get("remark") else []
    words += [f"the run ended early: {asked} asked"] if signal else []
    if record.passed is None:
        return Section("Verification", [record.verdict, *words])
    return tabulated("Verification", [check], {
        "verdict": lambda _: record.verdict, "measure": lambda row: row.get("measure", "error"),
        "error": lambda row: f"{row.get('error', float('nan')):.3g}",
        "tolerance": lambda row: f"{row.get('tolerance', float('nan')):.3g}"}, *words)[0]


def _figures(record: Record) -> Section:
    """In the table the roofline's numbers, too: work per byte is the figure by the bytes of a repeat."""
    rate = Rate(record.path, [record])
    found = tabulated("Figures of merit", record.figures, {
        "name": lambda row: spaced(row["name"]), "value": lambda row: quantity(row["value"], row.get("unit", "")),
        "attainable": lambda row: quantity(row.get("attainable"), row.get("unit", "")),
        "fraction": member("fraction", percent),
        "work per byte": lambda row: f"{rate.intensity:.3g}" if row is rate.figure and rate.intensity else None,
        "remark": member("remark")}, *roofline([rate]))
    none = "none" + f": verification {record.verdict.lower()}" * (record.passed is False)
    return found[0] if found else Section("Figures of merit", [none])


def _times(record: Record) -> list[Section]:
    """The measured time of a repeat, and what is outside of it."""
    columns = {"region": member("region"), "calls": member("calls"), "min": member("min", seconds),
               "median": member("median", seconds), "max": member("max", seconds), "slowest rank": member("slowest_rank"),
               "share": member("share", percent)}
    inside = [{**record.timers[region], "region": region, "share": record.share(region)}
              for region in ("total", *record.parts) if region in record.timers]
    known, repeats = record.share(*record.parts), record.repeats
    if known is not None and known < 0.995:
        inside.append({"region": "other", "share": 1 - known})
    note = (f"{len(repeats)} repeats: {seconds(record.seconds)}, {seconds(min(repeats))} to {seconds(max(repeats))}"
            if len(repeats) > 1 else "")
    no_kinds = [] if record.knows_kinds else ["communication is not known: this file does not give the kinds of its regions"]
    outside = [{**row, "region": region} for region, row in record.timers.items()
               if region != "total" and record.is_outside(region)]
    return [*tabulated("Time of one repeat, over ranks", inside, columns, *no_kinds, *run_bars([record]),
                       note=note), *tabulated("Outside the measured time", outside, columns)]


def _distributions(record: Record) -> list[Section]:
    """The seconds of single exchanges and steps: how far the slow ones are from the usual one."""
    title, remark = "Single exchanges and steps", record.run.get("distributions_remark")
    return tabulated(title, record.distributions, {
        "": member("name"), "count": member("count"), **{key: member(key, seconds) for key in QUANTILES},
        "max / p50": lambda row: f"{row['max'] / row['p50']:.1f}" if row.get("p50") else None,
        "slowest rank": member("slowest_rank")}, *([remark] if remark else []),
        note="of all ranks and repeats") or ([Section(title, [remark])] if remark else [])


def energy_sections(record: Record) -> list[Section]:
    """J, W, and the figure of merit per J, of what counters can be read."""
    figure, time, energy = record.figure or {}, record.seconds, record.energy
    unit, name = figure.get("unit", ""), spaced(figure.get("name", "figure of merit"))
    read = {words: float(energy[key]) for key, words in COUNTERS.items() if energy.get(key)}
    read |= {"all": sum(read.values())} if len(read) > 1 else {}
    reasons = [f"{words}: {energy[f'{key}_remark']}" for key, words in COUNTERS.items() if energy.get(f"{key}_remark")]
    work = figure["value"] * time if time and unit.endswith("/s") else None  # a rate times seconds
    note = "mean power from the first repeat to the last, of all hosts"
    return tabulated("Energy", read.items(), {
        "": lambda row: row[0], "J a repeat": lambda row: quantity(row[1], "J"),
        "power": lambda row: quantity(row[1] / time, "W") if time else None,
        f"{name} per J": lambda row: quantity(work / row[1], f"{unit.removesuffix('/s')}/J") if work else None},
        *reasons, note=note) or ([Section("Energy", reasons, note)] if reasons else [])


def _placement(record: Record) -> list[Section]:
    more = [f"... {len(record.placement)} ranks"] if len(record.placement) > MOST_RANKS else []
    return tabulated("Cores of ranks and of their threads", record.placement[:MOST_RANKS], {
        "rank": member("rank"), "host": member("host"), "cores": member("cores"),
        "of threads": lambda row: row.get("threads") or None}, *more)
