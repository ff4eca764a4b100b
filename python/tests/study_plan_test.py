# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: what a study's file may say, which points it makes, and the job scripts of them. Nothing is run."""

import contextlib
import io
import json
import subprocess
from pathlib import Path

from command import DECK_READER, ROOT
from study_case import STUDY, StudyTest

from kontor.messages import Failure
from kontor.study.jobs import jobs_of, script
from kontor.study.machine import Machine
from kontor.study.plan import make_plan, run_order, select

MACHINE = Machine(["here"], "a cpu", 2, 8 << 30, [], "an MPI")
EIGHT = STUDY.replace("ranks: [1, 2]", "ranks: [1, 8]")
WITHOUT = STUDY.replace("vary:\n  comm.backend: [raw, view]\n", "")


class PlanTest(StudyTest):
    @contextlib.contextmanager
    def refusal(self, *facts):
        """Around what must be refused in words that have all these facts."""
        with contextlib.redirect_stderr(io.StringIO()) as told, self.assertRaises((Failure, SystemExit)) as caught:
            yield
        self.assertEqual(caught.exception.code, 2)
        for fact in facts:
            self.assertIn(fact, f"{told.getvalue()}{caught.exception}")

    def plan(self, text, machine=MACHINE):
        return make_plan(self.read(text), machine)


