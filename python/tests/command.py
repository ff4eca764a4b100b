# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs scripts/kontor in a folder of its own, on a machine made of fake commands."""

import contextlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
PACKAGE = ROOT / "python/kontor"
sys.path.insert(0, str(PACKAGE.parent))

from kontor.__main__ import main  # noqa: E402
from kontor.run import launcher  # noqa: E402

FORK = multiprocessing.get_context("fork")
BUILD = Path(os.environ.get("KONTOR_BUILD_DIR", ROOT / "build"))
DECK_READER = Path(os.environ.get("KONTOR_DECK_READER", ROOT / "build/bin/kontor-deck"))

OPEN_MPI = """
if [[ $1 == --version ]]; then echo "mpirun (Open MPI) 4.1.4"; exit; fi
echo "$*" >>"$HOME/launched"
for word; do shift; [[ $word == */bin/heat || $word == true ]] && exec "$word" "$@"; done
"""


class KontorTest(unittest.TestCase):
    """Two cores with four hardware threads, a plain user, Open MPI, memory that ranks may read."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="kontor-test-"))).resolve()
        self.bin = self.folder / "fake"
        self.bin.mkdir()
        self.environment = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "KONTOR_BUILD_DIR": str(self.folder / "build"),
            "KONTOR_LIMITS_ROOT": str(self.folder / "machine"),
            "KONTOR_LOCKS": str(self.folder),
            "KONTOR_PYTHON": sys.executable,
            "PYTHONPATH": str(self.folder / "patches"),
            "PYTHONDONTWRITEBYTECODE": "1",  # of patches that are written twice in a second
        }
        self.write("machine/proc/self/status", "Name:\tbash\nCpus_allowed_list:\t0-3\n")
        self.write("machine/proc/self/cgroup", "0::/\n")
        self.fake("lscpu", r"printf '# CPU,CORE,SOCKET\n0,0,0\n1,0,0\n2,1,0\n3,1,0\n'")
        self.patch(user=1000)
        self.fake("mpirun", OPEN_MPI)
        self.fake("srun", "exit 1")
        self.fake("scontrol", "exit 1")
        (self.folder / "build/bin").mkdir(parents=True)
        for reader in DECK_READER, DECK_READER.with_name("kontor-record"):
            (self.folder / "build/bin" / reader.name).symlink_to(reader)
        self.write("plate.yaml", "# a plate\napp: heat # the app\nproblem:\n  cells: [8, 8]\n")

    def patch(self, user, more=""):
        """What no fake command can: the user who starts kontor, and other Python."""
        self.patches = f"import os, sys\nos.getuid = os.geteuid = lambda: {user}\n{more}\n"
        self.write("patches/sitecustomize.py", self.patches)

    def fake(self, name, script):
        self.program(f"fake/{name}", script)

    def program(self, name, script="exit 0"):
        (self.folder / name).unlink(missing_ok=True)
        (self.folder / self.write(name, f"#!/bin/bash\n{script}\n")).chmod(0o755)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)
        return name

    def kontor(self, *arguments, **environment):
        """Commands that need no packages in a copy of this process, which takes a tenth of the time of a new one."""
        if arguments[0] in ("compare", "report", "study", "predict") or {"PYTHONPATH", "KONTOR_PYTHON"} & environment.keys():
            return self.script(*arguments, **environment)
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            copy = FORK.Process(target=self.be_kontor, args=(arguments, (out, err), environment))
            copy.start()
            copy.join()
            said = [file.read() for file in (out, err) if file.seek(0) == 0]
        return subprocess.CompletedProcess(arguments, copy.exitcode, *said)

    def be_kontor(self, arguments, files, environment):
        """In the copy, which ends with the exit code."""
        signal.alarm(60)
        os.chdir(self.folder)
        for number, file in enumerate(files, 1):
            os.dup2(file.fileno(), number)
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
        os.environ.clear()
        os.environ.update({**self.environment, **environment})
        launcher.ranks_can_read_each_other = lambda: True
        exec(self.patches, {"launcher": launcher})  # pylint: disable=exec-used
        sys.exit(main(list(arguments)))

    def script(self, *arguments, **environment):
        """The same by scripts/kontor."""
        return subprocess.run([str(SCRIPTS / "kontor"), *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60,
                              env={**self.environment, **environment})

    def succeeds(self, *arguments, **environment):
        """The same, which must end with exit code 0."""
        done = self.kontor(*arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def start(self, *arguments, **environment):
        """The same, still running; Ctrl-C reaches it even where the tests run in the background."""
        running = subprocess.Popen([str(SCRIPTS / "kontor"), *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env={**self.environment, **environment},
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        return running

    def assert_fails(self, done, *messages, code=2):
        for message in messages:
            self.assertIn(message, done.stderr)
        self.assertEqual(done.returncode, code, done.stderr)

    def lines(self, name):
        """Of this file; none where it is not there."""
        path = self.folder / name
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def wait_until(self, condition, what, seconds=30):
        """What condition() gives, once that is true."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)
        return found

    def assert_ends(self, process):
        """Within a while; a process whose parent has ended may stay as a zombie, where the first process reaps none."""
        def ended():
            try:
                return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"
            except (FileNotFoundError, ProcessLookupError):
                return True

        self.wait_until(ended, f"process {process} has not ended", seconds=10)

    def assert_refused(self, *cases):
        """`kontor run` with these words, and variables, fails with this message, of each case."""
        for words, message, *variables in cases:
            with self.subTest(words, message=message):
                self.assert_fails(self.kontor("run", *words, **dict(*variables)), message)


class DryRunTest(KontorTest):
    """Which command `kontor run` makes."""

    def command(self, *words, **environment):
        return self.succeeds("run", "--dry-run", "plate.yaml", *words, **environment).stdout

    @contextlib.contextmanager
    def limits(self, files):
        """A machine with these files meanwhile."""
        for name, text in files.items():
            self.write(f"machine/{name}", text)
        yield
        shutil.rmtree(self.folder / "machine/sys", ignore_errors=True)
        self.write("machine/proc/self/status", "Cpus_allowed_list:\t0-3\n")

    def assert_starts(self, words, *arguments, ranks=2):
        """By a launcher of the user's."""
        self.assert_command(f"OMP_NUM_THREADS=1 run -n {ranks} build/bin/heat {words}", *arguments, KONTOR_LAUNCHER="run")

    def assert_command(self, expected, *arguments, **environment):
        done = self.succeeds("run", "--dry-run", *arguments, **environment)
        self.assertEqual(done.stdout, expected + "\n")
        built = {str(path.relative_to(self.folder / "build")) for path in (self.folder / "build").rglob("*")}
        self.assertEqual(built, {"bin", "bin/kontor-deck", "bin/kontor-record"}, "a dry run builds nothing")
