#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the rules of docs/choose.md, as rules.yaml describes them: for each size the fastest method and the next one.
Also the reference figures of docs/benchmark.md.

rules.py           writes the parts of the pages between their markers
rules.py --check   exits with 1 if pages and data differ
"""

import csv
import re
import statistics
import sys
from typing import Any, Iterator, NamedTuple

from pages import NUMBER, RESULTS, anchor, load, sets

DOCS = RESULTS.parents[1] / "docs"
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


def chosen(rule: dict[str, Any]) -> list[dict[str, str]]:
    """The rows of the table that the rule is about."""
    with (RESULTS / f"{rule['data']}.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file)
                if all(re.fullmatch(str(value), row[column]) for column, value in rule.get("rows", {}).items())]


def times(rule: dict[str, Any]) -> dict[str, dict[str, float]]:
    """What each method takes at each size, in any unit."""
    found: dict[str, dict[str, float]] = {}
    for row in chosen(rule):
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
        raise SystemExit(f"{rule['data']}: {rule['what']}: no size with two methods")
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
    return [("| " + " | ".join(row) + " |").replace("|  |", "| |").replace("|  |", "| |") for row in (head, ["---"] * len(head), *body)]


def reference(data: dict[str, Any], abouts: dict[str, Any]) -> list[str]:
    """One value for each figure and machine."""
    body = []
    for figure_of in data["figures"]:
        cells = [figure_of["what"]]
        for machine in data["machines"]:
            of = figure_of[machine]
            [row] = chosen(of)
            cells.append(f"[{figure(row[of['column']], of['column']):g} {of['unit']}]({address(of, abouts)}), {of['of']}")
        body.append(cells)
    return table(["figure", *data["machines"].values()], body)


def parts() -> dict[tuple[str, str], list[str]]:
    """The lines of each part of a page."""
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
    return {("choose.md", "machines"): lines, ("choose.md", "rules"): tables,
            ("benchmark.md", "reference"): reference(data["reference"], abouts)}


def main(arguments: list[str]) -> int:
    before = {name: (DOCS / name).read_text(encoding="utf-8") for name, _ in parts()}
    texts = dict(before)
    for (page, name), lines in parts().items():
        begin, end = f"<!-- generated by lab/results/rules.py: {name} -->\n", "<!-- end of generated -->"
        head, found, rest = texts[page].partition(begin)
        assert found, f"{page}: no marker of {name}"
        texts[page] = f"{head}{begin}\n" + "\n".join(lines) + f"\n\n{end}{rest.partition(end)[2]}"
    for page, text in texts.items():
        if "--check" not in arguments:
            (DOCS / page).write_text(text, encoding="utf-8")
        elif text != before[page]:
            print(f"docs/{page}: out of date; run lab/results/rules.py", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
