#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists the numbers of the tables that the results come from, as far as the results lack them.

Reads the pages of one revision with git (README.md, sums/README.md, docs, lab/model/README.md) and today's lab/notebook.
A table of a page and section that an about.yaml names as `source` is looked for in the CSV files with that source; any
other one in all CSV files and in the text of the notebook. Numbers are compared by their digits, since units may differ
(1.09 s, 1090 ms). Exits with 1 if a number is missing.
"""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator

from pages import RESULTS, anchor, sets

ROOT = RESULTS.parents[1]
REVISION = "df3dbaa0"
# Tables without measurements: definitions, keys, limits, exit codes, troubleshooting; all of a page, or of a section.
DEFINITIONS = {
    "README.md": {"running", "where-things-are"},
    **{f"docs/apps/{app}.md": {"*"} for app in ("advection", "cg", "heat", "matmul", "pingpong")},
    "docs/checkpoints.md": {"going-on", "in-the-record", "what-is-in-a-file"},
    "docs/choose.md": {"backends", "ipc"},
    "docs/clusters.md": {"clusters", "time-limits"},
    "docs/dev/design.md": {"the-house", "errors"},
    "docs/gpu.md": {"what-to-install", "paths-direct-and-staged", "when-it-does-not-work"},
    "docs/guarantees.md": {"faults", "security-and-limits", "two-hosts"},
    "docs/library/examples.md": {"examples"},
    "docs/library/from-mpi.md": {"*"},
    "docs/library/other-bindings.md": {"*"},
    **{f"docs/reference/{page}.md": {"*"} for page in ("decks", "figures", "metrics", "record")},
    "docs/studies.md": {"writing-one", "what-may-go-wrong", "the-folder"},
    "docs/threads.md": {"building", "what-depends-on-the-number-of-threads"},
    "lab/model/README.md": {"machines", "apps"},
}
NUMBER = re.compile(r"(?<![\w.^])\d+(?:[ ,]\d{3})*(?:\.\d+)?(?!\w)")
SIZES = {"MiB": 2**20, "GiB": 2**30}


def digits(number: str) -> str:
    return re.sub(r"[ ,.]", "", number).strip("0") or "0"


def numbers(text: str) -> set[str]:
    """The digits of all numbers; sizes in bytes."""
    text = re.sub(r"\]\([^)]*\)|`", "", text)
    text = re.sub(r"(\d+) ([MG]iB)", lambda size: str(int(size[1]) * SIZES[size[2]]), text)
    return {digits(found) for found in NUMBER.findall(text)}


def pages() -> Iterator[tuple[str, str]]:
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout

    for name in git("ls-tree", "-r", "--name-only", REVISION, "README.md", "sums", "docs", "lab/model").splitlines():
        if name.endswith(".md"):
            yield name, git("show", f"{REVISION}:{name}")
    for path in sorted((ROOT / "lab/notebook").glob("*.md")):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def rows(text: str) -> Iterator[tuple[str, str]]:
    """Section and line of every row of a table, heads left out."""
    section, code, before = "", False, ""
    for line in map(str.strip, text.splitlines()):
        code ^= line.startswith("```")
        if line.startswith("#") and not code:
            section = anchor(line.lstrip("# "))
        if line.startswith("|") and before.startswith("|") and not re.fullmatch(r"[|:\- ]+", line):
            yield section, line
        before = line


def main() -> int:
    found: dict[str, set[str]] = defaultdict(set)
    everywhere = numbers("\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "lab/notebook").glob("*.md")))
    for name, about in sets().items():
        for table, said in about["tables"].items():
            text = (RESULTS / name / f"{table}.csv").read_text(encoding="utf-8") + said.get("command", "")
            words = re.findall(r"\d+(?:\.\d+)?", text)
            found[said["source"]] |= numbers(text) | set(map(digits, words))
    everywhere = everywhere.union(*found.values())
    missing = []
    for name, text in pages():
        for section, line in rows(text):
            if {section, "*"} & DEFINITIONS.get(name, set()):
                continue
            known = found.get(f"{name}#{section}", everywhere)
            missing += [f"{name}#{section}: {number} in {line[:100]}" for number in sorted(numbers(line) - known)]
    print("\n".join(missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
