# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a folder is that of this study, and in what it differs if it is not."""

from .folder import Folder
from .problems import StudyError, shown
from .study import FREE_TO_CHANGE, Study
from .tree import flow, parse


def other_study(folder: Folder, study: Study) -> list[str]:
    """In what the folder's study differs, in words; empty if it is this one."""
    path = folder.path / "study.yaml"
    try:
        before = parse(path.read_text(encoding="utf-8"), str(path)).plain_value()
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from error
    now = parse(study.resolved(), study.file).plain_value()
    told = []
    for key in dict.fromkeys([*now, *before]):
        mine, its = now.get(key), before.get(key)
        if key in FREE_TO_CHANGE or (key == "seed" and mine == "auto") or mine == its:
            continue
        told.append(f"{key} is {shown(flow(mine), 200)}, was {shown(flow(its), 200)}")
    decks = folder.state.get("decks", {})
    told += [f"{deck.path} has changed since" for deck in study.decks if decks.get(deck.path, {}).get("sha256", deck.sha256) != deck.sha256]
    return told
