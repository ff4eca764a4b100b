# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run as sections: what it reached first, then where its time went, then what its record says of all else."""

from collections.abc import Mapping

from .compare import run_bars
from .curves import curve_sections
from .deck import section_of
from .parts import Section, paired, tabulated
from .rates import Rate, roofline
from .record import DO_NOT_QUOTE, Record, Row
from .solves import history_sections, solution_section
from .text import percent, quantity, seconds, spaced
from .traffic import traffic_sections

MOST_RANKS = 16  # whose cores are shown
UNITS = {"bandwidth": "B/s", "bytes": "B", "memory": "B", "working_set": "B", "latency": "s", "seconds": "s",
         "first_step": "s", "quantum": "s", "overhead": "%"}
SHOWN = ("deck", "oversubscribed", "ending", "ending_in_words", "end_signal")  # elsewhere, or in another form


def sections(record: Record) -> list[Section]:
    """Those that the record has something for."""
    more = [f"... {len(record.placement)} ranks"] if len(record.placement) > MOST_RANKS else []
    deck = [(name, ", ".join(section_of(record, name))) for name in ("problem", "product", "solver", "time")]
    return [*_figures(record), *_verification(record), *solution_section(record), *curve_sections(record),
            *_times(record), *history_sections(record), *_facts("Checkpoints", record.checkpoint),
            *tabulated("Single exchanges and steps, of all ranks and repeats",
                       [_cells(row, "s") for row in record.distributions]),
            *_facts("Noise of a fixed quantum of work, relative to the fastest of a rank", record.noise),
            *_energy(record), *traffic_sections(record), *_facts("Bytes that all ranks send in a repeat", record.volume, "B"),
            *_facts("Memory, all ranks", record.memory, "B"), *_facts("Matrix", record.matrix),
            *_facts("Calibration (same job, same ranks)", record.calibration), *paired("Deck", deck),
            *_facts("Run", {**record.run, "hosts": ", ".join(record.hosts)}),
            *tabulated("Cores of ranks and of their threads", map(_cells, record.placement[:MOST_RANKS]), *more)]


def _cells(group: Mapping[str, object], unit: str = "") -> Row:
    """The members of a group of a record, by their names and with the units that these tell; numbers that are not whole
    have `unit` else."""
    def shown(key: str, value: object) -> object:
        if not isinstance(value, int | float):
            return value if isinstance(value, str) else None
        its = next((UNITS[word] for word in UNITS if word in key), unit if isinstance(value, float) else "")
        if its == "%":
            return percent(value)
        return quantity(value, its) if its else f"{value:.4g}" if isinstance(value, float) else value

    return {spaced(key): shown(key, value) for key, value in group.items() if key not in SHOWN}


def _facts(title: str, group: Mapping[str, object], unit: str = "") -> list[Section]:
    return paired(title, _cells(group, unit).items())


def _figures(record: Record) -> list[Section]:
    """In the table the roofline's numbers, too: work per byte is the figure by the bytes of a repeat."""
    rate = Rate(record.path, [record])
    cells = [{"name": spaced(row["name"]), "value": quantity(row["value"], row.get("unit", "")),
              "attainable": quantity(row.get("attainable"), row.get("unit", "")),
              "fraction": percent(row.get("fraction")), "remark": row.get("remark"),
              "work per byte": rate.intensity_words if row is rate.figure else None} for row in record.figures]
    words = [f"Warning: {record.disturbed}: {DO_NOT_QUOTE}"] if record.disturbed else []
    none = "none" + f": verification {record.verdict.lower()}" * (record.passed is False)
    title = f"{record.app} on {record.run.get('ranks', '?')} ranks, {record.path}: figures of merit"
    return tabulated(title, cells, *words, *roofline([rate])) or [Section(title, [none, *words])]


def _verification(record: Record) -> list[Section]:
    check, signal = record.verification, record.run.get("end_signal")
    asked = "checkpoint.walltime" if signal == "walltime" else f"signal {signal}"
    words = [f"judged: {', '.join(check['judged'])}"] if check.get("judged") else []
    words += [check["remark"]] if check.get("remark") else []
    words += [f"the run ended early: {asked} asked"] if signal else []
    cells: Row = {"verdict": record.verdict}
    if record.passed is not None:
        cells |= {"measure": check.get("measure", "error"),
                  **{key: f"{check.get(key, float('nan')):.3g}" for key in ("error", "tolerance")}}
    return tabulated("Verification", [cells], *words)


def _times(record: Record) -> list[Section]:
    """The measured time of a repeat, and what is outside of it."""
    def cells(region: str) -> Row:
        row = record.timers[region]
        return {"region": region, "calls": row.get("calls"),
                **{key: seconds(row.get(key)) for key in ("min", "median", "max")}, "slowest rank": row.get("slowest_rank")}

    inside = [{**cells(region), "share": percent(record.share(region))}
              for region in ("total", *record.parts) if region in record.timers]
    known, repeats = record.share(*record.parts), record.repeats
    inside += [{"region": "other", "share": percent(1 - known)}] if known is not None and known < 0.995 else []
    note = (f"{len(repeats)} repeats: {seconds(record.seconds)}, {seconds(min(repeats))} to {seconds(max(repeats))}"
            if len(repeats) > 1 else "")
    no_kinds = [] if record.knows_kinds else ["communication is not known: regions of this file have no kinds"]
    outside = [cells(region) for region in record.timers if region != "total" and record.is_outside(region)]
    return [*tabulated("Time of one repeat, over ranks", inside, *no_kinds, *run_bars([record]), note=note),
            *tabulated("Outside the measured time", outside)]


def _energy(record: Record) -> list[Section]:
    """With the power, and the work per J of all counters, where the figure of merit is a rate of work."""
    read = {key: float(record.energy[key]) for key in ("gpu", "package") if record.energy.get(key)}
    joules, time, rate = sum(read.values()), record.seconds, record.figure or {}
    more = [("power", quantity(joules / time, "W"))] if joules and time else []
    if more and rate.get("unit", "").endswith("/s"):
        unit = f"{rate['unit'].removesuffix('/s')}/J"
        more.append((f"{spaced(rate['name'])} per J", quantity(rate["value"] * (time or 0) / joules, unit)))
    return paired("Energy of a repeat, of all hosts", [*_cells(record.energy, "J").items(), *more])
