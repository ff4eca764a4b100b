# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tests/torture/run: from its arguments to its exit code."""

import argparse
import functools
import itertools
import json
import os
import random
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator

from kontor.messages import said, say

from . import fault, inputs, kill
from .campaign import Entry, Make, Place, not_hit, places_hit, run_all, summary
from .case import APPS, Case, on_gpus
from .fault_plans import KINDS, cases_of as faults_of, places
from .launch import BUILD, FAULTS, ROOT
from .reference import Reference, Unmade, make_reference

CLASSES = (kill.KIND, *KINDS, inputs.KIND)
DESCRIPTION = ("Kills runs at random moments, lets their calls fail, or gives them mutated inputs, and checks each time what is "
               "promised in docs/guarantees.md.")
ROUNDS = 5  # more, for places that no case has come to
EPILOG = "Exit codes: 0 nothing was found, 1 a check failed, 2 bad usage, 3 runs that nothing happened to have failed."


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/torture/run", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("--minutes", type=float, default=30, metavar="N", help="begin no case after that (default: 30)")
    parser.add_argument("--cases", type=int, metavar="N", help="at most so many in all: kills, and faults and inputs of each class, in turn")
    parser.add_argument("--seed", type=int, metavar="S", help="of all that is random (default: one that nobody has chosen)")
    parser.add_argument("--classes", nargs="+", choices=CLASSES, metavar="CLASS", help=" ".join(CLASSES) + " (default: all; device with --gpus only)")
    parser.add_argument("--apps", nargs="+", choices=sorted(APPS), default=sorted(APPS), metavar="APP", help=" ".join(sorted(APPS)) + " (default: all)")
    parser.add_argument("--gpus", type=int, metavar="N", help="of a build that computes on GPUs: on at most N ranks, a GPU each, by backends nccl and ipc too; "
                        "1: on two that share it, without nccl")
    parser.add_argument("--within", type=float, default=5, metavar="SECONDS",
                        help="the most that may pass between a fault and the end of the run that tells it (default: 5); give more on a busy machine")
    parser.add_argument("--case", nargs=2, metavar=("CLASS", "NUMBER"), help="one case again, with --seed; its folder is kept if a check fails")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where the table and cases.json go (default: torture-SEED, here)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="cases side by side (default: one a core)")
    arguments = parser.parse_args(words)
    if arguments.case:
        arguments.classes = [arguments.case[0]]
    if arguments.gpus is not None and arguments.gpus < 1:
        parser.error(f"--gpus is {arguments.gpus}; at least 1 is needed")
    if arguments.classes is None:
        arguments.classes = [name for name in CLASSES if name != "device" or arguments.gpus]
    elif "device" in arguments.classes and not arguments.gpus:
        parser.error("class device wants --gpus, and a build that computes on GPUs")
    if arguments.case and (arguments.case[0] not in CLASSES or not arguments.case[1].isdigit() or arguments.seed is None):
        parser.error("--case wants a class, a number and --seed")
    return arguments


def main(words: list[str]) -> int:
    arguments = parse_arguments(words)
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(2**31)
    work = Path(tempfile.mkdtemp(prefix="kontor-torture-references-"))
    try:
        return act(arguments, seed, work)
    except Unmade as error:
        say(f"torture: {error}")
        return 3
    finally:
        shutil.rmtree(work, ignore_errors=True)


def act(arguments: argparse.Namespace, seed: int, work: Path) -> int:
    disturbs = arguments.classes != [inputs.KIND]  # batches of inputs need no undisturbed runs
    if disturbs and not FAULTS.exists():
        say(f"torture: {FAULTS} is missing; build with KONTOR_TESTS")
        return 2
    begun, of = time.monotonic(), said("git", "-C", str(ROOT), "describe", "--always", "--dirty").strip() or "unknown"
    apps = [on_gpus(APPS[app], arguments.gpus) if arguments.gpus else APPS[app] for app in arguments.apps]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        made = list(pool.map(lambda app: make_reference(app, work), apps if disturbs else []))
    references = {reference.app.name: reference for reference in made}
    say(f"torture: seed {seed}, revision {of}, {arguments.jobs} cases side by side")
    entries: list[Entry] = []
    known: dict[str, set[Place]] = {}

    def report(entry: Entry) -> None:
        entries.append(entry)
        for finding in entry["findings"]:
            say(f"torture: {entry['told']}\n  {finding}")
        if len(entries) % 50 == 0:
            found = sum(bool(other["findings"]) for other in entries)
            say(f"torture: {len(entries)} cases in {time.monotonic() - begun:.0f} s, {found} with findings")

    fail = functools.partial(fault.make, within=arguments.within)
    make: dict[str, Make] = {kill.KIND: kill.make, **dict.fromkeys(KINDS, fail), inputs.KIND: inputs.make}
    run_all(cases_of(arguments, seed, references, known, entries), make, references, arguments.jobs, 60 * arguments.minutes, report, bool(arguments.case))
    folder = Path(arguments.output or f"torture-{seed}")
    folder.mkdir(parents=True, exist_ok=True)
    text = summary(entries, known)
    head = f"torture, seed {seed}, revision {of}, {len(entries)} cases in {time.monotonic() - begun:.0f} s"
    (folder / "table.txt").write_text(f"{head}\n{text}\n{not_hit(entries, known)}")
    (folder / "cases.json").write_text(json.dumps({"seed": seed, "revision": of, "build": str(BUILD), "cases": entries}, indent=1))
    print(f"{head}\n{text}")
    if arguments.case and entries:
        print(json.dumps(entries[0]["seen"], indent=1))
    return 1 if any(entry["findings"] for entry in entries) else 0


def cases_of(arguments: argparse.Namespace, seed: int, references: dict[str, Reference], known: dict[str, set[Place]],
             entries: list[Entry]) -> Iterator[Case]:
    """Those of the classes asked for, or the one case. `known`: gets the places of each class. `entries`: what has become of cases."""
    kills = filter(None, (kill.draw(seed, number, references) for number in itertools.count()))
    own: dict[str, Iterator[Case]] = {kill.KIND: kills, inputs.KIND: inputs.cases(seed)}
    streams: list[Iterator[Case]] = []
    for kind in arguments.classes:
        if kind in own:
            streams.append(own[kind])
            continue
        faults = faults_of(kind, seed, references)
        known[kind] = places(faults)
        streams.append(itertools.chain(faults, not_reached(kind, faults, entries)))
    if arguments.case:
        return itertools.islice((case for case in streams[0] if case.number == int(arguments.case[1])), 1)
    return itertools.islice(in_turn(arguments.classes, streams), arguments.cases)


def not_reached(kind: str, faults: list[Case], entries: list[Entry]) -> Iterator[Case]:
    """The cases of places that none has come to, once more: where ranks wait for each other, what they call differs from run to run."""
    for _ in range(ROUNDS):
        hit = places_hit(entries, kind)
        yield from (case for case in faults if not places([case]) <= hit)


def in_turn(kinds: list[str], streams: list[Iterator[Case]]) -> Iterator[Case]:
    """A kill, a fault of the first class, a kill, a fault of the second, and so on, inputs as if they were faults."""
    killing = [stream for kind, stream in zip(kinds, streams) if kind == kill.KIND]
    failing = [stream for kind, stream in zip(kinds, streams) if kind != kill.KIND]
    while killing or failing:
        for stream in list(failing) or [iter(())]:
            for one in killing:
                yield next(one)
            if case := next(stream, None):
                yield case
            elif stream in failing:
                failing.remove(stream)
