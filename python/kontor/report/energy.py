# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Energy of a repeat: J, W, and the figure of merit per J, of what counters can be read."""

from .record import Record
from .report_parts import Section, Table
from .text import quantity

COUNTERS = {"gpu": "GPUs", "package": "processor packages"}


def energy_sections(record: Record) -> list[Section]:
    if not record.energy:
        return []
    rows, reasons = [], []
    read = {key: float(record.energy[key]) for key in COUNTERS if record.energy.get(key)}
    for key, name in COUNTERS.items():
        if remark := record.energy.get(f"{key}_remark"):
            reasons.append(f"{name}: {remark}")
        if key in read:
            rows.append([name, *_row(record, read[key])])
    if len(read) > 1:
        rows.append(["all", *_row(record, sum(read.values()))])
    per_joule = record.figure["name"].replace("_", " ") if record.figure else "figure of merit"
    table = Table(["", "J a repeat", "power", f"{per_joule} per J"], rows)
    return [Section("Energy", [*([table] if rows else []), *reasons], "median over repeats, of all hosts")]


def _row(record: Record, joules: float) -> list[str]:
    figure, time = record.figure, record.seconds
    unit = figure.get("unit", "") if figure else ""
    work = figure["value"] * time / joules if figure and time and unit.endswith("/s") else None  # a rate times seconds
    return [quantity(joules, "J"), quantity(joules / time if time else None, "W"), quantity(work, f"{unit.removesuffix('/s')}/J")]
