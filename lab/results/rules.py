#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the rules of docs/choose.md, as rules.yaml describes them: for each size the fastest method and the next one.

rules.py           writes the parts of the page between its markers
rules.py --check   exits with 1 if page and data differ
"""

import csv
import re
import statistics
import sys
from typing import Any, Iterator, NamedTuple

from pages import NUMBER, RESULTS, anchor, load, sets

PAGE = RESULTS.parents[1] / "docs/choose.md"
SAME = 1.03  # `auto` takes methods as equal within it, see the page
HEAD = ["case", "machine", "size", "fastest", "next, times as long"]


class Place(NamedTuple):
    """The methods at one size."""

    size: str
    fastest: str
    next: str
    ratio: float


def figure(text: str, column: str) -> float:
    """The value of a cell: the first one before an interval, else the median."""
    words = text.replace(",", " ").split()
    if not all(map(NUMBER.fullmatch, words)):
        raise SystemExit(f"{column}: {text} is no figure")
    return float(words[0]) if "[low high]" in column else statistics.median(map(float, words))


def size(row: dict[str, str], columns: list[str]) -> str:
    def written(column: str) -> str:
        if column != "bytes":
            return f"{row[column]} {column}" if column in ("GPUs", "ranks", "elements") else row[column]
        number = int(re.sub(" K$", "", row[column])) * (1024 if row[column].endswith("K") else 1)
        for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
            if number >= factor:
                return f"{number / factor:g} {unit}"
        return f"{number} B"

    return ", ".join(map(written, columns)) or "-"


def times(rule: dict[str, Any]) -> dict[str, dict[str, float]]:
    """What each method takes at each size, in any unit."""
    path = RESULTS / f"{rule['data']}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file)
                if all(re.fullmatch(str(value), row[column]) for column, value in rule.get("rows", {}).items())]
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if "method" in rule:
            name = row[rule["method"]]
            cells = {rule.get("names", {}).get(name, name): rule["value"]}
        else:
            cells = rule["methods"]
        at = found.setdefault(size(row, rule.get("size", [])), {})
        for method, column in cells.items():
            if column == 1 or row[column]:
                value = 1.0 if column == 1 else figure(row[column], column)
                at[method] = 1 / value if rule.get("best") == "high" else value
    compared = {where: at for where, at in found.items() if len(at) > 1}
    if not compared:
        raise SystemExit(f"{path}: {rule['what']}: no size with two methods")
    return compared


def places(rule: dict[str, Any]) -> Iterator[Place]:
    """Methods within `SAME` of the fastest are all named."""
    for where, at in times(rule).items():
        order = sorted(at, key=at.__getitem__)
        fastest = [method for method in order if at[method] <= SAME * at[order[0]]]
        rest = order[len(fastest):] or ["-"]
        yield Place(where, " or ".join(f"`{method}`" for method in sorted(fastest)), rest[0],
                    at.get(rest[0], 1) / at[order[0]])


def address(rule: dict[str, Any], abouts: dict[str, Any]) -> str:
    """Of the page and the table that the rule is computed from."""
    name, table = rule["data"].split("/")
    return f"../lab/results/{name}.md#{anchor(abouts[name]['tables'][table]['title'])}"


def machine_of(rule: dict[str, Any], abouts: dict[str, Any]) -> str:
    name, table = rule["data"].split("/")
    return str(abouts[name]["tables"][table].get("machine", abouts[name]["machine"]))


def rows(rule: dict[str, Any], abouts: dict[str, Any]) -> Iterator[list[str]]:
    """Sizes that follow each other and have the same methods share a row. The first row names case and machine."""
    runs: list[list[Place]] = []
    for place in places(rule):
        if runs and runs[-1][0][1:3] == place[1:3]:
            runs[-1].append(place)
        else:
            runs.append([place])
    for number, run in enumerate(runs):
        case = [f"[{rule['what']}]({address(rule, abouts)})", machine_of(rule, abouts)]
        sizes = run[0].size if len(run) == 1 else f"{run[0].size} to {run[-1].size}"
        ratios = sorted({f"{place.ratio:.2f}" for place in run}, key=float)
        behind = "-" if run[0].next == "-" else f"`{run[0].next}`, {' to '.join(dict.fromkeys((ratios[0], ratios[-1])))}"
        yield [*(["", ""] if number else case), sizes, run[0].fastest, behind]


def table(head: list[str], body: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(row).replace("  ", " ") + " |" for row in (head, ["---"] * len(head), *body)]


def parts() -> dict[str, list[str]]:
    """The lines of each part of the page."""
    abouts, data, machines = sets(), load(RESULTS / "rules.yaml"), load(RESULTS / "machines.yaml")
    tables, used = [], []
    for group in data["groups"]:
        body = [row for rule in group["rules"] for row in rows(rule, abouts)]
        used += [machine_of(rule, abouts) for rule in group["rules"]]
        tables += [f"### {group['title']}", "", *table(HEAD, body), ""]
    tables += ["### Not measured", "", *table(["machine", "choose"], [[rule["what"], rule["choose"]]
                                                                     for rule in data["not_measured"]])]
    lines = ["The rules below were computed from measurements on these machines:", "",
             *(f"- {name}: {machines[name]['name']}" for name in dict.fromkeys(used))]
    return {"machines": lines, "rules": tables}


def main(arguments: list[str]) -> int:
    text = before = PAGE.read_text(encoding="utf-8")
    for name, lines in parts().items():
        begin, end = f"<!-- generated by lab/results/rules.py: {name} -->\n", "<!-- end of generated -->"
        head, found, rest = text.partition(begin)
        text = f"{head}{begin}\n" + "\n".join(lines) + f"\n\n{end}{rest.partition(end)[2]}"
        assert found, f"{PAGE}: no marker of {name}"
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif text != before:
        print(f"{PAGE}: out of date; run lab/results/rules.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
