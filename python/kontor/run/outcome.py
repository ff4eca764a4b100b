# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run, and its exit code: the program's own, or one that says what ended it."""

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ..messages import exit_code, reason_of, say, signal_name
from .mpi import ENDS_AT_ONCE, Launch
from .run_folder import run_folder
from .supervise import NUMBERS, Supervised, Timeouts

DIED = "E-LAUNCH-DIED"


def start(app: str, program: list[str], launch: Launch, ranks: int, environment: Mapping[str, str],
          timeouts: Timeouts) -> int:
    variables = {name: value for name, value in environment.items() if name not in launch.without}
    variables |= {"KONTOR_RANKS": str(ranks)}  # the program refuses to be on fewer
    variables |= {**ENDS_AT_ONCE, **launch.environment}
    with run_folder() as folder:
        variables["KONTOR_RUN_FOLDER"] = str(folder)
        run = Supervised(launch, folder, timeouts)
        try:
            code = run.run([*launch.words, *program], variables)
        except OSError:
            code = 127  # as of a shell; the probe says why
        if run.stuck or run.caught or code < 0:
            return _after_its_end_was_made(code, run, app, Path(launch.words[0]).name, timeouts)
        return _after_its_own_end(code, app, launch, program[0], variables, folder)


def _after_its_end_was_made(code: int, run: Supervised, app: str, launcher: str, timeouts: Timeouts) -> int:
    """By this command or by a signal: says what there is to say, and returns the exit code."""
    code = exit_code(code)
    if run.stuck:
        what, seconds, how = {"failed": ("a rank failed", timeouts.abort, "a host has vanished"),
                              "done": ("the ranks were done", timeouts.finish, "a rank is killed at its end")}[run.stuck]
        say(f"{what}, and {launcher} had not ended {seconds} s later, as when {how}; it was ended", DIED)
        return 3
    if run.caught and code == 4:
        say(f"{app} ended early, as signal {run.caught} asked; its record says how far it came")
        return 4
    if run.caught:  # else it was done already, or has said why it could not end as it was asked to
        if code == 0 or run.was_asked_to_end and code in (2, 3):
            return code
        say(f"{app} was interrupted by signal {run.caught}")
        return 128 + NUMBERS[run.caught]
    say(f"{launcher} itself was ended by signal {signal_name(code)}, and {app} with it{reason_of(code)}", DIED)
    return 3


def _after_its_own_end(code: int, app: str, launch: Launch, program: str, variables: Mapping[str, str],
                       folder: Path) -> int:
    """The same of a command that nothing ended."""
    launcher = Path(launch.words[0]).name
    if code > 128 and signal_name(code):
        say(f"{app} was ended by signal {signal_name(code)}{reason_of(code)}", DIED)
        return code
    if not (folder / "started").exists():
        return 3 if code not in (0, 2, 3, 4) and _cannot_start(launch, program, variables) else code
    if code > 4:
        why = f"{code} while {app} ran: a host or its daemon was lost"
    elif code == 1 and not (folder / "done").exists():
        why = f"1 before {app} was done, as after a signal to it"
    else:
        return code
    say(f"{launcher} ended with code {why}", DIED)
    return 3


def _cannot_start(launch: Launch, program: str, variables: Mapping[str, str]) -> bool:
    """Exit code 1 is a failed verification, or a launcher or an MPI that could not start: --list-backends needs no more
    than these two."""
    probe = [*(word for word in launch.words if word != "--quiet"), program, "--list-backends"]
    try:
        done = subprocess.run(probe, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
    except OSError as error:
        done = subprocess.CompletedProcess(probe, 127, str(error))
    if done.returncode != 0:
        said = done.stdout.rstrip("\n")
        say(f"the program could not be started: {shlex.join(probe)}\n{said}", "E-LAUNCH-COMMAND")
    return done.returncode != 0
