# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What pages and comments must not have."""

import re

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
