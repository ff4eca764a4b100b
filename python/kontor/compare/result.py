# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a comparison has found, as a table, a sentence and a chart; kept as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..messages import Failure
from ..report.colours import colours
from ..report.report_parts import Bar, Chart, Part, Section, Table
from ..report.statistics import Estimate, median, rank_sum_probability, ratio
from ..report.text import percent, text
from .methods import Method

FORMAT = 1
SIGNIFICANT = 0.05


@dataclass
class Timed:
    """One method."""

    method: dict[str, str]
    exchange: float | None = None  # seconds of an exchange in the trial
    runs: list[float] = field(default_factory=list)  # seconds of whole runs, each the median of its repeats
    share: float | None = None  # the part of a run that is packing and communication

    @property
    def name(self) -> Method:
        return Method.of(self.method)


@dataclass
class Comparison:
    deck: str
    app: str
    ranks: int
    hosts: list[str]
    started: str
    revision: str
    disturbed: str  # what may have disturbed the runs; empty: nothing known
    methods: list[Timed]  # the deck's own first, then by time of an exchange
    format: int = FORMAT

    @classmethod
    def read(cls, path: str) -> Comparison:
        try:
            values: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
            methods = [Timed(**each) for each in values.pop("methods")]
            found = cls(**values, methods=methods)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Failure(f"{path}: not a comparison that kontor compare has written: {error}",
                          error_id="E-FILE-READ") from error
        if found.format != FORMAT or not methods:
            raise Failure(f"{path}: a comparison of format {found.format}; this version reads {FORMAT}",
                          error_id="E-FILE-READ")
        return found

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @property
    def own(self) -> Timed:
        return self.methods[0]

    @property
    def best(self) -> Timed:
        """The fastest in whole runs of those that are significantly faster than the deck's own; else that one."""
        faster = [each for each in self.methods if self.is_significant(each) and median(each.runs) < median(self.own.runs)]
        return min(faster, key=lambda each: median(each.runs), default=self.own)

    def gain(self, method: Timed) -> Estimate | None:
        """The part of the time of a run with the deck's own method that this one saves."""
        if not method.runs or not self.own.runs or method is self.own:
            return None
        found = ratio(method.runs, self.own.runs)
        if found.low is None or found.high is None:
            return Estimate(1 - found.value)
        return Estimate(1 - found.value, 1 - found.high, 1 - found.low)

    def is_significant(self, method: Timed) -> bool:
        gain = self.gain(method)
        return gain is not None and gain.excludes(0) and rank_sum_probability(method.runs, self.own.runs) < SIGNIFICANT

    @property
    def sentence(self) -> str:
        best = self.best
        if best is self.own:
            return (f"Keep the deck's method ({self.own.name.words}): no other one that ran is faster by more than the"
                    " runs differ among themselves.")
        return (f"Put this into the deck: `{best.name.yaml}`. It saves {_percent(self.gain(best))} of a run relative to the deck's"
                f" method ({self.own.name.words}).")

    @property
    def sections(self) -> list[Section]:
        fastest = min((each.exchange for each in self.methods if each.exchange), default=None)
        rows = [[each.name.words, _microseconds(each.exchange), _over(each.exchange, fastest),
                 f"{median(each.runs):.4g}" if each.runs else None,
                 "deck's own" if each is self.own else _percent(self.gain(each)), percent(each.share)]
                for each in self.methods]
        header = ["method", "us an exchange", "of fastest", "s a run", "saved", "exchange share"]
        told: list[Part] = [f"{self.deck} on {self.ranks} ranks, {', '.join(self.hosts)}", Table(header, rows)]
        told += [self.disturbed] if self.disturbed else []
        return [Section("Methods", [*told, self.sentence])]

    @property
    def text(self) -> str:
        return "".join(map(text, self.sections))

    @property
    def chart(self) -> Chart:
        shown = sorted((each for each in self.methods if each.exchange), key=lambda each: each.exchange or 0)
        bars = [Bar(each.name.words, [(each.name.words, each.exchange or 0)],
                    "" if self.gain(each) is None else f"saves {_percent(self.gain(each))} of a run")
                for each in shown]
        return Chart(f"{self.app} on {self.ranks} ranks: time of an exchange", "time of an exchange", bars=bars,
                     colours=colours(each.name.words for each in shown), unit="s")


def _percent(value: Estimate | None) -> str | None:
    if value is None:
        return None
    if value.low is None or value.high is None:
        return f"{100 * value.value:.1f} %"
    return f"{100 * value.value:.1f} % [{100 * value.low:.1f}, {100 * value.high:.1f}]"


def _microseconds(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds * 1e6:.2f}"


def _over(seconds: float | None, fastest: float | None) -> str | None:
    return None if seconds is None or not fastest else f"{seconds / fastest:.2f}"
