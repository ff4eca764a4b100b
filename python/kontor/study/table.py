# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of a study: a row for each run, as CSV."""

import csv
import io
import statistics
from typing import Any

from .folder import Folder, read_json
from .study import flow

OF_RUN = ("point", "repeat", "attempt", "state", "exit_code", "message", "seconds")
OF_POINT = ("app", "deck", "ranks", "nodes", "threads", "gpus", "oversubscribed")
OF_RECORD = ("started", "git_revision", "version", "hosts", "execution_space", "threads", "kokkos_version",
             "mpi_library", "hdf5_version", "compiler", "flags", "backend", "pattern", "packing", "path", "overlap",
             "process_grid", "precision", "peak_memory", "start_to_first_step")


def row(folder: Folder, point: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    found = {key: run[key] for key in OF_RUN} | {key: point.get(key) for key in OF_POINT}
    found |= {f"set.{key}": flow(value) for key, value in point["set"].items()}
    record = read_json(folder.path / run["record"]) if run["record"] else None
    if record is None:
        return found
    if repeats := record.get("repeats"):
        found |= {"repeat.median": statistics.median(repeats), "repeat.min": min(repeats),
                  "repeat.max": max(repeats), "repeat.count": len(repeats)}
    figures = record.get("figures_of_merit") or {}
    for figure in figures.values() if isinstance(figures, dict) else figures:
        for what in ("value", "attainable", "fraction", "remark"):
            if figure.get(what) is not None:
                found[f"fom.{figure['name']}{'' if what == 'value' else f'.{what}'}"] = figure[what]
    for group in "verification", "calibration":
        found |= {f"{group}.{key}": _cell(value) for key, value in (record.get(group) or {}).items()
                  if not isinstance(value, dict)}
    return found | {f"run.{key}": _cell(record[key]) for key in OF_RECORD if key in record}


def write_table(folder: Folder) -> None:
    """Fails where it cannot be written."""
    folder.remove_left()
    points = {point["id"]: point for point in folder.state["points"]}
    table = [row(folder, points[run["point"]], run) for run in folder.runs if run["point"] in points]
    columns = list(dict.fromkeys(key for one in table for key in one))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: no_formula(value) for key, value in one.items()} for one in table)
    folder.write("study.csv", text.getvalue())


def no_formula(value: Any) -> Any:
    """As a spreadsheet takes it for text: one that begins like a formula would be computed there."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return int(value) if isinstance(value, bool) else value
