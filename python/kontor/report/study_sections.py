# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What came of a study, in a few sentences; what limits it; what did not run; and what was run where."""

from collections import Counter

from .model import pop_of, why_none
from .report_parts import Part, Section, Table, tabulated
from .scaling import scale
from .series import DECK, Series, compare, count_of, crossing_words, pairs, points_of, rows_of
from .statistics import FEWEST_TO_COMPARE, interval, median
from .study import PASSED, Point, Study
from .text import counted, percent, quantity, seconds, spaced
from .trace import totals

RUN_KEYS = {"git_revision": "revision of the runs", "version": "Kontor", "execution_space": "execution space",
            "kokkos_version": "Kokkos", "mpi_library": "MPI", "compiler": "compiler", "flags": "flags",
            "precision": "precision"}
POINT = ["series", "workers"]
POP = [*POINT, "load balance", "communication", "parallel", "computation", "global", "packing", "least"]
PARTED = [*POINT, "communication", "serialisation at most", "transfer at least"]
DEFINITIONS = "docs/reference/metrics.md defines the quantities of this report."


def summary_section(study: Study, series: list[Series]) -> Section:
    runs = [run for point in study.points for run in point.runs]
    passed = sum(run.state == PASSED and not run.problem for run in runs)
    skipped = sum(bool(point.skipped) for point in study.points)
    cannot = f"; {counted(skipped, 'point')} cannot run here" if skipped else ""
    words = [f"{len(study.points)} points of {study.app or 'an app'}, {len(runs)} runs: {passed} passed, "
             f"{len(runs) - passed} did not{cannot}.", *(_scales(study, one) for one in series if len(one.points) > 1)]
    for deck in dict.fromkeys(one.factors.get(DECK) for one in series):
        words += _fastest([one for one in series if one.factors.get(DECK) == deck])
    for one, other in pairs(series):
        words += crossing_words(one, other, compare(one, other), certain=True)
    none = "No point has a record yet, so there is nothing to compare."
    return Section("Summary", [*words, DEFINITIONS if series else none])


def _scales(study: Study, one: Series) -> str:
    last = scale(one, study.kind == "weak")[-1]
    limit = pop_of(last.point, one.base)
    told = f" The largest share of lost time there: {limit.words}." if limit and limit.words else ""
    if study.kind == "weak":
        return (f"{one.name}: on {count_of(last.point)} the grown problem takes {interval(last.seconds, seconds)}, an "
                f"efficiency of {last.efficiency} relative to {one.base_name}.{told}")
    return (f"{one.name}: {count_of(last.point)} are {last.speedup} times as fast as {one.base_name}, an efficiency of "
            f"{last.efficiency}.{told}")


def _fastest(series: list[Series]) -> list[str]:
    """At the most workers that several series have."""
    counts = Counter(point.workers for one in series for point in one.points)
    most = max((workers for workers, count in counts.items() if count > 1), default=0)
    at = {one: point for one in series if (point := one.at(most))}
    if not at:
        return []
    one = min(at, key=lambda other: median(at[other].sample))
    faster_than = [other for other in at for row in compare(one, other) if row.workers == most and row.significant]
    rivals = [other for other in at if other is not one and other not in faster_than]
    tied = f", though not significantly faster than {', '.join(other.name for other in rivals)}" if rivals else ""
    if rivals and any(len(at[other].sample) < FEWEST_TO_COMPARE for other in (one, *rivals)):
        tied = f"; {FEWEST_TO_COMPARE} runs of each point would tell whether that is significant"
    return [f"On {count_of(at[one])} {one.name} is the fastest with {seconds(median(at[one].sample))}{tied}."]


def limits_sections(study: Study, series: list[Series]) -> list[Section]:
    """POP metrics and messages."""
    return [*_pop(study, series), *_messages(series)]


