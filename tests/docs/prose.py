# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks, links and anchors of a page."""

import re
from typing import NamedTuple


class Block(NamedTuple):
    language: str
    mark: str  # of the comment on the line before: "run", "from: path"; or empty
    text: str
    where: str  # file:line


def fenced_blocks(path):
    """The fenced blocks of a page."""
    found, begin, before = [], None, ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            if begin is None:
                before = line
            continue
        if begin is None:
            mark = re.fullmatch(r"<!-- (.*) -->", before)
            begin, language, comment = number, line[3:].strip(), mark.group(1) if mark else ""
        else:
            lines = path.read_text(encoding="utf-8").splitlines()[begin : number - 1]
            found.append(Block(language, comment, "\n".join(lines) + "\n", f"{path}:{begin}"))
            begin, before = None, ""
    return found


def links(path):
    """Targets of links and pictures, those in code left out."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text))


def anchors(path):
    """What #fragments of a page exist, named as GitHub names them."""
    titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
