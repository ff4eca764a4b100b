# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study as its file says, every default filled in; and what its keys must be together, and with its decks."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..messages import shown
from ..place import Place
from .decks import Deck, find_deck, reduced_settings
from .description import STUDY
from .kinds import same
from .problems import Problems, StudyError, misfit, nearest
from .tree import Node, flow, parse


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

    @property
    def apps(self) -> list[str]:
        return sorted({deck.app for deck in self.decks})

    @property
    def sections(self) -> list[tuple[str, dict[str, Any]]]:
        """What gives keys of the deck: the section's name, and its keys."""
        lists = [("zip", group) for group in self["zip"]]
        return [*((name, self[name]) for name in ("set", "weak", "vary")), *lists]

    @property
    def factors(self) -> dict[str, list[Any]]:
        """What points differ in, and the values of each."""
        per_node = self["ranks_per_node"]
        of_nodes = [nodes * per_node for nodes in self["nodes"] if per_node != "auto"]
        found: dict[str, list[Any]] = {"ranks": self["ranks"] or of_nodes}
        found |= {"nodes": self["nodes"]} if self["nodes"] else {}
        found |= {key: self[key] for key in ("threads", "deck") if len(self[key]) > 1}
        for section, keys in self.sections:
            found |= keys if section in ("vary", "zip") else {}
        return found

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
        lists = {key: self[key] or "auto" for key in ("ranks", "nodes")}
        decks = [deck.path for deck in self.decks]
        values = {**self.values, **lists, "deck": decks if len(decks) > 1 else decks[0]}
        return str(yaml.safe_dump(values, default_flow_style=None, sort_keys=False, width=120, allow_unicode=True))


def read_study(path: str, overrides: list[str], reduced: bool, place: Place, build: bool = False) -> Study:
    """Raises StudyError with all that is wrong. With `build` the mini-apps are built first, if they are not."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        known = ", ".join(sorted(shown(file) for file in (place.root / "inputs/studies").glob("*.yaml")))
        raise StudyError(f"{path}: cannot read the study: {error.strerror}{f'; there are {known}' if known else ''}",
                         "E-FILE-READ") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path}: not a study: it is not UTF-8 text") from error
    tree = parse(text, path)
    for override in [*([*reduced_settings(text), "reduced=true"] if reduced else []), *overrides]:
        _override(override, tree)
    problems = Problems()
    values = STUDY.read("", tree, problems)
    problems.raise_any()
    study = Study(path, values, tree, [])
    check_together(study, problems)
    if build and not place.program("kontor-deck").exists():
        _build(place, "kontor_deck")
    for name in values["deck"]:
        try:
            study.decks.append(find_deck(name, Path(path), place))
        except StudyError as error:
            problems.lines.append(str(error) if str(error).startswith(name) else f"{study.place('deck')}: {error}")
    problems.raise_any()
    if build:
        _build(place, *study.apps)
    for deck in study.decks:
        check_keys(study, deck, problems)
        settings = [override.partition("=") for override in deck.reduced] if values["reduced"] else []
        deck.small = {key: _value(text, key).plain_value() for key, _, text in settings}
    problems.raise_any()
    return study


def _build(place: Place, *targets: str) -> None:
    if place.is_source and (code := subprocess.run([place.kontor, "build", *targets], check=False).returncode):
        raise StudyError("study: not begun, because the build failed", "E-BUILD-FAILED",
                         code=code if code in (2, 3) else 3)


def _override(text: str, tree: Node) -> None:
    """KEY=VALUE, KEY being one of the study, or one in a section of it: ranks=[1,2], set.problem.cells=[64,64]."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise StudyError(f"--set {text}: expected KEY=VALUE, as in --set ranks=[1,2]", "E-USAGE-OPTION")
    place = f"--set {name}"
    section, dot, key = name.partition(".")
    if dot:
        known = tree.value.get(section)
        if known is None or not isinstance(known.value, dict):
            tree.value[section], tree.keys[section] = Node(place, {}), place
        tree = tree.value[section]
    tree.value[key if dot else name], tree.keys[key if dot else name] = _value(value, place), place


