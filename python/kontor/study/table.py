# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of a study: a row for each run, as CSV."""

import csv
import io
import statistics
from typing import Any

from .folder import Folder, read_json
from .study import by_key, flow

OF_RUN = ("point", "repeat", "attempt", "state", "exit_code", "message", "seconds")
OF_POINT = ("app", "deck", "ranks", "nodes", "threads", "gpus", "oversubscribed")


def row(folder: Folder, point: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """Of the record every number and word, by its path there, but for lists and the text of the deck."""
    found = {key: run[key] for key in OF_RUN} | {key: point.get(key) for key in OF_POINT}
    found |= {f"set.{key}": flow(value) for key, value in point["set"].items()}
    record = run["record"] and read_json(folder.path / run["record"]) or {}
    if repeats := record.get("repeats"):
        found |= {"repeat.median": statistics.median(repeats), "repeat.min": min(repeats), "repeat.max": max(repeats)}
    return found | {f"run.{key}": value for key, value in by_key(record).items()
                    if key != "deck" and not isinstance(value, dict | list)}


def write_table(folder: Folder) -> None:
    """Fails where it cannot be written."""
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
