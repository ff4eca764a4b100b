# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor run: finds the app of a deck, and starts it on the ranks asked for."""

import argparse
import os
import re
import shlex
from contextlib import ExitStack
from pathlib import Path

from ..build.setup import Build
from ..limits import Limits
from ..messages import Failure, help_of, shown
from ..place import Place
from . import inputs
from .launcher import COUNT, Launcher
from .outcome import start
from .slurm import SlurmJob
from .supervise import Timeouts


def main(words: list[str]) -> int:
    arguments = inputs.read_arguments(words)
    if arguments.help:
        print(help_of("kontor run"), end="")
        return 0
    folders = ExitStack()
    try:
        return _run(arguments, Place.here(), folders)
    except OSError as error:  # where nothing has run there is no failed verification
        raise Failure(f"run: nothing was run, because this failed: {error}", error_id="E-LAUNCH-COMMAND") from error
    finally:
        folders.close()


def _run(arguments: argparse.Namespace, place: Place, folders: ExitStack) -> int:
    environment = dict(os.environ)
    _refuse_to_be_a_rank(arguments, environment)
    deck, checkpoint = inputs.choose(arguments, place)
    limits = Limits(environment)
    job = SlurmJob.here(environment, 1, limits)
    default = job.cpus_per_task if job else "1"
    threads = environment["OMP_NUM_THREADS"] = environment.get("OMP_NUM_THREADS") or default
    if not re.fullmatch("[1-9][0-9]{0,5}(,[1-9][0-9]{0,5})*", threads):
        raise Failure(f"run: OMP_NUM_THREADS is '{threads}'; allowed is a whole number from 1")
    timeouts = Timeouts.of(environment)
    # Of a list, one number for each level of nesting, the outermost.
    launcher = Launcher(place, environment, int(threads.partition(",")[0]), limits)
    ranks, options, app = arguments.ranks, arguments.of_app, ""
    if checkpoint:
        app, recorded = inputs.of_checkpoint(checkpoint)
        if not ranks and launcher.job_ranks is None:
            ranks = str(recorded)
        options = ["--restart", checkpoint, *options]
    elif inputs.is_result(deck):
        name = Path(deck).name.removesuffix(".h5")
        deck, recorded_ranks = inputs.extract(deck, folders, keep=arguments.dry_run)
        ranks = ranks or recorded_ranks
        options = [*options, *([] if arguments.names_output else ["-o", f"{name}-repeat.h5"])]
    ranks = ranks or str(launcher.default_ranks)
    if not COUNT.fullmatch(ranks):
        raise Failure(f"run: -n is '{ranks}'; allowed is a whole number from 1")

    build = Build(place, environment)
    if deck:
        if not arguments.dry_run and not os.access(place.program("kontor-deck"), os.X_OK):
            build.ensure("kontor_deck")
        app = inputs.app_of(deck, place)
    inputs.known_app(app, checkpoint, place)
    if not arguments.dry_run:
        build.ensure(app)
    launch = launcher.launch(int(ranks), arguments.dry_run)
    program = [shown(place.program(app)), *([deck] if deck else []), *options]
    if arguments.dry_run:
        without = [word for name in launch.without if name in environment for word in ("-u", name)]
        variables = [f"{name}={value}" for name, value in ({"OMP_NUM_THREADS": threads} | launch.environment).items()]
        print(shlex.join([*(["env", *without] if without else []), *variables, *launch.words, *program]))
        return 0
    return start(app, program, launch, int(ranks), environment, timeouts)


def _refuse_to_be_a_rank(arguments: argparse.Namespace, environment: dict[str, str]) -> None:
    """`mpirun -n 4 kontor run DECK` would be four runs, each of which starts its ranks. In the one task of `srun --pty
    bash` it is what is meant."""
    for by, sign, variable in (("mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"), ("mpirun", "PMI_SIZE", "PMI_SIZE"),
                               ("srun", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"),
                               ("flux run", "FLUX_TASK_RANK", "FLUX_JOB_SIZE")):
        size = environment.get(variable) or "1"
        if environment.get(sign) and (by == "mpirun" or size != "1"):
            raise Failure(f"run: {by} has started 'kontor run' {size} times, which starts the ranks itself: leave out"
                          f" {by}, and say kontor run {shlex.join(arguments.inputs)} -n {size}")
