# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads Markdown, its sentences and words, blocks and links; and the comments of sources. Each with its line."""

import io
import re
import tokenize
from pathlib import Path
from typing import Iterator, NamedTuple

ABBREVIATIONS = r"(?:\b(?:e\.g|i\.e|al|cf|vs|ed|St|Fig|approx)|(?:^|[(,:;]|\band|\b[A-Z]\.) ?[A-Z])\.$"  # or initials
GENERATED = re.compile(r"<!-- (?:From here on generated|generated)\b.*?(?:<!-- end of generated -->|\Z)", re.DOTALL)
FENCED = re.compile(r"^```.*?^```[^\n]*$", re.DOTALL | re.MULTILINE)
END = re.compile(r"(?<=[.!?])[)*\"']*\s+(?=[\"'(*`]*(?:[A-Z`\d]|(?:heat|cg|matmul|pingpong|kernels|advection|dynamics)\b))")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|R\"(\w*)\(.*?\)\2\")", re.DOTALL)


class Piece(NamedTuple):
    """A part of a text: a sentence, a heading or a comment."""

    line: int
    kind: str
    text: str


def blank(match: re.Match[str]) -> str:
    """As many empty lines as the match has, so that lines keep their numbers."""
    return "\n" * match.group().count("\n")


def without_code(text: str) -> str:
    """Markdown without fenced blocks, HTML comments and generated parts."""
    for pattern in (GENERATED, FENCED, re.compile(r"<!--.*?-->", re.DOTALL)):
        text = pattern.sub(blank, text)
    return text


def plain(text: str) -> str:
    """Links become their text; inline code and titles in italics become one word each."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)\s]*\)", lambda link: link.group(1).capitalize(), text)
    text = re.sub(r"`[^`]*`", "`code`", text)
    return re.sub(r"(?<![*\w])\*[^*]+\*(?!\*)", "*title*", text)


def blocks(text: str) -> Iterator[Piece]:
    """Headings, paragraphs and list items; tables and indented code left out."""
    begin, lines, code, in_list, sources = 0, [], False, False, False

    def block() -> Iterator[Piece]:
        if lines and not sources:
            yield Piece(begin, "prose", " ".join(lines))
        lines.clear()

    for number, line in enumerate(without_code(text).splitlines(), 1):
        stripped = line.strip()
        heading = re.match(r"#+ +(.*)", line)
        item = re.match(r" *(?:[-*]|\d+\.) +(.*)", line)
        code = line.startswith("    ") and (code or not lines) and not in_list
        if heading or not stripped or item or stripped.startswith("|") or code:
            yield from block()
        if heading:
            sources = heading.group(1) in ("Sources", "References")
            in_list = False
            yield Piece(number, "heading", heading.group(1))
        elif stripped and not stripped.startswith("|") and not code:
            in_list = bool(item) or (in_list and line.startswith(" "))
            if not lines:
                begin = number
            lines.append(item.group(1) if item else stripped)
    yield from block()


def sentences(text: str) -> Iterator[Piece]:
    """The headings and sentences of Markdown, each with the line where its block begins."""
    for piece in blocks(text):
        if piece.kind == "heading":
            yield piece
            continue
        rest = ""
        for part in END.split(plain(piece.text)):
            rest = f"{rest} {part}".strip()
            if not re.search(ABBREVIATIONS, rest):
                yield Piece(piece.line, "prose", rest)
                rest = ""
        if rest:
            yield Piece(piece.line, "prose", rest)


def python_comments(text: str) -> Iterator[Piece]:
    """Comments and docstrings."""
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type == tokenize.COMMENT or docstring:
            yield Piece(token.start[0], "comment", token.string)
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type


def comments(path: Path, text: str) -> Iterator[Piece]:
    """The comments of a source in C++, Python or CMake."""
    if path.suffix == ".py":
        yield from python_comments(text)
    elif path.suffix in (".cpp", ".hpp", ".cu", ".c"):
        for match in COMMENT.finditer(text):
            if not match.group(1):
                yield Piece(text.count("\n", 0, match.start()) + 1, "comment", match.group())
    else:
        for number, line in enumerate(text.splitlines(), 1):
            found = re.search(r"(?:^|\s)#(.*)", line)
            if found:
                yield Piece(number, "comment", found.group(1))


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
