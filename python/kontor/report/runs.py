# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run as sections: what it reached first, then where its time went, then what its record says of all else. And
several runs side by side."""

from collections.abc import Mapping, Sequence

from .curves import curve_sections
from .deck import labels, names_of, other_problem, sections_of
from .parts import Chart, Section, paired, tabulated
from .rates import Rate, roofline
from .record import DO_NOT_QUOTE, Record, Row, regions_of
from .solves import (SOLVED, ending, history_charts, history_sections, incomparable, is_solve, residual,
                     solution_section, speed, time_to_solution)
from .text import grouped, percent, quantity, seconds, spaced
from .views import time_bars, traffic_section

TOLD = 3  # differences of two problems
MOST_RANKS = 16  # whose cores are shown
UNITS = {"bandwidth": "B/s", "bytes": "B", "memory": "B", "working_set": "B", "latency": "s", "seconds": "s",
         "first_step": "s", "quantum": "s", "overhead": "%"}
SHOWN = ("deck", "oversubscribed", "ending", "ending_in_words", "end_signal")  # elsewhere, or in another form


def sections(record: Record) -> list[Section]:
    """Those that the record has something for."""
    more = [f"... {len(record.placement)} ranks"] if len(record.placement) > MOST_RANKS else []
    return [*_figures(record), *_verification(record), *solution_section(record), *curve_sections(record),
            *_times(record), *history_sections(record), *_facts("Checkpoints", record.checkpoint),
            *tabulated("Single exchanges and steps, of all ranks and repeats",
                       [_cells(row, "s") for row in record.distributions]),
            *_facts("Noise of a fixed quantum of work, relative to the fastest of a rank", record.noise),
            *_facts("Energy of a repeat, of all hosts", record.energy, "J"), *traffic_section(record), *_facts("Bytes of all ranks in a repeat", record.volume, "B"),
            *_facts("Matrix", record.matrix),
            *_facts("Calibration (same job, same ranks)", record.calibration), *paired("Deck", sections_of(record)),
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
        times = {key: seconds(row.get(key)) for key in ("min", "median", "max")}
        return {"region": region, "calls": row.get("calls"), **times, "slowest rank": row.get("slowest_rank")}

    inside = [{**cells(region), "share": percent(record.share(region))}
              for region in ("total", *record.parts) if region in record.timers]
    known, repeats = record.share(*record.parts), record.repeats
    inside += [{"region": "other", "share": percent(1 - known)}] if known is not None and known < 0.995 else []
    note = (f"{len(repeats)} repeats: {seconds(record.seconds)}, {seconds(min(repeats))} to {seconds(max(repeats))}"
            if len(repeats) > 1 else "")
    outside = [cells(region) for region in record.timers if region != "total" and record.is_outside(region)]
    return [*tabulated("Time of one repeat, over ranks", inside, *run_bars([record]), note=note),
            *tabulated("Outside the measured time", outside)]


def comparison_sections(records: Sequence[Record]) -> list[Section]:
    """Of each app."""
    return [section for app, group in grouped(records, lambda record: record.app).items()
            for section in _compared(app, group)]


def _compared(app: str, group: list[Record]) -> list[Section]:
    baseline, solved, cells = group[0], all(map(is_solve, group)), []
    for record, label in zip(group, labels(group)):
        ratio, figure = speed(record, baseline), record.figure
        fraction = next((one["fraction"] for one in record.figures if "fraction" in one), None)
        cells.append({
            "file": record.path, "settings": label or None,
            **({"time to solution": seconds(time_to_solution(record)), "iterations": record.run.get("iterations")}
               if solved else {}),
            "ranks": f"{record.run.get('ranks', '-')}" + f" x {record.threads} threads" * (record.threads > 1),
            "time": seconds(record.seconds), "rate": quantity(figure.get("value"), figure.get("unit", "")),
            "of attainable": percent(fraction), "communication": percent(record.exchange_share),
            "noise p99": f"{record.noise['p99']:.3g}" if "p99" in record.noise else None, "verified": record.verdict,
            "speed": None if ratio is None else f"{ratio:.3f}"})
    words = [f"Warning: {run.path}: {run.disturbed}: {DO_NOT_QUOTE}" for run in group if run.disturbed]
    words += [f"{run.path}: {ending(run)}, residual {residual(run)}" for run in group
              if solved and run.run["ending"] != SOLVED[0]]
    for record in group[1:]:
        if found := incomparable(record, baseline) if solved else other_problem(record, baseline):
            more = f"; and {len(found) - TOLD} more" if len(found) > TOLD else ""
            what = "not comparable with" if solved else "another problem than"
            words.append(f"{record.path}: {what} {baseline.path}: {'; '.join(found[:TOLD])}{more}")
    figures = ", ".join(sorted({spaced(record.figure["name"]) for record in group if record.figure})) or "none"
    rates = [Rate(name, [record]) for record, name in zip(group, names_of(group))]
    return tabulated(app, cells, *words, *run_bars(group), *history_charts(group), *roofline(rates),
                     note=f"rate: {figures}; speed: relative to {baseline.path}, above 1 is faster")


def run_bars(records: Sequence[Record]) -> list[Chart]:
    """A bar for each run."""
    bars = [(name, [record], record.seconds or 0.0, seconds(record.seconds))
            for record, name in zip(records, names_of(records))]
    return time_bars("Time of a repeat by region, medians over ranks", bars, regions_of(records))
