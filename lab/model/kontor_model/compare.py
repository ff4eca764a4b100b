# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predictions as a table, beside what was simulated or measured."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from kontor.messages import Failure
from kontor.study.plan import Point

from .machine import Machine
from .prediction import Prediction


@dataclass
class Row:
    """Seconds of one step: of a sweep, an iteration, a product of matrices."""

    point: Point
    prediction: Prediction
    simulated: float | None = None
    measured: float | None = None

    def step(self, seconds: float) -> float:
        return seconds / (self.prediction.steps or 1)

    @property
    def predicted(self) -> float:
        return self.step(self.prediction.seconds)

    @property
    def as_simulated(self) -> float:
        """What simulated ranks should take, which wait for each reduction where they begin it."""
        return self.step(self.prediction.seconds + self.prediction.hidden)

    def plain(self) -> dict[str, Any]:
        told = asdict(self.prediction)
        return {"ranks": self.point.ranks, "app": self.point.app, "deck": self.point.deck, "set": self.point.set, **told,
                "seconds_a_step": self.predicted, "bound": self.prediction.bound,
                "simulated_seconds_a_step": self.simulated, "seconds_a_step_as_simulated": self.as_simulated, "measured_seconds_a_step": self.measured}


def seconds_of_step(record: dict[str, Any]) -> float:
    """The median repeat of a record, for one sweep, iteration or product."""
    return median(record["repeats"]) / (record.get("sweeps") or record.get("iterations") or 1)


def measured_seconds(folder: Path, point: Point) -> float | None:
    """The median of the runs of the same point in a study's folder; None: it has none."""
    try:
        state = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failure(f"{folder}: has no study.json that can be read") from error
    same = {one["id"] for one in state["points"] if one["ranks"] == point.ranks and one["set"] == point.set
            and one.get("deck", point.deck) == point.deck}
    files = [folder / run["record"] for run in state["runs"] if run["point"] in same and run["state"] == "passed" and run["record"]]
    found = [seconds_of_step(json.loads(file.read_text(encoding="utf-8"))) for file in files]
    return median(found) if found else None


def table(rows: list[Row], machine: Machine, weak: bool) -> str:
    """Microseconds of a step. Efficiency beside the first row of the same settings."""
    heads = ["ranks", "grid", "a rank's part", "compute", "exchange", "reduction", "step", "efficiency", "bound"]
    with_simulated = any(row.simulated for row in rows)
    with_measured = any(row.measured for row in rows)
    heads += ["simulated", "model"] * with_simulated + ["measured", "model"] * with_measured
    lines = [heads]
    rows = sorted(rows, key=lambda row: rows.index(_baseline(rows, row)))
    for row in rows:
        prediction, first = row.prediction, _baseline(rows, row)
        ideal = first.predicted if weak else first.predicted * first.point.ranks / row.point.ranks
        cells = [str(row.point.ranks), "x".join(map(str, prediction.grid)), prediction.part,
                 *(_micro(row.step(part)) for part in (prediction.compute, prediction.exchange, prediction.reduction, prediction.seconds)),
                 f"{ideal / row.predicted:.2f}", prediction.bound]
        for shown, expected, other in ((with_simulated, row.as_simulated, row.simulated), (with_measured, row.predicted, row.measured)):
            if shown:
                cells += [_micro(other), f"{100 * (expected / other - 1):+.1f} %"] if other else ["-", "-"]
        lines.append(cells)
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    text = [f"{machine.name}: predicted, us of a step" + (", simulated by SimGrid" if with_simulated else "")
            + (", measured" if with_measured else "")]
    words = [_words(row, rows) for row in rows]
    for number, line in enumerate(lines):
        if number and words[number - 1] and (number == 1 or words[number - 1] != words[number - 2]):
            text.append(f"  {words[number - 1]}")
        text.append("  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths)).rstrip())
    text += dict.fromkeys(remark for row in rows for remark in row.prediction.remarks)
    if any(row.simulated and row.prediction.hidden for row in rows):
        text.append("pipelined: simulated ranks wait for each reduction, so the model beside them hides none")
    return "\n".join(text)


def _micro(seconds: float) -> str:
    if abs(seconds) < 1e-11:  # what rounding leaves
        return "0"
    return f"{1e6 * seconds:.4g}" if seconds < 0.01 else f"{1e6 * seconds:.0f}"


def _words(row: Row, rows: list[Row]) -> str:
    """What tells the row from others but its ranks."""
    varied = [key for key in row.point.factors if key != "ranks"]
    told = [f"{key.rpartition('.')[2]} {row.point.factors[key]}" for key in varied]
    return ", ".join(told)


def _baseline(rows: list[Row], row: Row) -> Row:
    others = {key: value for key, value in row.point.factors.items() if key != "ranks"}
    alike = [one for one in rows if {key: value for key, value in one.point.factors.items() if key != "ranks"} == others]
    return min(alike, key=lambda one: one.point.ranks)
