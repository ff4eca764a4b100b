# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When each rank was in which region during the traced steps, as Chrome trace events, which Perfetto draws."""

import json
from pathlib import Path

from .record import Record, RecordError, writing


def write_trace(record: Record, path: str) -> None:
    """Raises RecordError if there is no trace, or it cannot be written."""
    if not path.endswith(".json"):
        raise RecordError(f"--trace: {path}: the name ends in .json (Chrome trace events)")
    if not record.trace:
        raise RecordError(f"{record.path}: no trace in it; --set measure.trace=100 records the first 100 steps")
    hosts = {row.get("rank", place): row.get("host", "") for place, row in enumerate(record.placement)}
    events: list[dict[str, object]] = []
    for rank in sorted({row["rank"] for row in record.trace}):
        name = f"rank {rank}" + (f" of {hosts[rank]}" if hosts.get(rank) else "")
        events.append({"ph": "M", "name": "process_name", "pid": rank, "args": {"name": name}})
    for row in record.trace:
        begin, length = 1e6 * row["begin"], 1e6 * (row["end"] - row["begin"])
        events.append({"ph": "X", "name": row["region"], "cat": record.kind(row["region"]) or "region",
                       "pid": row["rank"], "tid": 0, "ts": begin, "dur": length})
    with writing(f"--trace: {path}"):
        Path(path).write_text(json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}), encoding="utf-8")