class Reading(PlanTest):
    def test_defaults_and_back(self):
        """What a folder keeps of a study is read as the same one."""
        study = self.read(STUDY + 'launch: {minutes: 10, options: "--mem=0"}\nset: {solver.tolerance: 1e-9}\n'
                          "zip: {problem.cells: [[8, 9]]}\n")
        for key, value in {"threads": [1], "timeout": 3600, "launch.minutes": 10, "launch.options": ["--mem=0"],
                           "set": {"solver.tolerance": 1e-9}, "zip": {"problem.cells": [[8, 9]]}}.items():
            self.assertEqual(study[key], value)
        again = self.read(study.text(self.place()))
        self.assertEqual(again.values, study.values)
        self.assertEqual(again.decks[0].file, study.decks[0].file)
        self.assertEqual(again.decks[0].given["problem.cells"], [8, 8])

    def test_refused(self):
        """With the place, what was found, and what is allowed or near; config/tests has what decks share."""
        for text, *facts in (
            *((f"{EIGHT}{line}\n", f"study.yaml:9:{column}", *facts) for line, column, *facts in (
                ("rank: 3", 1, "did you mean ranks?"),
                ("timeout: 0", 10, "timeout", "from 1", '"0"'),
                ("kind: week", 1, "kind", "twice"),
                ("launch: {setpu: x}", 10, "launch.setpu", "did you mean launch.setup?"),
                ("launch: {scheduler: pbs}", 21, "auto, slurm or flux"),
                ("set: {comm: {backend: raw}}", 7, "comm is no key"),
                ("set: {app: cg}", 7, "app is no key"),
                ("set: {solver.tolerance: }", 7, "set.solver.tolerance", "nothing"),
                ("threads: []", 10, "threads", "a list of 0"),
                ("gpus_per_rank: ranks", 16, '"ranks"'),
                ("zip: {problem.cells: [[8, 8]], solver.max_sweeps: [1, 2]}", 1, "cells has 1", "sweeps has 2"),
                ("baseline: {comm.backend: shm}", 12, "comm.backend", "shm", '["raw","view"]'),
                ("baseline: {comm.overlap: true}", 12, "comm.overlap is not varied"),
            )),
            (EIGHT + "set: {comm.backend: raw}\n", "study.yaml:6:3", "comm.backend", "given by set, too"),
            (EIGHT + "ranks_per_node: 3\n", "study.yaml:4:8", "ranks", "8", "no multiple"),
            ("study: s\n", "deck is missing", "kind is missing", "ranks is missing"),
            (STUDY.replace("small", "a b"), "study.yaml:1:8", "letters"),
            (STUDY.replace("plate", "plat"), "study.yaml:2:7", "plat.yaml", "no such file", "did you mean plate.yaml?"),
            (STUDY.replace("[1, 2]", "[1, 0, x]"), "study.yaml:4:12", '"0"', "study.yaml:4:15", '"x"'),
            (STUDY.replace("strong", "weak"), "study.yaml:3:7", "problem.local"),
            (STUDY.replace("strong", "week"), "study.yaml:3:7", "did you mean weak?"),
            (WITHOUT.replace("strong", "compare"), "study.yaml:3:7", "vary"),
            (STUDY.replace("[raw, view]", "[]"), "study.yaml:6:17", "a list of 0"),
            (STUDY.replace("[raw, view]", "raw"), "study.yaml:6:17", "list"),
        ):
            with self.subTest(text[-60:]), self.refusal(*facts):
                self.read(text)
        for override, fact in ("ranks=[0]", "--set ranks"), ("ranks", "--set ranks: "):
            with self.refusal(fact):
                self.read(STUDY, override)
        self.write("plate.yaml", "app: heet\n")
        with self.refusal("study.yaml:2:7", "heet"):
            self.read(STUDY)
        (self.folder / "study.yaml").unlink()
        self.assert_fails(self.study(), "study.yaml", "no such file")
        self.assert_fails(self.kontor("study", "heat-stron.yaml"), "did you mean", "inputs/studies/heat-strong.yaml?")
        self.assert_fails(self.kontor("study"), "no study")

    def test_what_the_app_refuses(self):
        """At the place in the study; a conflict of keys may be of one point alone, which then fails."""
        self.write("refused", "--set comm.backend=raw: comm.backend: found raw [E-DECK-RANGE]\n"
                              "--set comm.backend=view: comm.backend: cannot be [E-DECK-CONFLICT]\n")
        with self.refusal("study.yaml:6:3: vary: comm.backend: found raw [E-DECK-RANGE]"):
            self.read(STUDY)
        self.write("refused", "--set comm.backend=view: comm.backend: cannot be [E-DECK-CONFLICT]\n")
        self.assertEqual(len(self.plan(STUDY)), 4)

    def test_overrides(self):
        study = self.read(STUDY + "baseline: {ranks: 1, comm.backend: raw}\n", "ranks=4", "set.problem.cells=[8,8]",
                          "launch.minutes=5", "repeats=1")
        self.assertEqual([study[key] for key in ("ranks", "set", "launch.minutes", "repeats")],
                         [[4], {"problem.cells": [8, 8]}, 5, 1])
        self.assertEqual(study["baseline"], {"comm.backend": "raw"}, "of a point that is no longer there")

    def test_reduced(self):
        """By the lines `# test:` of study and deck; and what is kept of the study says so."""
        self.write("plate.yaml", "# a plate\n# test: --set problem.cells=[9, 7] --set solver.max_sweeps=3\napp: heat\n")
        small = "# s\n# test: --set ranks=[2] --set repeats=1\n"
        self.write("study.yaml", f"{small}{STUDY}set: {{solver.max_sweeps: 4}}\n")
        said = self.passes("--reduced", "--dry-run").stdout
        for word in "-n 2 ", "--set 'problem.cells=[9,7]'", "--set solver.max_sweeps=4":
            self.assertEqual(said.count(word), 2, said)
        self.passes("--reduced")
        self.write("study.yaml", (self.folder / "small/study.yaml").read_text())
        self.assertEqual(self.passes("--dry-run").stdout, said)

    def test_the_schema_and_the_docs_have_every_key(self):
        schema = json.loads(subprocess.run([DECK_READER, "--study-schema"], capture_output=True, check=True).stdout)
        self.assertEqual(set(schema["required"]), {"study", "deck", "kind", "ranks"})
        described = dict(schema["properties"])
        described |= {f"launch.{key}": one for key, one in described.pop("launch")["properties"].items()}
        self.assertEqual(set(described), set(self.read(STUDY).values))
        page = (ROOT / "docs/studies.md").read_text(encoding="utf-8")
        for key, one in described.items():
            default = one.get("default", "")
            cell = f"`{json.dumps(default)}`".replace('"', "") if default != "" else ""
            cell = "empty" if default in ([], {}) else cell
            self.assertIn(f"\n| `{key}` | {cell} | {one['description']} |\n", page)


