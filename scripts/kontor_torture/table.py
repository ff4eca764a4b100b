# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a campaign has found, as a table and as JSON."""

from __future__ import annotations

import statistics
from collections import Counter

Entry = dict[str, object]


def summary(entries: list[Entry], known: dict[str, int]) -> str:
    lines = [f"{'class':<10}{'what':<34}{'cases':>8}{'reached':>9}{'findings':>10}{'to the end, s: median':>23}{'largest':>9}"]
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((str(entry["kind"]), group_of(entry)), []).append(entry)
    for (kind, what), members in sorted(groups.items()):
        lines.append(line(kind, what, members))
    lines.append(line("all", "", entries))
    outcomes = Counter(str(entry["seen"].get("output", "")) for entry in entries)  # type: ignore[attr-defined]
    if any(outcomes):
        lines.append("output afterwards: " + ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()) if name))
    places = {(entry["kind"], entry["what"]["call"], entry["what"]["in"]) for entry in entries if "in" in entry["what"]}  # type: ignore[index, operator]
    if places:
        of_kind = Counter(str(kind) for kind, _, _ in places)
        lines.append("places hit: " + ", ".join(f"{count} of {known[kind]} {kind}" for kind, count in sorted(of_kind.items())))
    if inputs := sum(entry["seen"].get("inputs", 0) for entry in entries):  # type: ignore[attr-defined]
        lines.append(f"inputs read: {inputs}")
    if alone := sum("launcher_alone" in entry["seen"] for entry in entries):  # type: ignore[operator]
        lines.append(f"launchers that did not end after all of their ranks, and were killed: {alone}")
    checks = Counter(finding.partition(":")[0] for entry in entries for finding in entry["findings"])  # type: ignore[attr-defined]
    if checks:
        lines.append("findings: " + ", ".join(f"{count} {name}" for name, count in sorted(checks.items())))
    return "\n".join(lines)


def line(kind: str, what: str, members: list[Entry]) -> str:
    reached = [entry for entry in members if entry["seen"].get("hit")]  # type: ignore[attr-defined]
    failed = sum(bool(entry["findings"]) for entry in members)
    times = [float(entry["seen"]["seconds_until_gone"]) for entry in reached if "seconds_until_gone" in entry["seen"]]  # type: ignore[index, operator]
    median, largest = (f"{statistics.median(times):.2f}", f"{max(times):.2f}") if times else ("-", "-")
    return f"{kind:<10}{what:<34}{len(members):>8}{len(reached):>9}{failed:>10}{median:>23}{largest:>9}"


def group_of(entry: Entry) -> str:
    what = entry["what"]
    assert isinstance(what, dict)
    if entry["kind"] == "kill":
        return f"{what['signal']} to {str(what['to']).split()[0]}"
    return str(what.get("call", what.get("way", what.get("of", ""))))
