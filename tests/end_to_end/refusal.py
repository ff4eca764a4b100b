# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds for every mistake of the user's: id and facts of the message, exit code 2, soon, nothing lost."""

from launch import HeatTest

LIMIT = 60  # seconds, so that nothing hangs; a refusal takes a fraction of one

PLATE = """\
app: heat
problem:
  cells: [13, 11]
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
solver: {tolerance: 0, max_sweeps: 5}
output: {file: plate.h5}
"""


def change(deck, *words):
    """The deck with the second of two words instead of the first, the fourth instead of the third and so on."""
    for old, new in zip(words[::2], words[1::2]):
        assert deck.count(old) == 1, f"{old!r} is in the deck {deck.count(old)} times"
        deck = deck.replace(old, new)
    return deck


class RefusalTest(HeatTest):
    """What all ranks find out alike is refused by the same code whatever it is, which one case of a class shows on
    several ranks. What one rank alone finds must be told on several."""

    RANKS = (1,)
    calibrates = True  # arguments are as they are given

    def refused(self, error_id, *facts, words=(), deck=PLATE, ranks=None, lines=1):
        """Runs `heat deck.yaml` with more words, on each number of ranks. Facts are place and key, as in
        "deck.yaml:3:3: problem.cells", the value found, and what else the user must learn."""
        for count in ranks or self.RANKS:
            with self.subTest(id=error_id, facts=facts, ranks=count):
                self.write("deck.yaml", deck)
                self.write("plate.h5", "what an earlier run left")
                before = self.contents()
                result = self.heat("deck.yaml", *words, ranks=count, limit=LIMIT)
                self.names(result.err, error_id, *facts, lines=lines)
                self.assertEqual((result.code, result.out), (2, ""))
                self.assertEqual(self.contents(), before)

    def refused_when(self, old, new, *facts, **others):
        """... where the deck says `new` instead of `old`."""
        self.refused(*facts, deck=change(PLATE, old, new), **others)

    def refused_set(self, override, error_id, *facts, **others):
        """... with `--set override`, which the message begins with."""
        self.refused(error_id, f"--set {override}: ", *facts, words=("--set", override), **others)
