# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What limits a study: POP metrics, fitted laws, messages, and the model's prediction."""

from .colours import OTHER, colours
from .fits import fit
from .matrix import totals
from .model import Pop, Prediction, pop_of, predict, why_none
from .report_parts import Chart, Line, Part, Section, Table, tabulated
from .scaling_section import interval
from .series import Series, count_of, points_of
from .study import Study
from .text import percent, quantity, seconds

POP_HEADER = ["series", "workers", "load balance", "communication", "parallel", "computation", "global", "packing", "least"]
PARTS_HEADER = ["series", "workers", "communication", "serialisation at most", "transfer at least"]


def limits_sections(study: Study, series: list[Series]) -> list[Section]:
    return [*_pop(study, series), *_laws(study, series), *_messages(series), *_predictions(series)]


def _pop(study: Study, series: list[Series]) -> list[Section]:
    rows, parted, none = [], [], []
    for one, point in points_of(series):
        if metrics := pop_of(point, one.base, study.ablations(point).get("null_backend")):
            rows.append([one.name, count_of(point), *_pop_row(metrics)])
            if metrics.transfer is not None:
                parted.append([one.name, count_of(point), *map(interval, (metrics.communication, metrics.serialisation, metrics.transfer))])
        else:
            none.append(f"{one.name}, {count_of(point)}: {why_none(point.records[0]) or 'no time was measured'}")
    if not rows and not none:
        return []
    parts: list[Part] = ["Load balance is mean over greatest useful time of the ranks, communication efficiency the greatest useful time over "
                         "the time of a repeat; their product is the parallel efficiency. Computational scalability is the useful time for "
                         "the same work at the baseline over that here, and the product of all the global efficiency. Packing is the part of "
                         "the useful time that packs and unpacks messages. Communication efficiency is serialisation (waiting for late ranks) times "
                         "transfer, parted by the time with backend null, with which nobody waits for a neighbour: so bounds are given."]
    if rows:
        parts.append(Table(POP_HEADER, rows, left=2, last=1))
    if parted:
        parts.append(Table(PARTS_HEADER, parted, left=2))
    if len(parted) < len(rows):
        parts.append("Serialisation and transfer are not given where the study has no run with backend null (`ablation: true`).")
    if none:
        parts.append(f"Not given for {len(none)} point{'s' * (len(none) != 1)}: {'; '.join(none[:4])}{'; ...' if len(none) > 4 else ''}.")
    return [Section("POP metrics", parts)]


def _pop_row(metrics: Pop) -> list[str]:
    return [*(interval(value) for value in (metrics.load_balance, metrics.communication, metrics.parallel, metrics.computation, metrics.overall)),
            percent(metrics.packing), metrics.words or "-"]


def _laws(study: Study, series: list[Series]) -> list[Section]:
    rows = []
    for one in series:
        if len(one.points) > 1:
            found = fit(one, study.kind == "weak")
            error = "-" if found.error is None else percent(found.error)
            rows.append([one.name, found.law, "-" if found.serial is None else interval(found.serial, "{:.3g}".format), error,
                         f"not given: {found.refused}" if found.refused else "given"])
    text = ("The serial fraction of Amdahl's law (a problem that stays) or Gustafson's (one that grows), fitted to all points of a series, next to "
            "the error of the fit. A fraction describes these points; it is no promise for more workers.")
    return tabulated("Fitted laws", text, Table(["series", "law", "serial fraction", "error of the fit", ""], rows, left=2, last=1))


def _messages(series: list[Series]) -> list[Section]:
    rows = []
    for one, point in points_of(series):
        if point.records[0].traffic:
            all_of = totals(point.records[0])
            rows.append([one.name, count_of(point), str(all_of.messages), *(quantity(size, "B") for size in (all_of.bytes, all_of.between))])
    return tabulated("Messages and volume", "What all ranks send in one step, exactly, by the record.",
                     Table(["series", "workers", "messages", "bytes", "between nodes"], rows, left=2))


def _predictions(series: list[Series]) -> list[Section]:
    rows, lines = [], []
    colour = colours(one.name for one in series)
    for one in series:
        found = [(point, value) for point in one.points if (value := predict(point, one.base))]
        rows += [[one.name, count_of(point), *_prediction_row(value)] for point, value in found]
        told = [(point.workers, value.measured, value.total) for point, value in found if value.total]
        if len(told) > 1:
            across, measured, predicted = (list(column) for column in zip(*told))
            lines.append(Line(one.name, colour[one.name], across, measured))
            lines.append(Line(f"{one.name}, predicted", colour[one.name] if len(series) > 1 else OTHER, across, predicted, dash=1))
    text = ("Predicted is the baseline's useful time of a worker, grown with its work, and the messages of the busiest rank by the latency and "
            "bandwidth that the run's own calibration has measured; where overlap is on and another unit moves messages, computing hides them as "
            "far as it lasts. Reductions, waiting, caches, and shared links or cores are not in the model: the difference to the measurement is "
            "what these take.")
    table = Table(["series", "workers", "computing", "messages", "predicted", "measured", "error", "not computing, measured", "links"], rows,
                  left=2, last=1)
    chart = Chart("Prediction and measurement", "workers", "time", lines, log_x=True, log_y=True, unit="s")
    return tabulated("Prediction and measurement", text, table, chart)


def _prediction_row(value: Prediction) -> list[str]:
    error = "-" if value.error is None else f"{100 * value.error:+.0f} %"
    return [seconds(value.compute), seconds(value.communicate), seconds(value.total), seconds(value.measured), error,
            seconds(value.measured_communication), value.links]
