# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks, links and anchors of a page."""

import re
from typing import NamedTuple

FENCED = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```([^\n]*)\n(.*?)^```[^\n]*$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    language: str
    mark: str  # of the comment on the line before: "run", "from: path"; or empty
    text: str
    where: str  # file:line


def fenced_blocks(path):
    text = path.read_text(encoding="utf-8")
    return [Block(found[2].strip(), found[1] or "", found[3], f"{path}:{text.count(chr(10), 0, found.start(2)) + 1}")
            for found in FENCED.finditer(text)]


def links(path):
    """Targets of links and pictures, those in code left out."""
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text))


def anchors(path):
    """What #fragments of a page exist, named as GitHub names them."""
    titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
