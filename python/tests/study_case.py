# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Studies on a machine of fake commands, with a mini-app that takes no time: build/bin/heat is a script."""

import contextlib
import io
import json
import os
import subprocess
from unittest.mock import patch

from command import ROOT, SCRIPTS, KontorTest

from kontor.messages import Failure, say
from kontor.place import Place
from kontor.study.command import main
from kontor.study.study import read_study

SCHEMA = {"properties": {"problem": {"type": "object", "properties": {"local": {"default": False}}},
                         "output": {"type": "object", "properties": {"fields": {"default": "final"}}}}}

# Counts its runs in the file `made`. A file `obey` is sourced, and may end it or change `revision` and `passed`. With
# --print-deck it says what the file `refused` has.
APP = r"""
case $1$2 in
  --schema) cat "$HOME/schema.json"; exit ;;
  --version) echo "heat of Kontor 0.1.0 ($(cat "$HOME/revision"))"; exit ;;
  *--print-deck) if [[ -e $HOME/refused ]]; then cat "$HOME/refused" >&2; exit 2; fi; exit ;;
esac
deck=$1 settings= revision=$(cat "$HOME/revision") passed=1
while (($#)); do
  case $1 in -o) result=$2 ;; --results) record=$2 ;; --set) settings+=" $2" ;; esac
  shift
done
echo "$(basename "$record" .json)$settings" >>"$HOME/made"
if [[ -e $HOME/obey ]]; then source "$HOME/obey"; fi
echo '{"app": "heat", "git_revision": "'$revision'", "started": "2026-11-22T12:00:00Z", "hosts": ["here"], "ranks": 2,
  "repeats": [0.5, 0.25, 0.75], "verification": {"passed": '$passed', "error": 0.5, "tolerance": 0.25},
  "figures_of_merit": {"cell_updates": {"name": "cell_updates", "value": 2e9, "unit": "1/s"}}}' >"$record" || exit 3
: >"$result"
((passed))
"""

# What stands for scripts/kontor in a study in this process: it starts the mini-app at once.
KONTOR = f"""
if [[ $1 == study ]]; then exec {SCRIPTS}/kontor "$@"; fi
exec "$KONTOR_BUILD_DIR/bin/heat" "$2" "${{@:5}}"
"""

STUDY = """study: small
deck: plate.yaml
kind: strong
ranks: [1, 2]
vary:
  comm.backend: [raw, view]
repeats: 2
seed: 7
"""
ALL = [f"p00{point}-r{repeat}" for repeat in (1, 2) for point in range(4)]
ONE = STUDY.replace("[1, 2]", "[1]").replace("[raw, view]", "[raw]").replace("repeats: 2", "repeats: 1")


class StudyTest(KontorTest):
    """A folder with study.yaml, its deck plate.yaml and the fake mini-app."""

    TEXT = STUDY

    def setUp(self):
        super().setUp()
        self.fake("kontor", KONTOR)
        self.environment["KONTOR_BUILT"] = "1"
        self.program("build/bin/heat", APP)
        self.write("schema.json", json.dumps(SCHEMA))
        self.write("revision", "abc")
        self.write("study.yaml", self.TEXT)

    def study(self, *arguments, **environment):
        """kontor study study.yaml, in this process. Its runs do without kontor run."""
        out, err, code = io.StringIO(), io.StringIO(), None
        with (patch.dict(os.environ, {**self.environment, **environment}),
              patch.object(Place, "kontor", self.bin / "kontor"),
              contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)):
            try:
                code = main(["study.yaml", *arguments])
            except SystemExit as end:
                code = end.code
            except Failure as failure:
                say(str(failure))
                code = failure.code
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def passes(self, *arguments, **environment):
        """The same, which must end with exit code 0."""
        done = self.study(*arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def made(self):
        """The runs that the mini-app was started for, in order: p000-r1 comm.backend=raw ..."""
        return self.lines("made")

    def names(self):
        """The same, without what they set."""
        return [line.split()[0] for line in self.made()]

    def obey_once(self, script, of=""):
        """The first run of a backend, or of all: jobs may run at once, and one alone makes the folder."""
        self.write("obey", f'if [[ $settings == *{of}* ]] && mkdir "$HOME/once" 2>/dev/null; then {script}; fi')

    def state(self, folder="small"):
        return json.loads((self.folder / folder / "study.json").read_text(encoding="utf-8"))

    def states(self):
        """point-repeat -> the states of its attempts."""
        found = {}
        for run in self.state()["runs"]:
            found.setdefault(f"{run['point']}-r{run['repeat']}", []).append(run["state"])
        return found

    def place(self):
        return Place(ROOT, self.folder / "build", "release", True)

    def read(self, text, *overrides):
        """The study of this text."""
        self.write("study.yaml", text)
        with patch.dict(os.environ, self.environment), contextlib.chdir(self.folder):
            return read_study("study.yaml", list(overrides), self.place())
