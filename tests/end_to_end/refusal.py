# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds for every mistake of the user's: the text, once; exit code 2; soon; nothing lost."""

from launch import HeatTest

LIMIT = 10  # seconds, so that nothing hangs; a refusal takes a fraction of one

PLATE = """\
app: heat
problem:
  cells: [13, 11]
  boundary:
    y_max: {dirichlet: "sin(pi*x)"}
solver: {tolerance: 0, max_sweeps: 5}
output: {file: plate.h5}
"""


def change(deck, old, new):
    assert deck.count(old) == 1, f"{old!r} is in the deck {deck.count(old)} times"
    return deck.replace(old, new)


class RefusalTest(HeatTest):
    """What all ranks find out alike is refused by the same code whatever it is, which one case of a class shows on
    several ranks. What one rank alone finds must be told on several."""

    RANKS = (1,)
    calibrates = True  # arguments are as they are given

    def refused(self, says, *arguments, deck=PLATE, ranks=None):
        """Runs `heat deck.yaml` with more arguments, on each number of ranks."""
        for count in ranks or self.RANKS:
            with self.subTest(says=says, ranks=count):
                self.write("deck.yaml", deck)
                self.write("plate.h5", "what an earlier run left")
                before = self.contents()
                result = self.heat("deck.yaml", *arguments, ranks=count, limit=LIMIT)
                self.assertEqual(result.err, says + "\n")
                self.assertEqual(result.out, "")
                self.assertEqual(result.code, 2)
                self.assertEqual(self.contents(), before)

    def refused_when(self, old, new, says, **others):
        """... where the deck says `new` instead of `old`."""
        self.refused(says, deck=change(PLATE, old, new), **others)

    def refused_set(self, override, says, **others):
        """... with `--set override`, which the message begins with."""
        self.refused(f"--set {override}: {says}", "--set", override, **others)
