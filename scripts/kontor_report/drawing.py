# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all figures of matplotlib have in common."""

import matplotlib.pyplot as plt

STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True}


def save(figure, path):
    figure.savefig(path, dpi=150)
    plt.close(figure)