def _pop(study: Study, series: list[Series]) -> list[Section]:
    found = {point: pop_of(point, one.base, study.ablations(point).get("null_backend"))
             for one, point in points_of(series)}
    if not found:
        return []
    rows = rows_of(series, lambda _, point: [
        pop.load_balance, pop.communication, pop.parallel, pop.computation, pop.overall, percent(pop.packing),
        pop.words or None] if (pop := found[point]) else None)
    parted = rows_of(series, lambda _, point: [pop.communication, pop.serialisation, pop.transfer]
                     if (pop := found[point]) and pop.transfer else None)
    none = [f"{one.name}, {count_of(point)}: {why_none(point.records[0]) or 'no time was measured'}"
            for one, point in points_of(series) if not found[point]]
    parts: list[Part] = [
        "Efficiencies by the useful time of the ranks, of which packing is a part. Communication is serialisation "
        "(waiting for late ranks) times transfer: the time with backend null gives bounds of both."]
    parts += [Table(POP, rows, left=2, last=1)] if rows else []
    parts += [Table(PARTED, parted, left=2)] if parted else []
    if len(parted) < len(rows):
        parts.append("Serialisation and transfer are not given where no run has backend null (`ablation: true`).")
    if none:
        more = "; ..." if len(none) > 4 else ""
        parts.append(f"Not given for {counted(len(none), 'point')}: {'; '.join(none[:4])}{more}.")
    return [Section("POP metrics", parts)]


def _messages(series: list[Series]) -> list[Section]:
    def cells(_: Series, point: Point) -> list[object] | None:
        messages, size, between = totals(point.records[0])
        return [messages, quantity(size, "B"), quantity(between, "B")] if point.records[0].traffic else None

    header = [*POINT, "messages", "bytes", "between nodes"]
    return tabulated("Messages and volume", header, rows_of(series, cells), left=2,
                     text="What all ranks send in one step, exactly, by the record.")


def failure_section(study: Study) -> Section:
    rows: list[list[object]] = []
    for point in study.points:
        if point.skipped:
            rows.append([point.id, _describe(point), None, "skipped", point.skipped])
        for run in point.runs:
            again = f" after {run.attempts} attempts" if run.attempts > 1 else ""
            code = "" if run.exit_code is None or run.state == PASSED else f"exit code {run.exit_code}; "
            message = f"{code}{run.message or run.log or '-'}"
            if run.problem or run.state != PASSED or again:
                rows.append([point.id, _describe(point), run.repeat,
                             *(("not read", run.problem) if run.problem else (run.state + again, message))])
    parts: list[Part] = [f"{problem[0].upper()}{problem[1:]}." for problem in study.problems]
    parts += [Table(["point", "what", "repeat", "state", "message"], rows, left=5)] if rows else []
    return Section("Failures", parts or ["None: all planned runs have passed, or are still to come."])


def _describe(point: Point) -> str:
    others = [f"{key.rpartition('.')[2]} {value}" for key, value in point.factors.items() if key != "ranks"]
    return ", ".join([count_of(point), *others, *([spaced(point.ablation)] if point.ablation else [])])


def provenance_section(study: Study) -> Section:
    about, machine = study.about, study.about.get("machine")
    machine = machine if isinstance(machine, dict) else {}
    hosts, gpus = (machine[key] if isinstance(machine.get(key), list) else [] for key in ("hosts", "gpus"))
    cores, memory = f", {machine['cores']} cores" if machine.get("cores") else "", machine.get("memory_bytes")
    rows = {
        "study": f"{study.name} ({study.kind}) of {study.app or '?'}",
        "deck": about.get("deck"), "created": about.get("created"), "revision": about.get("git_revision"),
        "seed of the order": str(about.get("seed", "")),
        "hosts": ", ".join(map(str, hosts[:4])) + (f" ... ({len(hosts)})" if len(hosts) > 4 else ""),
        "processor": f"{machine.get('cpu', '')}{cores}".strip(", "),
        "memory": quantity(memory, "B") if isinstance(memory, (int, float)) else "",
        "GPUs": ", ".join(str(gpu.get("name", gpu) if isinstance(gpu, dict) else gpu) for gpu in gpus),
        "oversubscribed": ", ".join(point.id for point in study.points if point.oversubscribed),
    }
    records = [record for point in study.points for record in point.records]
    for key, name in RUN_KEYS.items():  # what runs say they ran on; several values are all told: they should not be
        values = dict.fromkeys(str(record.run[key]) for record in records if record.run.get(key))
        rows[name] = " AND ".join(list(values)[:4])
    return Section("Provenance", [Table(["what", ""], [row for row in rows.items() if row[1]], left=2)])
