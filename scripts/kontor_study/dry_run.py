# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--dry-run: every point with its command and an estimate, and what cannot run here with the reason."""

from pathlib import Path

from .here import Here
from .make import shown_command
from .plan import Point
from .progress import count, say, span
from .study import Study


def show_plan(study: Study, points: list[Point], here: Here, folder: Path) -> None:
    decks = {deck.path: deck for deck in study.decks}
    for point in points:
        print(f"{point.id}  {point.words()}")
        if point.skipped:
            print(f"      cannot run here: {point.skipped}")
            continue
        more = "; more ranks than cores" if point.oversubscribed else ""
        print(f"      {shown_command(point, decks[point.deck], here, str(folder / 'runs' / f'{point.id}-r1'))}")
        print(f"      about {span(point.estimate_seconds)}: {point.estimate_basis}{more}")
    able = [point for point in points if not point.skipped]
    runs, total = study["repeats"] * len(able), study["repeats"] * sum(point.estimate_seconds for point in able)
    skipped = f", {len(points) - len(able)} of them cannot run here" if len(able) < len(points) else ""
    print(f"{count(len(points), 'point')}{skipped}; {count(study['repeats'], 'repeat')}: {count(runs, 'run')}, about {span(total)}")
    for deck in study.decks:
        if deck.schema is None:
            say(f"study: {deck.app} is not built yet, so what the study sets in {deck.path} is not checked")
    if study["weak"] and study["kind"] != "weak":
        say(f"study: weak is not used, because kind is {study['kind']}")

