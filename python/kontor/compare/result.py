# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a comparison has found, as a table, a sentence and a chart; kept as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..messages import Failure
from ..report.parts import Bar, Chart, Section, colours, tabulated
from ..report.statistics import Difference, Estimate, difference, median
from ..report.text import percent, text
from .methods import Method


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
    format: int = 1

    @classmethod
    def read(cls, path: str) -> Comparison:
        try:
            values: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
            methods = [Timed(**each) for each in values.pop("methods")]
            return cls(**values, methods=methods)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Failure(f"{path}: not a comparison that kontor compare has written: {error}",
                          error_id="E-FILE-READ") from error

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @property
    def own(self) -> Timed:
        return self.methods[0]

    @property
    def best(self) -> Timed:
        """The fastest in whole runs of those that are significantly faster than the deck's own; else that one."""
        faster = [each for each in self.methods if (found := self.difference(each)) and found.verdict == "faster"]
        return min(faster, key=lambda each: median(each.runs), default=self.own)

    def difference(self, method: Timed) -> Difference | None:
        """Of whole runs, relative to those with the deck's own method."""
        if not method.runs or not self.own.runs or method is self.own:
            return None
        return difference(method.runs, self.own.runs)

    def gain(self, method: Timed) -> Estimate | None:
        """The part of the time of a run with the deck's own method that this one saves."""
        found = self.difference(method)
        if found is None or found.ratio.low is None or found.ratio.high is None:
            return Estimate(1 - found.ratio.value) if found else None
        return Estimate(1 - found.ratio.value, 1 - found.ratio.high, 1 - found.ratio.low)

    @property
    def sentence(self) -> str:
        best = self.best
        if best is self.own:
            return (f"Keep the deck's method ({self.own.name.words}): no other one that ran is faster by more than the"
                    " runs differ among themselves.")
        return (f"Put this into the deck: `{best.name.yaml}`. It saves {self.saved(best)} of a run relative"
                f" to the deck's method ({self.own.name.words}).")

    @property
    def sections(self) -> list[Section]:
        fastest = min((each.exchange for each in self.methods if each.exchange), default=None)
        told = f"{self.deck} on {self.ranks} ranks, {', '.join(self.hosts)}"
        (table, *more), = (section.parts for section in tabulated("", [{
            "method": each.name.words, "us an exchange": f"{each.exchange * 1e6:.2f}" if each.exchange else None,
            "of fastest": f"{each.exchange / fastest:.2f}" if each.exchange and fastest else None,
            "s a run": f"{median(each.runs):.4g}" if each.runs else None,
            "saved": "deck's own" if each is self.own else self.saved(each), "exchange share": percent(each.share)}
            for each in self.methods], *filter(None, [self.disturbed, self.sentence])))
        return [Section("Methods", [told, table, *more])]

    def saved(self, method: Timed) -> str | None:
        """Such as `14.1 % [2.3, 22.6]`."""
        gain = self.gain(method)
        value, _, ends = gain.shown(lambda value: f"{100 * value:.1f}").partition(" ") if gain else ("", "", "")
        return f"{value} % {ends}".rstrip() if gain else None

    @property
    def text(self) -> str:
        return "".join(map(text, self.sections))

    @property
    def chart(self) -> Chart:
        shown = sorted((each for each in self.methods if each.exchange), key=lambda each: each.exchange or 0)
        bars = [Bar(each.name.words, [(each.name.words, each.exchange or 0)],
                    f"saves {saved} of a run" if (saved := self.saved(each)) else "")
                for each in shown]
        return Chart(f"{self.app} on {self.ranks} ranks: time of an exchange", "time of an exchange", bars=bars,
                     colours=colours(each.name.words for each in shown), unit="s")
