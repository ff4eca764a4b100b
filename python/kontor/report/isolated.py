# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work on files that may be damaged, in a process of its own with limits.

The HDF5 library checks little of what it reads: from a damaged file it may read outside of its memory, ask for all
there is, or never come back.
"""

import contextlib
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence

Now = Callable[[str], None]  # tells which file is being read

STARTING = 30  # seconds of computing: Python's libraries
READING = 5  # the same for a file, and one more for each 10 MB; a valid one of some MB takes a fraction of a second
DRAWING = 120  # matplotlib may have to look at all fonts of the machine first
MEMORY = b"memory"  # what a child says that has run out of it
ROOM = 4 << 30  # bytes of address space beyond what the process has, and four times the files
STOPPED = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # not the file's fault


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
        how = "takes far too much memory"
    elif number in STOPPED or not number:
        return 128 + number if number else os.WEXITSTATUS(status)
    else:
        how = "takes far too long" if number == signal.SIGXCPU else f"ends with {signal.Signals(number).name}"
    path = os.fsdecode(begun[-1]) if begun else ", ".join(files)
    print(f"kontor: {path}: cannot be read, so the file is damaged: reading it {how}", file=sys.stderr)
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
        code = _flushed(work(now))
    except MemoryError:
        os.write(writer, MEMORY)
    except BaseException:  # pylint: disable=broad-except
        print("kontor: this is a defect of Kontor or of a package of Python, and not of a file; please report it:",
              file=sys.stderr)
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _flushed(code: int) -> int:
    """The exit code: 3 if what was printed last cannot be written. Python 3.13 tries again what ended with 3."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if code != 3:
            print(f"kontor: stdout cannot be written: {error.strerror}", file=sys.stderr, flush=True)
        return 3
    return code


def allow(seconds: int) -> None:
    """From now on this process may compute for so many seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + seconds)


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _size(path: str) -> int:
    with contextlib.suppress(OSError):
        return os.stat(path).st_size
    return 0


def _used() -> int:
    """Bytes of address space; 0 where the system does not say."""
    with contextlib.suppress(OSError), open("/proc/self/statm", encoding="ascii") as pages:
        return int(pages.read().split()[0]) * resource.getpagesize()
    return 0
