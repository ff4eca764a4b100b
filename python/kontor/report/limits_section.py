# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What limits a study: POP metrics, fitted laws, messages, and the model's prediction."""

from .colours import OTHER, colours
from .matrix import totals
from .model import pop_of, predict, why_none
from .report_parts import Chart, Line, Part, Section, Table, tabulated
from .scaling import law_sections
from .series import Series, count_of, points_of, rows_of
from .study import Point, Study
from .text import counted, percent, quantity, seconds

POINT = ["series", "workers"]
POP = [*POINT, "load balance", "communication", "parallel", "computation", "global", "packing", "least"]
PARTED = [*POINT, "communication", "serialisation at most", "transfer at least"]
PREDICTED = [*POINT, "computing", "messages", "predicted", "measured", "error", "not computing, measured", "links"]


def limits_sections(study: Study, series: list[Series]) -> list[Section]:
    return [*_pop(study, series), *law_sections(study, series), *_messages(series), *_predictions(series)]


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


def _predictions(series: list[Series]) -> list[Section]:
    found = {point: predict(point, one.base) for one, point in points_of(series)}
    rows = rows_of(series, lambda _, point: [
        *map(seconds, (value.compute, value.communicate, value.total, value.measured)),
        None if value.error is None else f"{100 * value.error:+.0f} %", seconds(value.measured_communication),
        value.links] if (value := found[point]) else None)
    lines, colour = [], colours(one.name for one in series)
    for one in series:
        told = [(point.workers, value.measured, value.total) for point in one.points
                if (value := found[point]) and value.total]
        if len(told) > 1:
            across, measured, predicted = zip(*told)
            other = colour[one.name] if len(series) > 1 else OTHER
            lines += [Line(one.name, colour[one.name], across, measured),
                      Line(f"{one.name}, predicted", other, across, predicted, dash=1)]
    text = ("Predicted is the baseline's useful time, grown with the work, and the messages of the busiest rank by the "
            "run's calibration. Reductions, waiting, caches and shared links or cores are not in the model.")
    chart = Chart("Prediction and measurement", "workers", "time", lines, log_x=True, log_y=True, unit="s")
    return tabulated(chart.title, PREDICTED, rows, chart, left=2, last=1, text=text)
