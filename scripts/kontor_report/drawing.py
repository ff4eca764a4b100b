# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all figures have in common: style, colours, legends."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True}

# Okabe and Ito's colours: told apart by colour-blind readers too. And some of Paul Tol's for the parts of a solver.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
PARTS = {"compute": "#0072B2", "spmv": "#0072B2", "spmv_boundary": "#56B4E9", "vectors": "#332288", "preconditioner": "#882255",
         "pack": "#E69F00", "post": "#F0E442", "wait": "#D55E00", "unpack": "#CC79A7", "reduce": "#009E73",
         "sums_post": "#99D8C0", "sums_wait": "#009E73", "other": "#999999"}
BACKENDS = {"raw": "#0072B2", "view": "#D55E00", "shm": "#009E73", "nccl": "#CC79A7", "ipc": "#E69F00", "null": "#999999"}


def colours(names):
    """Name by name: the backend's where the name begins with one, else one that no backend here has."""
    own = {name: BACKENDS[name.split()[0]] for name in names if name.split()[:1] and name.split()[0] in BACKENDS}
    free = [colour for colour in PALETTE if colour not in own.values()]
    others = [name for name in dict.fromkeys(names) if name not in own]
    return {**own, **{name: free[place % len(free)] for place, name in enumerate(others)}}


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
