# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What keeps a record from being shown: its file, Python's packages, or a defect of Kontor. And work on files that may
be damaged, in a process of its own with limits.

The HDF5 library checks little of what it reads: from a damaged file it may read outside of its memory, ask for all
there is, or never come back.
"""

import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from kontor.messages import say, with_id

from .text import printable

Now = Callable[[str], None]  # tells which file is being read

STARTING = 30  # seconds of computing: Python's libraries
READING = 5  # the same for a file, and one more for each 10 MB; a valid one of some MB takes a fraction of a second
DRAWING = 120  # matplotlib may have to look at all fonts of the machine first
MEMORY = b"memory"  # what a child says that has run out of it
ROOM = 4 << 30  # bytes of address space beyond what the process has, and four times the files
STOPPED = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # not the file's fault


class RecordError(Exception):
    """A file that cannot be read, or what else the user can mend, with what to do and the id of the cause."""

    def __init__(self, message: str, error_id: str = "E-REPORT-FILE"):
        super().__init__(with_id(message, error_id))


def _reason(error: BaseException) -> str:
    """In one line, of at most 200 characters."""
    return printable(" ".join(str(error).split()))[:200] or type(error).__name__


def _placed(error: BaseException) -> str:
    """The same, with its kind and where it was thrown."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {_reason(error)} ({printable(last.filename)}, line {last.lineno})"


@contextmanager
def read_as_damaged(path: object) -> Iterator[None]:
    """Around what reads a file: any exception becomes one line about it, because damage has no end of symptoms."""
    try:
        yield
    except (RecordError, ImportError):
        raise
    except Exception as error:  # pylint: disable=broad-except
        if isinstance(error, OSError) and error.errno:  # what the system says is not the file's fault
            raise RecordError(f"{path}: cannot be read: {os.strerror(error.errno)}") from error
        raise RecordError(f"{path}: cannot be read, so the file is damaged: {_reason(error)}") from error


@contextmanager
def shown(*paths: str) -> Iterator[None]:
    """Around what shows values that were read and checked: a defect of Kontor is likelier than one of the file."""
    try:
        yield
    except (RecordError, ImportError):
        raise
    except Exception as error:  # pylint: disable=broad-except
        raise RecordError(f"{', '.join(paths)}: cannot be shown: {_placed(error)}: a defect of Kontor, or values that "
                          "no run writes") from error


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Around what writes a file; `what` names it, and the option that asks for it."""
    try:
        yield
    except (OSError, ValueError) as error:  # a folder that is not there, an unknown kind of picture
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"{what} cannot be written: {reason}", "E-FILE-WRITE") from error


@contextmanager
def packages(what: str) -> Iterator[None]:
    """Around imports that `what` needs, such as --plot: what fails there is Python's installation, not a file."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise RecordError(f"{what} needs Python with {error.name}: apt-get install python3-{error.name}",
                          "E-REPORT-PACKAGE") from error
    except Exception as error:  # pylint: disable=broad-except
        raise RecordError(f"{what}: a package of Python cannot be loaded: {_placed(error)}; KONTOR_PYTHON names "
                          "another Python", "E-REPORT-PACKAGE") from error


def isolated(work: Callable[[Now], int], files: Sequence[str], seconds: int = READING) -> int:
    """Calls work(now) in a child and returns its exit code, at least 128 if a signal ended it.

    work calls now(path) when it begins with a file: from then on it has as many seconds as a file of that size may
    take, and that file is named if the child does not survive. What work throws is told as a defect, with 3.
    """
    inside = [os.path.join(place, name) for folder in files for place, _, names in os.walk(folder) for name in names]
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work(work, writer, seconds, ROOM + 4 * sum(map(_size, [*files, *inside])))
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        *begun, last = pipe.read().split(b"\0")
    _, status = os.waitpid(child, 0)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if last == MEMORY:
        how = "exceeds its memory limit"
    elif number in STOPPED or not number:
        return 128 + number if number else os.WEXITSTATUS(status)
    else:
        how = "exceeds its time limit" if number == signal.SIGXCPU else f"ends with {signal.Signals(number).name}"
    path = os.fsdecode(begun[-1]) if begun else ", ".join(files)
    say(f"{path}: cannot be read, so the file is damaged: reading it {how}", "E-REPORT-FILE")
    return 2


def _work(work: Callable[[Now], int], writer: int, seconds: int, room: int) -> None:
    """In the child, which it ends."""
    def now(path: str) -> None:
        os.write(writer, os.fsencode(path) + b"\0")
        allow(seconds + _size(path) // 10_000_000)

    code = 3
    try:
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_AS, _used() + room)
        allow(STARTING)
        code = work(now)
        sys.stdout.flush()
    except MemoryError:
        os.write(writer, MEMORY)
    except OSError as error:  # what reads files handles its own
        code = 3
        say(f"stdout cannot be written: {error.strerror}", "E-FILE-WRITE")
    except BaseException:  # pylint: disable=broad-except
        say("this is a defect of Kontor or of a package of Python, and not of a file; please report it:", "E-INTERNAL")
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def allow(seconds: int) -> None:
    """From now on this process may compute for so many seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + seconds)


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _size(path: str) -> int:
    with suppress(OSError):
        return os.stat(path).st_size
    return 0


def _used() -> int:
    """Bytes of address space; 0 where the system does not say."""
    with suppress(OSError), open("/proc/self/statm", encoding="ascii") as pages:
        return int(pages.read().split()[0]) * resource.getpagesize()
    return 0
