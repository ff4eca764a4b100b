# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The keys of a study: what each takes, its default, its help. The reader, --print, --schema and the docs follow this."""

from .kinds import Flag, Key, ListOf, Section, Text, Whole, Word
from .study_kinds import ByDeckKey, Formula, OneOrMore, Several, Setting, Wholes, Zipped

STUDY_KINDS = ("strong", "weak", "compare", "sweep")
MOST_RANKS = 10_000_000
NAME = Text(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", "a name of letters, digits, _ . and -")
LINE = Text(r"[^\n\r]*", "text of one line")

LAUNCH = Section({
    "scheduler": Key(Word(("auto", "slurm", "flux", "pbs")),
                     "Scheduler of the job scripts that --submit writes; auto: the one whose command is found", "auto"),
    "time": Key(Text(r"([0-9]+-)?[0-9]{1,3}(:[0-9]{1,2}){0,2}|auto", "minutes, HH:MM:SS or D-HH:MM:SS"),
                "Time limit of a job; auto: twice the estimate, 10 minutes at least", "auto"),
    "partition": Key(LINE, "Partition or queue", ""),
    "account": Key(LINE, "Account that is charged", ""),
    "qos": Key(LINE, "Quality of service (Slurm)", ""),
    "constraint": Key(LINE, "Features that nodes must have (Slurm)", ""),
    "reservation": Key(LINE, "Reservation (Slurm)", ""),
    "exclusive": Key(Flag(), "Whole nodes, shared with no other job", True),
    "array": Key(Flag(), "One array job for the repeats of a size, where the scheduler has arrays", True),
    "at_once": Key(Whole(1, 10_000), "Tasks of an array that may run at once", 1),
    "warn": Key(Whole(10, 86_400), "Seconds before the time limit at which a job gets SIGTERM", 60),
    "options": Key(ListOf(LINE, least=0), "Further options for the scheduler, one a line, as they are", list),
    "setup": Key(ListOf(LINE, least=0), "Shell lines before the runs, such as module load openmpi", list),
})

STUDY = Section({
    "study": Key(NAME, "The study's name, such as heat-strong", required=True),
    "deck": Key(Several(Text(allowed="the path of a deck")), "The deck, or a list of decks, which is then varied", required=True),
    "kind": Key(Word(STUDY_KINDS), f"Kind of study: {', '.join(STUDY_KINDS)}", required=True),
    "ranks": Key(Wholes(1, MOST_RANKS, auto=True), "Numbers of MPI ranks; auto: nodes x ranks_per_node", list),
    "nodes": Key(Wholes(1, 1_000_000, auto=True),
                 "Instead of ranks: numbers of nodes, with ranks_per_node; auto: as many as the ranks need", list),
    "ranks_per_node": Key(Whole(1, 100_000, auto=True), "Ranks on each node; auto: as the launcher does it", "auto"),
    "threads": Key(Wholes(1, 100_000), "Threads of a rank (OMP_NUM_THREADS)", lambda: [1]),
    "gpus": Key(Formula(), "GPUs that a point needs in all, a formula of ranks and nodes, such as ranks", 0),
    "set": Key(ByDeckKey(Setting()), "Keys of the deck that are the same in all points", dict),
    "weak": Key(ByDeckKey(OneOrMore(Formula())), "How sizes grow: keys of the deck by formulas of ranks, nodes and grid", dict),
    "vary": Key(ByDeckKey(ListOf(Setting())), "Keys of the deck, and the values that each takes: every combination is a point", dict),
    "zip": Key(Zipped(), "Keys of the deck whose lists go together, the first with the first and so on", list),
    "ablation": Key(Flag(), "Adds to each point one with backend null and one without overlap", False),
    "fields": Key(Word(("none", "final")), "Whether runs write their fields: output.fields of the decks", "none"),
    "reduced": Key(Flag(), "Decks are made small by their own line `# test:`", False),
    "baseline": Key(ByDeckKey(Setting(), extra=("ranks", "nodes", "threads", "deck")),
                    "Factors of the point to which others are compared", dict),
    "repeats": Key(Whole(1, 1000), "Whole runs of each point; a report needs 4 to call a difference significant", 3),
    "seed": Key(Whole(0, 2**31 - 1, auto=True),
                "Seed of the random order of runs; auto: a random seed, which is recorded", "auto"),
    "timeout": Key(Whole(1, 10_000_000),
                   "Time limit of a run in seconds; a longer run is killed and counts as failed", 3600),
    "launch": Key(LAUNCH, "Options of job scripts", lambda: LAUNCH.defaults()),
})


def json_schema() -> dict[str, object]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Kontor study", **STUDY.schema()}
