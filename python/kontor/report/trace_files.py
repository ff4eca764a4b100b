# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trace of a run for other tools: Chrome trace events for Perfetto, or an OTF2 archive for Vampir."""

import json
import shutil
import tempfile
from pathlib import Path

from .errors import RecordError
from .record import Record

SUFFIXES = (".json", ".otf2")
TICKS = 1_000_000_000  # a second, in OTF2: nanoseconds


def write_trace(record: Record, path: str) -> None:
    """Raises RecordError if there is no trace, or it cannot be written."""
    if not path.endswith(SUFFIXES):
        raise RecordError(f"--trace: {path}: the name ends in .json (Chrome trace events) or .otf2 (a folder with an OTF2 archive)")
    if not record.trace:
        raise RecordError(f"{record.path}: no trace in it; --set measure.trace=100 records the first 100 steps")
    try:
        if path.endswith(".json"):
            Path(path).write_text(json.dumps({"traceEvents": chrome_events(record), "displayTimeUnit": "ns"}), encoding="utf-8")
        else:
            _write_otf2(record, Path(path))
    except OSError as error:
        raise RecordError(f"--trace: {path} cannot be written: {error.strerror or error}") from error


def chrome_events(record: Record) -> list[dict[str, object]]:
    """A process for each rank, complete events in microseconds."""
    hosts = {row.get("rank", place): row.get("host", "") for place, row in enumerate(record.placement)}
    events: list[dict[str, object]] = [
        {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": " of ".join(filter(None, (f"rank {rank}", hosts.get(rank))))}}
        for rank in sorted({row["rank"] for row in record.trace})]
    return events + [{"ph": "X", "name": row["region"], "cat": record.kind(row["region"]) or "region", "pid": row["rank"], "tid": 0,
                      "ts": 1e6 * row["begin"], "dur": 1e6 * (row["end"] - row["begin"])} for row in record.trace]


def _write_otf2(record: Record, path: Path) -> None:
    """A location for each rank; regions that overlap on a rank cannot be nested, and get locations of their own."""
    try:
        import otf2
    except ImportError as error:
        raise RecordError("--trace: OTF2 needs Python with otf2: apt-get install python3-otf2") from error
    if path.exists():
        raise RecordError(f"--trace: {path} exists; remove it or give another name")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        archive = Path(folder) / "archive"
        with otf2.writer.open(str(archive), timer_resolution=TICKS) as trace:
            node = trace.definitions.system_tree_node("run", parent=None)
            names = {name: trace.definitions.region(name) for name in dict.fromkeys(row["region"] for row in record.trace)}
            for rank in sorted({row["rank"] for row in record.trace}):
                group = trace.definitions.location_group(f"rank {rank}", system_tree_parent=node)
                for number, lane in enumerate(lanes([row for row in record.trace if row["rank"] == rank])):
                    writer = trace.event_writer(f"rank {rank}" + (f", {number}" if number else ""), group=group)
                    for time, enters, name in _edges(lane):
                        (writer.enter if enters else writer.leave)(time, names[name])
        shutil.move(str(archive), str(path))


Event = tuple[int, int, str]  # begin and end in ticks, region


def lanes(rows: list[dict[str, object]]) -> list[list[Event]]:
    """The intervals of a rank in lists, in each of which any two are nested or apart."""
    found: list[list[Event]] = []
    events = [(round(float(str(row["begin"])) * TICKS), round(float(str(row["end"])) * TICKS), str(row["region"])) for row in rows]
    for event in sorted(events, key=lambda event: (event[0], -event[1])):
        lane = next((lane for lane in found if all(other[1] <= event[0] or event[1] <= other[1] for other in lane)), None)
        if lane is None:
            found.append([event])
        else:
            lane.append(event)
    return found


def _edges(lane: list[Event]) -> list[tuple[int, bool, str]]:
    """Time, whether it is an entry, and region: what begins first ends last."""
    edges: list[tuple[int, bool, str]] = []
    inside: list[Event] = []
    for event in lane:
        while inside and inside[-1][1] <= event[0]:
            edges.append((inside[-1][1], False, inside.pop()[2]))
        edges.append((event[0], True, event[2]))
        inside.append(event)
    return edges + [(event[1], False, event[2]) for event in reversed(inside)]
