# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all figures of matplotlib have in common: style, legends."""

import matplotlib.pyplot as plt

STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True}


def legend_below(figure, plots, columns=8):
    """One legend for all plots, of the colours in these: they are the same everywhere."""
    found = {label: handle for axes in plots for handle, label in zip(*axes.get_legend_handles_labels())}
    labels, handles = found.keys(), found.values()
    room = 0.4 * -(-len(labels) // columns) / figure.get_figheight()
    figure.get_layout_engine().set(rect=(0, room, 1, 1 - room))
    figure.legend(handles, labels, ncols=columns, loc="lower center", frameon=False)


def save(figure, path):
    figure.savefig(path, dpi=150)
    plt.close(figure)
