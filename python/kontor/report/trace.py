# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When each rank was in which region during the traced steps, as Chrome trace events, which Perfetto draws."""

import json
from pathlib import Path

from .record import Record, RecordError


def write_trace(record: Record, path: str) -> None:
    """Each rank is a process."""
    if not record.trace:
        raise RecordError(f"{record.path}: no trace in it; --set measure.trace=100 records the first 100 steps")
    events = [{"ph": "X", "name": row["region"], "cat": record.kind(row["region"]), "pid": row["rank"],
               "tid": 0, "ts": 1e6 * row["begin"], "dur": 1e6 * (row["end"] - row["begin"])} for row in record.trace]
    Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