class Planning(PlanTest):
    def test_products_and_zips(self):
        points = self.plan(STUDY.replace("[1, 2]", "[1, 2, 4, 8]") + "threads: [1, 2, 1]\n"
                           "zip: {problem.cells: [[8, 8], [16, 16]], solver.max_sweeps: [4, 2]}\n")
        self.assertEqual(len(points), 4 * 2 * 2 * 2, "the threads of which 1 is given twice count once")
        self.assertEqual([point.id for point in points[:2]], ["p000", "p001"])
        self.assertEqual({(tuple(point.set["problem.cells"]), point.set["solver.max_sweeps"]) for point in points},
                         {((8, 8), 4), ((16, 16), 2)})
        last = points[-1]
        self.assertEqual(last.factors, {"ranks": 8, "threads": 2, "comm.backend": "view", "problem.cells": [16, 16],
                                        "solver.max_sweeps": 2})
        self.assertEqual((last.oversubscribed, last.set["output.fields"]), (True, "none"))
        weak = self.plan(STUDY.replace("strong", "weak") + "set: {problem.local: true, output.fields: final}\n")
        self.assertEqual(weak[0].set["output.fields"], "final")

    def test_what_cannot_run_here(self):
        text, gpu = STUDY + "gpus_per_rank: 1\n", Machine([], "", 2, 8 << 30, ["a gpu"], "")
        self.assertEqual([point.skipped for point in self.plan(text, gpu)],
                         [None] * 2 + ["needs 2 GPUs; there is 1 here"] * 2)
        self.assertEqual([point.skipped for point in self.plan(text, None)], [None] * 4)
        nodes = self.plan(STUDY + "ranks_per_node: 1\n")
        self.assertEqual([(point.nodes, bool(point.skipped)) for point in nodes], [(1, False)] * 2 + [(2, True)] * 2)

    def test_order(self):
        points = self.plan(STUDY)
        orders = [[(point.id, repeat) for point, repeat in run_order(points, 3, seed)] for seed in (7, 7, 8)]
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])
        for repeat in range(3):
            self.assertEqual({(point.id, repeat + 1) for point in points}, set(orders[0][4 * repeat: 4 * repeat + 4]))

    def test_only(self):
        points = self.plan(STUDY + "set: {solver.tolerance: 0, problem.cells: [8, 8]}\n")
        for only, chosen in (([], "0123"), (["ranks=2"], "23"), (["comm.backend=view", "ranks=1"], "1"),
                             (["point=p001", "point=p003"], "13"), (["problem.cells=[8, 8]"], "0123"),
                             (["ranks=1", "ranks=2", "comm.backend=raw"], "02")):
            self.assertEqual("".join(point.id[-1] for point in select(points, only)), chosen, only)
        for only, fact in ((["rank=2"], "did you mean ranks?"), (["comm.backend=vew"], "raw, view"),
                           (["ranks"], "ranks is 1, 2"), (["point=p000", "ranks=2"], "no point")):
            with self.subTest(only), self.refusal(fact):
                select(points, only)


class Jobs(PlanTest):
    def scripts(self, scheduler, text):
        study = self.read(text)
        jobs = jobs_of([(point, repeat) for repeat in (1, 2, 4) for point in make_plan(study, None)], study)
        found = {job.name: script(job, scheduler, self.folder / "out put", self.place()) for job in jobs}
        for one in found.values():
            done = subprocess.run(["bash", "-n"], input=one, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr + one)
            self.assertIn(f"study '{self.folder / 'out put'}' --job", one)
        return found

    def test_scripts(self):
        text = (STUDY.replace("[1, 2]", "[4, 8]") + "ranks_per_node: 4\ngpus_per_rank: 1\nthreads: 3\n"
                'launch: {minutes: 90, setup: [module load openmpi], options: ["--mem=0", "--partition=debug"]}\n')
        for scheduler, prefix, *lines in (
            ("slurm", "SBATCH", "job-name=small-n2-r8-t3-g8", "nodes=2", "ntasks=8",
             "ntasks-per-node=4", "cpus-per-task=3", "gpus-per-node=4", "exclusive", "time=90", "partition=debug",
             "mem=0", "signal=B:TERM@60"),
            ("flux", "flux:", "output=n2-r8-t3-g8-{{id}}.out", "nodes=2", "nslots=8", "cores-per-slot=3",
             "gpus-per-slot=1", "time-limit=90m", "signal=TERM@60s"),
        ):
            scripts = self.scripts(scheduler, text)
            self.assertEqual(list(scripts), ["n1-r4-t3-g4", "n2-r8-t3-g8"])
            larger = scripts["n2-r8-t3-g8"]
            for line in [f"#{prefix} --{line}" for line in lines] + ["module load openmpi", "# p003: 8 ranks, view"]:
                self.assertIn(f"\n{line}\n", larger)
            self.assertTrue(larger.endswith("--job --only=point=p002 --only=point=p003\n"))
        path = "/a b/it's \"$x\"; 50%j"
        told = script(jobs_of([(self.plan(STUDY, None)[0], 1)], self.read(STUDY))[0], "slurm", Path(path), self.place())
        self.assertIn(r'''#SBATCH "--output=/a b/it's \"$x\"; 50%%j/jobs/r1-%j.out"''', told)
        largest = self.scripts("slurm", text.replace("minutes: 90", "jobs: study"))["all"]
        self.assertIn("#SBATCH --ntasks=8", largest)
        self.assertTrue(largest.endswith(" --job\n"))
