# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The seconds of single exchanges and steps: how far the slow ones are from the usual one."""

from .record import Record, Row
from .report_parts import Part, Section, Table
from .text import seconds

QUANTILES = ("p50", "p95", "p99", "max")


def distribution_sections(record: Record) -> list[Section]:
    parts: list[Part] = [record.run["distributions_remark"]] if record.run.get("distributions_remark") else []
    if record.distributions:
        parts.insert(0, Table(["", "count", *QUANTILES, "max / p50", "slowest rank"], [_row(row) for row in record.distributions]))
    return [Section("Single exchanges and steps", parts, "of all ranks and repeats")]


def _row(row: Row) -> list[str]:
    usual = row.get("p50")
    tail = f"{row['max'] / usual:.1f}" if usual else "-"
    return [row["name"], str(row.get("count", "-")), *(seconds(row.get(key)) for key in QUANTILES), tail, str(row.get("slowest_rank", "-"))]
