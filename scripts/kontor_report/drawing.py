# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all pictures have in common. They are made by Figure, not by pyplot, which needs a backend and keeps them."""

import textwrap

from matplotlib import rc_context

from .text import printable

# Around what makes and saves a Figure. The same figure is the same SVG; its texts stay texts, in which a $ begins no formula.
styled = rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True,
                     "savefig.dpi": 150, "text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "kontor"})


def wrapped(words: str, width: int) -> str:
    """In lines of at most so many letters."""
    return textwrap.fill(printable(words), width)
