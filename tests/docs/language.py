#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the language of pages and comments.

language.py [FILE...]    prints each finding as file:line: text; exits with 1 if there are findings. Without files: all
                         of the source tree outside lab/.

Markdown: sentences, phrases, headings, dates, commit hashes, lines. Python: comments and lines. C++, CMake: comments.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator

from prose import Piece, comments, sentences

GENERATED = {"docs/tested.md", "docs/reference/decks.md", "python/kontor/cli.md", "docs/reference/record.md"}
MOST_WORDS = 25
MOST_CHARACTERS = 120
SOURCES = {".py", ".cpp", ".hpp", ".cu", ".c", ".cmake", ".sh", ".yaml"}
SPELLING_IGNORED = "inout,parms,nd,te,ue,ot,hist,fo,nin,notin,ser,fom,fro,veiw,vew,bakend,flaot"

# What a sentence must not have, and the word to use instead.
PHRASES = {
    r"told": "reports, states, names",
    r"beside": "relative to, next to, in addition to",
    r"(?:go(?:es)?|going|went|gone) on": "continues, resumes",
    r"(?:is|are|was|were|be|been) refused": "rejects (subject first)",
    r"(?:no|some)body|whoever": "name the process, rank or reader",
    r"by (?:it|them)sel(?:f|ves)": "alone, in isolation, automatically",
    r"does not know|do not know|knows": "has no information about, does not model",
    r"what (?:the|an?) ": "name the thing",
    r"since": "because, from",
    r"no longer|used to (?:be|have|do)|formerly|previously|until now|so far as known": "present tense",
    r"(?:is|are|has|have|does|do|can|was|were) now": "present tense",
    r"before (?:version|revision|commit|this change|v?\d+\.\d)": "present tense, or the range of versions",
    r"ways": "methods",
    r"by turns": "alternately, interleaved",
    r"as it lies|as they lie": "without packing, in place",
    r"(?:is|are) worth": "state the gain",
    r"(?:came|comes) of|(?:came|comes) to": "results in",
}
CLAUSE = re.compile(r"(?:What|Whoever|Whatever|Who|Where to|How (?!many|much|to))\b[^?]*$")
QUESTION = re.compile(r"(?:What|Whose|Who|Where|When|Why|How|If)\b")
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = re.compile(rf"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b|\b(?:{MONTHS})(?: \d\d?,)? 20\d\d\b")
HASH = re.compile(r"(?<![\w#/.-])(?!0123)(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}(?![\w.-])")
HISTORY = re.compile(
    r"\bhas no longer\b|\bno longer (?:needed|used|supported|exists?)\b"
    r"|\b(?:it|this|that|they|which) used to (?:be|have|do)\b"
    r"|\bformerly\b|\bpreviously\b|\bsince (?:then|version|revision|commit)\b"
    r"|\b(?:was|were|is|are) (?:once|now) (?:a|an|the|in)\b|\bin earlier (?:versions|revisions)\b",
    re.IGNORECASE,
)

Finding = tuple[int, str]


def of_sentence(piece: Piece) -> Iterator[str]:
    without_citations = re.sub(r"\([^()]*\b(?:19|20)\d\d\b[^()]*\)", "", piece.text)
    words = [word for word in without_citations.split() if re.search(r"\w", word)]
    begins = " ".join(piece.text.split()[:6])
    if len(words) > MOST_WORDS:
        yield f"{len(words)} words in a sentence, at most {MOST_WORDS}: {begins} ..."
    if CLAUSE.match(piece.text):
        yield f"a clause is the subject: {begins} ..."


def of_prose(piece: Piece) -> Iterator[str]:
    for phrase, rather in PHRASES.items():
        found = re.search(rf"\b{phrase}\b" if phrase[-1] != " " else rf"\b{phrase}", piece.text, re.IGNORECASE)
        if found:
            around = piece.text[max(0, found.start() - 30) : found.end() + 30]
            yield f'"{found.group().strip()}": {rather}: ... {around} ...'
    if piece.kind == "prose":
        yield from of_sentence(piece)
    elif QUESTION.match(piece.text):
        yield f"a heading is a noun: {piece.text}"


def of_facts(text: str) -> Iterator[str]:
    """Dates and hashes."""
    text = re.sub(r"https?://\S+|\]\([^)]*\)", "", text)
    yield from (f"a date: {found.group()}" for found in DATE.finditer(text))
    yield from (f"a commit hash: {found.group()}" for found in HASH.finditer(text))


def of_lines(text: str) -> Iterator[Finding]:
    """Long lines; rows of tables and lines that a link fills cannot be broken."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MOST_CHARACTERS and not line.startswith("|") and not re.fullmatch(r"\W*\S+\W*", line):
            yield number, f"{len(line)} characters in a line, at most {MOST_CHARACTERS}"


def of_markdown(text: str, name: str) -> Iterator[Finding]:
    for piece in sentences(text):
        yield from ((piece.line, said) for said in of_prose(piece))
    if name != "CHANGELOG.md":
        for number, line in enumerate(text.splitlines(), 1):
            yield from ((number, said) for said in of_facts(line))
    yield from of_lines(text)


def of_source(path: Path, text: str) -> Iterator[Finding]:
    for piece in comments(path, text):
        found = HISTORY.search(piece.text)
        said = [*of_facts(piece.text), *([f"history in a comment: {found.group()}"] if found else [])]
        yield from ((piece.line, each) for each in said)


def root_of(path: Path) -> Path:
    parents = path.resolve().parents
    return next((folder for folder in parents if (folder / "CMakePresets.json").exists()), parents[0])


def findings(path: Path) -> list[Finding]:
    """All findings of a file, in the order of its lines."""
    text = path.read_text(encoding="utf-8")
    page = path.resolve().relative_to(root_of(path)).as_posix()
    if page in GENERATED:
        text, marker, _ = text.partition("<!-- From here on generated")  # the part by hand
        text = text if marker else ""
    found = [*(of_markdown(text, path.name) if path.suffix == ".md" else of_source(path, text))]
    return sorted(found)


def misspelt(paths: list[Path]) -> list[str]:
    """Lines of codespell, where it is installed."""
    if not shutil.which("codespell"):
        print("codespell is not installed: spelling is not checked", file=sys.stderr)
        return []
    command = ["codespell", "-L", SPELLING_IGNORED, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def tree(root: Path) -> list[Path]:
    """The files of the source tree that are checked."""
    command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    if not listed:  # an unpacked archive
        files = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        listed = [path.as_posix() for path in files if not path.parts[0].startswith((".", "build"))]
    return [
        root / name for name in listed
        if not name.startswith("lab/") and (root / name).exists()
        and (Path(name).suffix in {".md", *SOURCES} or Path(name).name == "CMakeLists.txt")
    ]


def main(names: list[str]) -> int:
    paths = [Path(name) for name in names] or tree(Path(__file__).resolve().parents[2])
    count = 0
    for path in paths:
        for line, said in findings(path):
            print(f"{path}:{line}: {said}")
            count += 1
    spelling = misspelt(paths)
    print("\n".join(spelling), end="\n" if spelling else "")
    return 1 if count or spelling else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
