# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study as its file says, every default filled in, and what its keys must be together."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..messages import shown
from .decks import Deck, find_deck, read_schema, reduced_settings
from .description import STUDY
from .here import Here
from .kinds import same
from .problems import Problems, StudyError, nearest
from .schema import misfit
from .tree import Node, flow, parse

FREE_TO_CHANGE = ("repeats", "timeout", "launch")  # when a study is resumed


@dataclass
class Study:
    file: str
    values: dict[str, Any]
    tree: Node
    decks: list[Deck]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @property
    def decks_by_path(self) -> dict[str, Deck]:
        return {deck.path: deck for deck in self.decks}

    def sections(self) -> list[tuple[str, dict[str, Any]]]:
        """What gives keys of the deck: the section's name, and its keys."""
        return [*((name, self.values[name]) for name in ("set", "weak", "vary")), *(("zip", group) for group in self.values["zip"])]

    def place(self, *keys: str) -> str:
        """Where the file gives this key, or the nearest one around it."""
        node, place = self.tree, self.tree.place
        for key in keys:
            if not isinstance(node.value, dict) or key not in node.value:
                break
            place, node = node.keys[key], node.value[key]
        return place

    def resolved(self) -> str:
        """The study as YAML, every default written out."""
        lists = {key: self.values[key] or "auto" for key in ("ranks", "nodes")}
        values = {**self.values, **lists, "deck": [deck.path for deck in self.decks] if len(self.decks) > 1 else self.decks[0].path}
        return str(yaml.safe_dump(values, default_flow_style=None, sort_keys=False, width=120, allow_unicode=True))


def read_study(path: str, overrides: list[str], reduced: bool, here: Here, build: bool = False) -> Study:
    """Raises StudyError with all that is wrong. With `build` the mini-apps are built first, if they are not."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        known = ", ".join(sorted(shown(file) for file in (here.root / "inputs/studies").glob("*.yaml")))
        raise StudyError(f"{path}: cannot read the study: {error.strerror}{f'; there are {known}' if known else ''}", "E-FILE-READ") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path}: not a study: it is not UTF-8 text") from error
    tree = parse(text, path)
    for override in [*([*reduced_settings(text), "reduced=true"] if reduced else []), *overrides]:
        apply(override, tree)
    problems = Problems()
    values = STUDY.read("", tree, problems)
    problems.raise_any()
    study = Study(path, values, tree, [])
    check_together(study, problems)
    if build and not (here.build / "bin/kontor-deck").exists():
        here.make("kontor_deck")
    for name in values["deck"]:
        try:
            study.decks.append(find_deck(name, Path(path), here))
        except StudyError as error:
            problems.lines.append(f"{study.place('deck')}: {error}" if not str(error).startswith(name) else str(error))
    problems.raise_any()
    if build:
        here.make(*sorted({deck.app for deck in study.decks}))
    for deck in study.decks:
        read_schema(deck, here)
        check_keys(study, deck, problems)
    problems.raise_any()
    if values["reduced"]:
        apply_reduced_decks(study)
    return study


def apply(override: str, tree: Node) -> None:
    """KEY=VALUE, KEY being one of the study, or one in a section of it: ranks=[1,2], set.problem.cells=[64,64]."""
    name, equals, text = override.partition("=")
    if not equals or not name:
        raise StudyError(f"--set {override}: expected KEY=VALUE, as in --set ranks=[1,2]", "E-USAGE-OPTION")
    place = f"--set {name}"
    node = parse(f"value: {text}", place).value["value"]
    _place_all(node, place)
    section, dot, key = name.partition(".")
    target = tree
    if dot:
        known = tree.value.get(section)
        if known is None or not isinstance(known.value, dict):
            known = Node(place, {})
            tree.value[section], tree.keys[section] = known, place
        target = known
        name = key
    target.value[name], target.keys[name] = node, place


def _place_all(node: Node, place: str) -> None:
    node.place = place
    node.keys = dict.fromkeys(node.keys, place)
    for item in node.value.values() if isinstance(node.value, dict) else node.value if isinstance(node.value, list) else ():
        _place_all(item, place)


def apply_reduced_decks(study: Study) -> None:
    """What a deck's own line `# test:` sets is set, unless the study sets it."""
    for deck in study.decks:
        for override in deck.reduced:
            key, _, text = override.partition("=")
            deck.small[key] = parse(f"value: {text}", key).value["value"].plain_value()


