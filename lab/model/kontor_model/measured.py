# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What runs on few ranks have measured: seconds of kernels by the size of a rank's part, and what a message costs."""

import json
from collections import defaultdict
from collections.abc import Iterable
from math import prod
from pathlib import Path
from statistics import median
from typing import Any

from kontor.messages import Failure

from .rates import Rate

Record = dict[str, Any]


def read_records(paths: list[str]) -> list[Record]:
    """JSON of --results, or folders of studies, of which the runs that passed. Raises Failure."""
    records = []
    for name in paths:
        path = Path(name)
        files = _of_study(path) if path.is_dir() else [path]
        for file in files:
            try:
                records.append(json.loads(file.read_text(encoding="utf-8")))
            except OSError as error:
                raise Failure(f"{file}: cannot read the record: {error.strerror}") from error
            except ValueError as error:
                raise Failure(f"{file}: not a record: --records takes what --results has written (JSON), or a study's folder") from error
    if not records:
        raise Failure(f"{', '.join(paths)}: no run has passed there")
    for record in records:
        if not isinstance(record, dict) or "timers" not in record or "app" not in record:
            raise Failure(f"{', '.join(paths)}: a file is no record of a run: 'app' or 'timers' is missing")
    return records


def _of_study(folder: Path) -> list[Path]:
    try:
        state = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failure(f"{folder}: has no study.json that can be read") from error
    return [folder / run["record"] for run in state.get("runs", []) if run.get("state") == "passed" and run.get("record")]


def rates_of(records: Iterable[Record], up_to: int | None = None) -> dict[str, Rate]:
    """Of each kernel: at each size the median of the runs, or of those on so many ranks at most. The mean over a run's ranks is taken,
    where it is there."""
    found: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        if record.get("simulated"):
            raise Failure("a record is simulated: what it has charged is not a measurement")
        if up_to is not None and record["ranks"] > up_to:
            continue
        for kernel, size, seconds in {"heat": _heat, "cg": _cg, "matmul": _matmul}.get(record["app"], lambda _: [])(record):
            if seconds > 0:
                found[kernel][size].append(seconds)
    return {kernel: Rate((size, median(values)) for size, values in sizes.items()) for kernel, sizes in found.items()}


def _seconds(record: Record, region: str) -> float:
    for timer in record["timers"]:
        if timer["region"] == region:
            return float(timer.get("mean", timer["median"]))
    return 0.0


def _calls(record: Record, region: str) -> int:
    return next((timer["calls"] for timer in record["timers"] if timer["region"] == region), 0)


def _of_call(record: Record, region: str) -> float:
    calls = _calls(record, region)
    return _seconds(record, region) / calls if calls else 0.0


def _heat(record: Record) -> list[tuple[str, float, float]]:
    cells = prod(record["cells"]) / record["ranks"]
    return [("heat/sweep", cells, _seconds(record, "compute") / record["sweeps"])]


def _cg(record: Record) -> list[tuple[str, float, float]]:
    rows = record["matrix"]["rows"] / record["ranks"]
    return [("cg/product", rows, sum(_of_call(record, region) for region in ("spmv", "spmv_boundary"))), ("cg/vectors", rows, _of_call(record, "vectors"))]


def _matmul(record: Record) -> list[tuple[str, float, float]]:
    products = _calls(record, "gemm")
    attained = record["figures_of_merit"]["flops"]["value"]
    flops = attained * median(record["repeats"]) / record["ranks"]
    return [("matmul/gemm", round(flops / products), _seconds(record, "gemm") / products)]


def _cores_of_node(record: Record) -> int:
    """Those that its ranks may use together, on the node with fewest; 0: not known."""
    nodes: dict[str, set[int]] = defaultdict(set)
    for place in record.get("placement", []):
        for part in filter(None, place["cores"].split(",")):
            first, _, last = part.partition("-")
            nodes[place["host"]].update(range(int(first), int(last or first) + 1))
    return min((len(cores) for cores in nodes.values()), default=0)


def machine_values(records: list[Record], name: str, up_to: int | None = None) -> dict[str, Any]:
    """A machine file's values: of one node, from the calibration of the runs with most ranks, or of several.

    A calibration has half of a round trip, both ends included. Inside a node all of it is taken for work of the processors, half
    at each end, and messages for copies by the one that receives; between nodes what is more is the latency of the links."""
    links = [record["calibration"] for record in records if record.get("calibration", {}).get("bandwidth")]
    if not links:
        raise Failure("no record has a calibration of messages: it needs a run on 2 ranks or more")
    near = median(link["latency"] for link in links)
    fastest = max(link["bandwidth"] for link in links)
    ranks = max(record["ranks"] for record in records)
    cores = max(map(_cores_of_node, records)) or ranks  # few ranks are bound to few
    values: dict[str, Any] = {
        "name": name, "about": f"by the calibration of {len(links)} runs, {sorted({record['started'][:10] for record in records})[-1]}",
        "nodes": 1, "node": {"ranks": ranks, "cores": min(ranks, cores), "latency": 0.0, "bandwidth": fastest, "copies": True},
        "message": {"send": near / 2, "receive": near / 2},
    }
    far = [link for link in links if link.get("internode_bandwidth")]
    if far:
        latency = median(link["internode_latency"] for link in far)
        values["network"] = {"latency": max(0.0, latency - near) / 2, "bandwidth": max(link["internode_bandwidth"] for link in far)}
        values["nodes"] = max(len(record.get("hosts", [])) for record in records)
    values["compute"] = {kernel: [list(point) for point in rate.points] for kernel, rate in rates_of(records, up_to).items()}
    return values
