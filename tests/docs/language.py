#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""language.py FILE...: prints findings as file:line: text, and exits with 1 if there are any. Pages, strings and
comments have no words of the lists; sentences and lines of pages are short. codespell checks the spelling, where it is
installed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parents[2]
MOST_WORDS = 25
MOST_CHARACTERS = 120
PAGES = {  # a word that is not used, and another to take
    r"told|beside|(?:is|are|was|were|be|been) refused": "reports, states; relative to, next to; rejects",
    r"(?:go(?:es)?|going|went|gone) on|by turns": "continues, resumes; alternately",
    r"(?:no|some)body|whoever|by (?:it|them)sel(?:f|ves)": "the process, rank or reader; alone, automatically",
    r"do(?:es)? not know|knows|what (?:the|an?) \w+": "has no information about; name the thing",
    r"since|no longer|used to (?:be|have|do)|formerly|previously|until now": "because, from; present tense",
    r"(?:is|are|has|have|does|do|can|was|were) now|before (?:version|revision|commit|this change)": "present tense",
    r"ways|as (?:it|they) lies?|(?:is|are) worth|c[ao]mes? (?:of|to)": "methods; in place; state the gain; results in",
    r"an own|blocks that travel": "another, one of your own; blocks that ranks pass around",
}
ALL = {  # also in strings and comments
    r"waist|charges|seams?|patience": "interface, kernel times, shared nodes, timeout",
    r"rehears(?:e[sd]?|al)|torture": "check of files, fault injection",
    r"if need be|far too long|is remarked|(?:is|are) made wrong": "if necessary, exceeds its limit, is reported, overwritten",
    r"goes on from|told to end|nothing that points differ|there is load balance": "resumes from; name the factor",
}
SPELLING_IGNORED = "inout,parms,nd,te,ue,ot,hist,fo,nin,notin,ser,fom,fro,veiw,vew,bakend,flaot"
NO_PROSE = re.compile(r"^```.*?^```|<!-- generated\b.*?(?:<!-- end of generated -->|\Z)|<!--.*?-->"
                      r"|^(?:    |\|)[^\n]*|`[^`]*`", re.DOTALL | re.MULTILINE)
APPS = "|".join(sorted(main.parent.name for main in ROOT.glob("miniapps/*/main.cpp")))
END = re.compile(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )|(?<=[.!?])[)*\"']*\s+"
                 rf"(?=[\"'(*]*(?:[A-Z_\d]|\[|(?:{APPS})\b))")
COMMENT = re.compile(r"//.*|(?<!\S)# .*")
STRING = re.compile(r'"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def in_words(text: str, rules: dict[str, str]) -> Iterator[tuple[int, str]]:
    for words, rather in rules.items():
        for found in re.finditer(rf"(?i)\b(?:{words})\b", text):
            yield found.start(), f'"{found.group()}": {rather}'


def of_page(text: str) -> Iterator[tuple[int, str]]:
    """Offsets and findings."""
    prose = NO_PROSE.sub(lambda code: re.sub(r"[^\n]", "_" if code.group()[0] == "`" else " ", code.group()), text)
    for row in re.finditer(r"(?m)^(?!\W*\S+\W*$).*\S", prose):  # those that one link fills cannot be broken
        if len(row.group()) > MOST_CHARACTERS:
            yield row.start(), f"{len(row.group())} characters in a line, at most {MOST_CHARACTERS}"
    yield from in_words(prose, PAGES | ALL)
    begin = 0
    for end in [*(found.span() for found in END.finditer(prose)), (len(prose),) * 2]:
        sentence = re.sub(r"\([^()]*\b(?:19|20)\d\d\b[^()]*\)|\]\([^)\s]*\)", "", prose[begin : end[0]])
        count = sum(1 for word in sentence.split() if re.search(r"\w", word))
        if count > MOST_WORDS and not sentence.startswith("#"):
            yield begin, f"{count} words in a sentence, at most {MOST_WORDS}: {' '.join(sentence.split()[:6])} ..."
        begin = end[1]


def of_source(text: str) -> Iterator[tuple[int, str]]:
    """Of strings and comments."""
    for words in (*STRING.finditer(text), *COMMENT.finditer(text)):
        yield from ((words.start() + at, says) for at, says in in_words(words.group(), ALL))


def findings(path: Path, text: str) -> list[tuple[int, str]]:
    """Lines and findings."""
    by_hand, *_ = text.partition("<!-- From here on generated")
    found = of_page(by_hand) if path.suffix == ".md" else of_source(text)
    return sorted((text.count("\n", 0, at) + 1, says) for at, says in found)


def main(names: list[str]) -> int:
    paths = [Path(name) for name in names]
    found = [f"{path}:{line}: {says}" for path in paths for line, says in findings(path, path.read_text("utf-8"))]
    if shutil.which("codespell"):
        command = ["codespell", "-L", SPELLING_IGNORED, *names]
        found += subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    else:
        print("codespell is not installed: spelling is not checked", file=sys.stderr)
    print("".join(f"{each}\n" for each in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
