# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A run, and its exit code: the program's own, or one that says what ended it."""

import glob
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ..messages import exit_code, reason_of, say, signal_name
from .mpi import ENDS_AT_ONCE, Launch
from .run_folder import RunFolder
from .supervise import NUMBERS, Supervised, Timeouts

DIED = "E-LAUNCH-DIED"
SHARED_MEMORY = "/dev/shm"
KINDS = ("vader_segment", "sm_segment", "osc_sm", "osc_rdma")  # a file there is called KIND.HOST.more


def start(app: str, program: list[str], launch: Launch, ranks: int, environment: Mapping[str, str],
          timeouts: Timeouts) -> int:
    variables = {name: value for name, value in environment.items() if name not in launch.without}
    variables |= {"KONTOR_RANKS": str(ranks)}  # the program refuses to be on fewer
    variables |= {**ENDS_AT_ONCE, **launch.environment}
    if sys.stderr.isatty():
        variables["KONTOR_TERMINAL"] = "1"  # a launcher's ranks never see the terminal; the progress line wants to know
    with RunFolder() as folder:
        variables["KONTOR_RUN_FOLDER"] = folder.path
        run = Supervised(launch, folder, timeouts)
        reclaim_shared_memory()
        try:
            code = run.run([*launch.words, *program], variables)
        except OSError:
            code = 127  # as of a shell; the probe says why
        reclaim_shared_memory()
        if run.lost:
            say(f"stdout: {run.lost}: what {app} printed is not complete", "E-FILE-WRITE")
            code = code or 3
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
                       folder: RunFolder) -> int:
    """The same of a command that nothing ended."""
    launcher = Path(launch.words[0]).name
    if code > 128 and signal_name(code):
        say(f"{app} was ended by signal {signal_name(code)}{reason_of(code)}", DIED)
        return code
    if not folder.ranks_have_started:
        return 3 if code not in (0, 2, 3, 4) and _cannot_start(launch, program, variables) else code
    if code > 4:
        why = f"{code} while {app} ran: a host or its daemon was lost"
    elif code == 1 and not folder.a_rank_was_done:
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


def reclaim_shared_memory() -> None:
    """Removes what Open MPI's ranks of dead runs have shared, which their mpirun removes, unless it is killed: the
    files of this user and host that no process has mapped or open.

    A process in a container, or below another root, has the file in another folder: names decide.
    """
    host = os.uname().nodename.partition(".")[0]
    names = [path for kind in KINDS for path in glob.glob(f"{SHARED_MEMORY}/{kind}.{glob.escape(host)}.*")]
    found = {path for path in names if _is_ours(Path(path))}
    if not found:
        return
    in_use = set(_in_use())
    for path in found:
        if os.path.basename(path) not in in_use:
            Path(path).unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    with suppress(OSError):
        return path.is_file() and not path.is_symlink() and path.stat().st_uid == os.geteuid()
    return False


def _in_use() -> Iterator[str]:
    for link in glob.iglob("/proc/[0-9]*/fd/*"):  # first: what is open now may be mapped then
        with suppress(OSError):
            yield os.path.basename(os.readlink(link))
    for maps in glob.iglob("/proc/[0-9]*/maps"):
        with suppress(OSError):
            lines = Path(maps).read_text(encoding="utf-8", errors="replace").splitlines()
            yield from (os.path.basename(line) for line in lines)