def check_together(study: Study, problems: Problems) -> None:
    """What contradicts something else."""
    kind, per_node = study["kind"], study["ranks_per_node"]
    for wrong, key, message in (
        (study["ranks"] and study["nodes"], "nodes", "nodes and ranks are both given; give ranks, or nodes with ranks_per_node"),
        (not study["ranks"] and not study["nodes"], "", "ranks is missing (or nodes with ranks_per_node): on how many MPI ranks the deck runs"),
        (study["nodes"] and per_node == "auto", "nodes", "nodes needs ranks_per_node, a whole number: ranks are nodes x ranks_per_node"),
        *((ranks > per_node and ranks % per_node, "ranks", f"ranks has {ranks}, which is no multiple of ranks_per_node {per_node}")
          for ranks in (study["ranks"] if per_node != "auto" else ())),
        (kind == "weak" and not study["weak"], "kind",
         'kind weak needs weak: how sizes grow, such as weak: {problem.cells: [4096, "4096*ranks"]}'),
        (kind in ("compare", "sweep") and not (study["vary"] or any(study["zip"]) or len(study["deck"]) > 1), "kind",
         f"kind {kind} needs vary, zip or several decks: there is nothing to compare"),
        (study["ablation"] and "null" in study["vary"].get("comm.backend", [study["set"].get("comm.backend")]), "ablation",
         "ablation adds backend null by itself; leave it out of comm.backend"),
    ):
        if wrong:
            problems.add(study.place(key), message)
    homes: dict[str, str] = {}
    for section, keys in study.sections():
        for key in keys if section != "weak" or kind == "weak" else ():
            if key in homes:
                problems.add(study.place(section, key), f"{key} is given by {homes[key]} and by {section}; give it once")
            homes[key] = section
    if "output.fields" in homes:
        problems.add(study.place(homes["output.fields"], "output.fields"), "output.fields is set by the study's key fields")
    for key, value in list(study["baseline"].items()):
        allowed = factors(study).get(key)
        if any(study.place(section, key).startswith("--set") for section in ("vary", "zip")) or study.place(key).startswith("--set"):
            if not any(same(value, other) for other in allowed or ()):
                del study["baseline"][key]  # another study than the one that the file's baseline is for
        elif allowed is None:
            problems.add(study.place("baseline", key), f"baseline: {key} is not varied{nearest(key, factors(study))}")
        elif not any(same(value, other) for other in allowed):
            problems.add(study.place("baseline", key), f"baseline: {key} is never {flow(value)}; allowed are {', '.join(map(flow, allowed))}")


def factors(study: Study) -> dict[str, list[Any]]:
    """What points differ in, and the values of each."""
    found: dict[str, list[Any]] = {"ranks": study["ranks"] or [nodes * study["ranks_per_node"] for nodes in study["nodes"]
                                                              if study["ranks_per_node"] != "auto"]}
    if study["nodes"]:
        found["nodes"] = study["nodes"]
    if len(study["threads"]) > 1:
        found["threads"] = study["threads"]
    if len(study["deck"]) > 1:
        found["deck"] = study["deck"]
    found.update(study["vary"])
    for group in study["zip"]:
        found.update(group)
    return found


def check_keys(study: Study, deck: Deck, problems: Problems) -> None:
    """The keys that the study sets are the deck's, and their values what it takes."""
    if deck.schema is None:
        return
    for section, keys in study.sections():
        for key, value in keys.items():
            if key not in deck.schema:
                inner = any(known.startswith(f"{key}.") for known in deck.schema)
                hint = "; it is a section: name one of its keys" if inner else nearest(key, deck.schema)
                problems.add(study.place(section, key), f'{section}: "{key}" is not a key of {deck.app}\'s decks{hint}')
                continue
            for one in {"set": [value], "weak": ()}.get(section, value):
                if wrong := misfit(deck.schema[key], one):
                    problems.add(study.place(section, key), f"{section}: {key} takes {wrong}, found {flow(one)}")
