# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Roofline: the rate of runs over their arithmetic intensity, under the ceilings that the runs themselves measured.
Work is in the unit of the figure of merit: flop, or updates where an app counts these.

S. Williams, A. Waterman, D. Patterson, Roofline, Communications of the ACM 52(4), 2009.
"""

from collections.abc import Sequence
from typing import NamedTuple

from .colours import OTHER, colours
from .deck import names_of
from .record import Record
from .report_parts import Chart, Line, Section, tabulated
from .text import grouped, percent, quantity

MOST_NAMES = 12  # of runs in the picture


class Place(NamedTuple):
    """Where a run is in the picture."""

    name: str
    unit: str  # of work: flop
    intensity: float  # work per byte
    rate: float  # work/s
    roof: float | None  # work/s that the record calls attainable
    ceilings: dict[str, float]  # B/s by name: what the roof stands for, and memory
    peak: float  # work/s of matrix products, 0 if not measured


def place_of(record: Record, name: str) -> Place | None:
    """None if the record does not give the work of a repeat and the bytes that it moves."""
    for figure in record.figures:
        unit, moved = figure.get("unit", ""), figure.get("bytes_read", 0) + figure.get("bytes_written", 0)
        if moved and figure["value"] and record.seconds and unit.endswith("/s") and unit != "B/s":
            intensity, roof = figure["value"] * record.seconds / moved, figure.get("attainable")
            ceilings = {"attainable": roof / intensity if roof else 0.0,
                        "memory, triad": record.calibration.get("triad_bandwidth", 0.0)}
            gemm = record.calibration.get("gemm") if unit == "flop/s" else None
            peak = gemm.get("rate", 0.0) if isinstance(gemm, dict) else 0.0
            work = unit.removesuffix("/s").replace("1", "updates")
            return Place(name, work, intensity, figure["value"], roof, ceilings, peak)
    return None


def roofline_sections(records: Sequence[Record]) -> list[Section]:
    placed = [place for record, name in zip(records, names_of(records))
              if (place := place_of(record, name)) and any(place.ceilings.values())]
    sections = []
    for unit, places in grouped(placed, lambda place: place.unit).items():
        rows = [[place.name, f"{place.intensity:.3g}",
                 *(quantity(rate, f"{unit}/s") for rate in (place.rate, place.roof)),
                 percent(place.rate / place.roof if place.roof else None)] for place in places]
        header = ["run", f"{unit} per byte", "rate", "attainable", "fraction"]
        sections += tabulated("Roofline", header, rows, _chart(unit, places))
    return sections


def _chart(unit: str, places: list[Place]) -> Chart:
    across = [min(place.intensity for place in places) / 8, max(place.intensity for place in places) * 8]
    chosen = colours(place.name for place in places[:MOST_NAMES])
    lines = [Line(place.name, chosen[place.name], [place.intensity], [place.rate], points=True)
             for place in places[:MOST_NAMES]]
    for dash, name in enumerate(places[0].ceilings):
        if most := max(place.ceilings[name] for place in places):
            rates = [intensity * most for intensity in across]
            lines.append(Line(f"{name} {quantity(most, 'B/s')}", OTHER, across, rates, dash=dash, ideal=True))
    if peak := max(place.peak for place in places):
        lines.append(Line(f"matrix product {quantity(peak, 'flop/s')}", "#000000", across, [peak, peak], ideal=True))
    return Chart("Roofline", f"{unit} per byte", f"{unit}/s", lines, log_x=True, log_y=True, unit=f"{unit}/s")
