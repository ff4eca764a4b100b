# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Residuals of runs over iterations and over time."""

import textwrap

import numpy as np
from matplotlib.ticker import EngFormatter

from .colours import colours
from .deck import names_of, section_of
from .drawing import STYLE, plt, save
from .solves import ending, time_per_iteration, tolerance
from .text import seconds

LINES = ("-", "--", "-.", ":")


def plot_convergence(record, path):
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7.5, 5))
        draw_convergence([record], axes)
        run = record.run
        end = f"{ending(record)}: {run.get('iterations', '?')} iterations, {seconds(record.seconds)}"
        figure.suptitle(f"{run.get('app', '')}: {run.get('backend', '?')}, {run.get('ranks', '?')} ranks; {end}")
        axes.set_title(textwrap.fill(", ".join(section_of(record, "solver")), 110), fontsize=8)
        save(figure, path)


def draw_convergence(records, over_iterations, over_time=None):
    """One curve a run that has a history, named by what is different in it, with the tolerance."""
    records = [record for record in records if record.history]
    names = names_of(records)
    style = _styles(records, names)
    for record, name in zip(records, names):
        iterations = np.array(record.history["iterations"], dtype=float)
        values = np.array(record.history["values"])
        values = np.where(np.isfinite(values) & (values > 0), values, np.nan)
        marker = "." if len(values) < 40 else None
        over_iterations.plot(iterations, values, label=textwrap.fill(name, 48), marker=marker, **style[name])
        if over_time and time_per_iteration(record):
            over_time.plot(iterations * time_per_iteration(record), values, marker=marker, **style[name])
    for axes, across in ((over_iterations, "iteration"), (over_time, "time, each iteration at the mean of all")):
        if axes:
            axes.set(yscale="log", xlabel=across, ylabel=" and ".join(dict.fromkeys(r.history["name"] for r in records)))
            for limit in {tolerance(record) for record in records} - {None, 0}:
                axes.axhline(limit, color="#999999", linewidth=1, linestyle=":")
    if over_time:
        over_time.xaxis.set_major_formatter(EngFormatter("s"))
    if len(records) > 1:
        over_iterations.legend(frameon=False, fontsize=8)


def _styles(records, names):
    """A backend has its colour; runs that share one have other lines. With one backend each run has a colour.

    The first lines are the widest, so that those over which others lie are seen.
    """
    backends = [record.run.get("backend", "?") for record in records]
    groups = backends if len(set(backends)) > 1 else names
    of = colours(groups)
    seen, style = {}, {}
    for number, (name, group) in enumerate(zip(names, groups)):
        place = seen.setdefault(of[group], 0)
        style[name] = {"color": of[group], "linestyle": LINES[place % len(LINES)], "linewidth": 1.4 + 2 * (1 - (number + 1) / len(names))}
        seen[of[group]] += 1
    return style
