# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Studies on a machine of fake commands, with a mini-app that takes no time: build/bin/heat is a script."""

import contextlib
import io
import json
import os
import subprocess
import sys
from unittest.mock import patch

from command import ROOT, SCRIPTS, KontorTest

from kontor.messages import Failure, say
from kontor.place import Place
from kontor.study.command import main
from kontor.study.study import read_study

KEYS = {
    "problem": {"local": {"type": "boolean", "default": False}, "cells": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 3, "default": [64, 64]},
                "equation": {"enum": ["steady", "transient"], "default": "steady"},
                "precision": {"enum": ["float", "double"], "default": "double"}},
    "solver": {"tolerance": {"type": "number", "minimum": 0, "default": 0}, "max_sweeps": {"type": "integer", "minimum": 0, "default": 100}},
    "comm": {"backend": {"enum": ["raw", "view", "shm", "null"], "default": "raw"}, "overlap": {"type": "boolean", "default": True}},
    "measure": {"repeats": {"type": "integer", "minimum": 1, "default": 1}},
    "output": {"fields": {"enum": ["final", "none"], "default": "final"}},
}
SCHEMA = {"type": "object", "properties": {name: {"type": "object", "properties": keys} for name, keys in KEYS.items()}}

# Counts its runs in the file `made`. A file `obey` is sourced, and may end it or change `revision` and `passed`.
APP = r"""
case $1 in --list-backends) exit ;; --schema) cat "$HOME/schema.json"; exit ;; --version) echo "heat of Kontor 0.1.0 ($(cat "$HOME/revision"))"; exit ;; esac
deck=$1 settings= revision=$(cat "$HOME/revision") passed=1
while (($#)); do
  case $1 in -o) result=$2 ;; --results) record=$2 ;; --set) settings+=" $2" ;; esac
  shift
done
echo "$(basename "$record" .json)$settings" >>"$HOME/made"
if [[ -e $HOME/obey ]]; then source "$HOME/obey"; fi
echo '{"app": "heat", "git_revision": "'$revision'", "started": "2026-11-22T12:00:00Z", "hosts": ["here"], "ranks": 2, "repeats": [0.5, 0.25, 0.75],
  "verification": {"passed": '$passed', "error": 0.5, "tolerance": 0.25}, "calibration": {"triad_bandwidth": 1e10},
  "figures_of_merit": [{"name": "cell_updates", "value": 2e9, "unit": "1/s", "attainable": 4e9, "fraction": 0.5}]}' >"$record" || exit 3
: >"$result"
((passed))
"""

# What stands for scripts/kontor in a study in this process: it starts the mini-app at once.
KONTOR = f"""
case $1 in study) exec {SCRIPTS}/kontor "$@" ;; build) exit ;; esac
[[ ${{!#}} == --dry-run ]] || exec "$KONTOR_BUILD_DIR/bin/heat" "$2" "${{@:5}}"
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
        self.fake("launch", 'for word; do shift; [[ $word == */bin/heat || $word == true ]] && exec "$word" "$@"; done')
        self.write("without/h5py.py", "raise ImportError")  # it takes longer than all the rest
        self.environment |= {"KONTOR_BUILT": "1", "KONTOR_LAUNCHER": "launch", "PYTHONPATH": f"{self.folder}/without:{self.folder}/patches"}
        self.program("build/bin/heat", APP)
        self.write("schema.json", json.dumps(SCHEMA))
        self.write("revision", "abc")
        self.write("study.yaml", self.TEXT)

    def study(self, *arguments, **environment):
        """kontor study study.yaml, in this process. Its runs do without kontor run."""
        out, err, code = io.StringIO(), io.StringIO(), None
        with (patch.dict(os.environ, {**self.environment, **environment}), patch.dict(sys.modules, {"h5py": None}),
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
