# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Noise of the machine: by how much a fixed quantum of work is slower than at its fastest."""

from .record import Record
from .report_parts import Section, Table
from .text import seconds


def noise_sections(record: Record) -> list[Section]:
    noise = record.noise
    if not noise.get("quantum"):
        return []
    slower = [f"{noise[key]:.3g}" if key in noise else "-" for key in ("p50", "p99", "max")]
    row = [seconds(noise["quantum"]), str(noise.get("samples", "-")), *slower, str(noise.get("slowest_rank", "-"))]
    return [Section("Noise of a fixed quantum of work", [Table(["quantum", "samples", "p50", "p99", "max", "slowest rank"], [row], left=0)],
                    "times the fastest of the same rank")]
