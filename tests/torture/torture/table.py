# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a campaign has found, as a table and as JSON."""

import statistics
from collections import Counter
from typing import Any

from kontor.report.text import grouped

Entry = dict[str, Any]
Place = tuple[object, object]  # the function, and where it is called


def summary(entries: list[Entry], known: dict[str, set[Place]]) -> str:
    """`known`: the places of each class."""
    lines = [f"{'class':<10}{'what':<34}{'cases':>8}{'reached':>9}{'findings':>10}{'to the end, s: median':>23}{'largest':>9}"]
    for (kind, what), members in sorted(grouped(entries, lambda entry: (entry["kind"], group_of(entry))).items()):
        lines.append(line(kind, what, members))
    lines.append(line("all", "", entries))
    outcomes = Counter(entry["seen"].get("output", "") for entry in entries)
    if any(outcomes):
        lines.append("output afterwards: " + ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()) if name))
    hit = {kind: places_hit(entries, kind) for kind in sorted(known)}
    if any(hit.values()):
        lines.append("places hit: " + ", ".join(f"{len(hit[kind])} of {len(known[kind])} {kind}" for kind in hit if known[kind]))
    if inputs := sum(entry["seen"].get("inputs", 0) for entry in entries):
        lines.append(f"inputs read: {inputs}")
    if alone := sum("launcher_alone" in entry["seen"] for entry in entries):
        lines.append(f"launchers that did not end after all of their ranks, and were killed: {alone}")
    checks = Counter(finding.partition(":")[0] for entry in entries for finding in entry["findings"])
    if checks:
        lines.append("findings: " + ", ".join(f"{count} {name}" for name, count in sorted(checks.items())))
    return "\n".join(lines)


def not_hit(entries: list[Entry], known: dict[str, set[Place]]) -> str:
    """A line for each place at which nothing has failed."""
    left = ((kind, *place) for kind in sorted(known) for place in sorted(known[kind] - places_hit(entries, kind), key=str))
    return "".join(f"not hit: {kind}, {call} in {where}\n" for kind, call, where in left)


def places_hit(entries: list[Entry], kind: str) -> set[Place]:
    """Those at which something has failed: a run may end before it comes to one."""
    return {(entry["what"]["call"], entry["what"]["in"]) for entry in entries
            if entry["kind"] == kind and "in" in entry["what"] and entry["seen"].get("hit")}


def line(kind: str, what: str, members: list[Entry]) -> str:
    reached = [entry for entry in members if entry["seen"].get("hit")]
    failed = sum(bool(entry["findings"]) for entry in members)
    times = [entry["seen"]["seconds_until_gone"] for entry in reached if "seconds_until_gone" in entry["seen"]]
    median, largest = (f"{statistics.median(times):.2f}", f"{max(times):.2f}") if times else ("-", "-")
    return f"{kind:<10}{what:<34}{len(members):>8}{len(reached):>9}{failed:>10}{median:>23}{largest:>9}"


def group_of(entry: Entry) -> str:
    what = entry["what"]
    if entry["kind"] == "kill":
        return f"{what['signal']} to {what['to'].split()[0]}"
    return str(what.get("call", what.get("way", what.get("of", ""))))