def _value(text: str, place: str) -> Node:
    """Of a setting; all in it has this place."""
    def move(node: Node) -> Node:
        node.place, node.keys = place, dict.fromkeys(node.keys, place)
        for part in node.parts:
            move(part)
        return node

    return move(parse(f"value: {text}", place).value["value"])


def check_together(study: Study, problems: Problems) -> None:
    """Adds what contradicts something else in the study's file."""
    kind, per_node = study["kind"], study["ranks_per_node"]
    backends = study["vary"].get("comm.backend", [study["set"].get("comm.backend")])
    uneven = [ranks for ranks in study["ranks"] if per_node != "auto" and ranks > per_node and ranks % per_node]
    for wrong, key, message in (
        (study["ranks"] and study["nodes"], "nodes",
         "nodes and ranks are both given; give ranks, or nodes with ranks_per_node"),
        (not study["ranks"] and not study["nodes"], "",
         "ranks is missing (or nodes with ranks_per_node): on how many MPI ranks the deck runs"),
        (study["nodes"] and per_node == "auto", "nodes",
         "nodes needs ranks_per_node, a whole number: ranks are nodes x ranks_per_node"),
        *((True, "ranks", f"ranks has {ranks}, which is no multiple of ranks_per_node {per_node}") for ranks in uneven),
        (kind == "weak" and not study["weak"], "kind",
         'kind weak needs weak: how sizes grow, such as weak: {problem.cells: [4096, "4096*ranks"]}'),
        (kind in ("compare", "sweep") and not (study["vary"] or any(study["zip"]) or len(study["deck"]) > 1), "kind",
         f"kind {kind} needs vary, zip or several decks: there is nothing to compare"),
        (study["ablation"] and "null" in backends, "ablation",
         "ablation adds backend null by itself; leave it out of comm.backend"),
    ):
        if wrong:
            problems.add(study.place(key), message)
    homes: dict[str, str] = {}
    for section, keys in study.sections:
        for key in keys if section != "weak" or kind == "weak" else ():
            if key in homes:
                problems.add(study.place(section, key),
                             f"{key} is given by {homes[key]} and by {section}; give it once")
            homes[key] = section
    if "output.fields" in homes:
        problems.add(study.place(homes["output.fields"], "output.fields"),
                     "output.fields is set by the study's key fields")
    _check_baseline(study, problems)


def _check_baseline(study: Study, problems: Problems) -> None:
    """It is a factor, and one of its values. What --set has changed is dropped: the baseline was for another study."""
    factors = study.factors
    for key, value in list(study["baseline"].items()):
        is_there = any(same(value, other) for other in factors.get(key, ()))
        homes = study.place("vary", key), study.place("zip", key), study.place(key)
        if any(place.startswith("--set") for place in homes):
            if not is_there:
                del study["baseline"][key]
        elif key not in factors:
            problems.add(study.place("baseline", key), f"baseline: {key} is not varied{nearest(key, factors)}")
        elif not is_there:
            problems.add(study.place("baseline", key), f"baseline: {key} is never {flow(value)}; allowed are "
                                                       f"{', '.join(map(flow, factors[key]))}")


def check_keys(study: Study, deck: Deck, problems: Problems) -> None:
    """The keys that the study sets are the deck's, and their values what it takes."""
    schema = deck.schema or {}
    for section, keys in study.sections if schema else ():
        for key, value in keys.items():
            place = study.place(section, key)
            if key not in schema:
                inner = any(known.startswith(f"{key}.") for known in schema)
                hint = "; it is a section: name one of its keys" if inner else nearest(key, schema)
                problems.add(place, f'{section}: "{key}" is not a key of {deck.app}\'s decks{hint}')
                continue
            for one in {"set": [value], "weak": ()}.get(section, value):
                if wrong := misfit(schema[key], one):
                    problems.add(place, f"{section}: {key} takes {wrong}, found {flow(one)}")
