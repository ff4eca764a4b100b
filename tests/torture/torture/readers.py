# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""readers.py KIND FILE...: reads inputs by the Python commands, as `kontor report`, `study` and `predict` do, in one process.

Prints "begin FILE" before each, and "finding FILE: WHAT" after one that is neither accepted nor refused.
"""

import contextlib
import functools
import io
import resource
import signal
import subprocess
import sys
import types
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parents[3]
STUDY = ROOT / "inputs/studies/heat-strong.yaml"
SECONDS = 60  # that one input may take
BYTES = 8 << 30  # of address space, most of it libraries'


def studies() -> Callable[[str], int]:
    from kontor.study import command, decks

    def run(words: list[object], **how: object) -> subprocess.CompletedProcess[str]:
        return once(tuple(map(str, words)))

    once = functools.lru_cache(None)(lambda words: subprocess.run(words, capture_output=True, text=True, check=False))
    decks.subprocess = types.SimpleNamespace(run=run)  # the same decks again and again
    return lambda file: command.main([file, "--dry-run"])


def machines() -> Callable[[str], int]:
    sys.path.insert(0, str(ROOT / "lab/model"))
    from kontor_model import command

    studies()  # for its memory
    return lambda file: command.main([str(STUDY), "--machine", file, "--ranks", "1,64"])


def results() -> Callable[[str], int]:
    from kontor.report import command as report

    def read(file: str) -> int:
        arguments = report.parse_arguments([file, "--html", f"{file}.html"])
        code = report.isolated(lambda now: report.report(arguments, now), arguments.files)
        Path(f"{file}.html").unlink(missing_ok=True)
        return code

    return read


KINDS = {"study": studies, "machine": machines, "report": results, "json": results}


def main(kind: str, files: list[str]) -> None:
    sys.path.insert(0, str(ROOT / "python"))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    read = KINDS[kind]()
    for file in files:
        print(f"begin {file}", flush=True)
        signal.alarm(SECONDS)
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = read(file)
            what = "" if code in (0, 2) else f"exit code {code}"
        except SystemExit as error:  # of argparse
            what = "" if error.code in (0, 2) else f"exit code {error.code}"
        except BaseException as error:  # noqa: BLE001: that is what is looked for
            what = f"{type(error).__name__}: {error}"
        signal.alarm(0)
        if what:
            print(f"finding {file}: {what}: {said.getvalue()[-300:]!r}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
