# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: what a study's file may say, which points it makes, and the job scripts of them. Nothing is run."""

import contextlib
import io
import json
import shlex
import subprocess
from pathlib import Path

from command import ROOT
from study_case import STUDY, StudyTest

from kontor.messages import Failure
from kontor.study.jobs import flux, jobs_of, script, slurm
from kontor.study.machine import Machine
from kontor.study.plan import make_plan, run_order, select
from kontor.study.study import misfit

MACHINE = Machine(["here"], "a cpu", 2, 8 << 30, [], "an MPI")


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
        """What --print shows is read as the same study, also from another folder."""
        text = STUDY + 'launch: {minutes: 10, options: "--mem=0"}\nset: {solver.tolerance: 1e-9}\nzip: {problem.cells: [[8, 9]]}\n'
        study = self.read(text)
        self.assertEqual((study["threads"], study["timeout"], study["launch.minutes"], study["launch.options"]), ([1], 3600, 10, ["--mem=0"]))
        self.assertEqual((study["set"], study["zip"]), ({"solver.tolerance": 1e-9}, {"problem.cells": [[8, 9]]}))
        again = self.read(study.text(self.place()))
        self.assertEqual(again.values, study.values)
        self.assertEqual((again.decks[0].file, again.decks[0].given["problem.cells"]), (study.decks[0].file, [8, 8]))

    def test_bad_keys_and_values(self):
        """Place, key, what was found, what is allowed or near."""
        for line, *facts in (
            ("rank: 3", "study.yaml:9:1", "did you mean ranks?"),
            ("timeout: 0", "study.yaml:9:10", "timeout", "from 1", '"0"'),
            ("timeout: two", "study.yaml:9:10", '"two"'),
            ("kind: week", "study.yaml:9:1", "kind", "twice"),
            ("launch: {setpu: x}", "study.yaml:9:10", "launch.setpu", "did you mean launch.setup?"),
            ("launch: [x]", "study.yaml:9:9", "launch"),
            ("launch: {scheduler: pbs}", "study.yaml:9:21", "auto, slurm or flux"),
            ("set: {solver.tolerance: -1}", "study.yaml:9:7", "solver.tolerance", "from 0", "found -1"),
            ("set: {comm.bakend: raw}", "study.yaml:9:7", "comm.bakend", "did you mean comm.backend?"),
            ("set: {comm: {backend: raw}}", "study.yaml:9:7", "comm is no key"),
            ("set: {app: cg}", "study.yaml:9:7", "app is no key"),
            ("set: {comm.backend: raw}", "study.yaml:6:3", "comm.backend", "given by set, too"),
            ("set: {solver.tolerance: }", "study.yaml:9:7", "set.solver.tolerance", "nothing"),
            ("set: !!binary x", "study.yaml:9:6", "tag"),
            ("threads: []", "study.yaml:9:10", "threads", "a list of 0"),
            ("gpus_per_rank: ranks", "study.yaml:9:16", '"ranks"'),
            ("ranks_per_node: 3", "study.yaml:4:8", "ranks", "8", "no multiple"),
            ("zip: {problem.cells: [[8, 8], [16, 16]], solver.max_sweeps: [1, 2, 3]}", "study.yaml:9:1", "problem.cells has 2", "solver.max_sweeps has 3"),
            ("zip: {problem.cells: [[8, 8], [8, 8]], solver.max_sweeps: [1, 1]}", "two points are the same"),
            ("threads: [1, 1]", "two points are the same"),
            ("baseline: {comm.backend: shm}", "study.yaml:9:12", "comm.backend", "shm", '["raw","view"]'),
            ("baseline: {comm.overlap: true}", "study.yaml:9:12", "comm.overlap is not varied"),
            ("? [a]\n: b", "study.yaml:9:3", "key"),
        ):
            with self.subTest(line), self.refusal(*facts):
                self.plan(STUDY.replace("ranks: [1, 2]", "ranks: [1, 8]") + line + "\n")

    def test_other_texts(self):
        without = STUDY.replace("vary:\n  comm.backend: [raw, view]\n", "")
        for text, *facts in (
            ("", "study.yaml", "empty"),
            ("study: [", "study.yaml:1", "malformed"),
            ("- a", "study.yaml:1:1", "mapping"),
            ("study: s\n", "deck is missing", "kind is missing", "ranks is missing"),
            (STUDY.replace("small", "a b"), "study.yaml:1:8", "letters"),
            (STUDY.replace("plate", "plat"), "study.yaml:2:7", "plat.yaml", "no such file", "did you mean plate.yaml?"),
            (STUDY.replace("[1, 2]", "[1, 0, x]"), "study.yaml:4:12", '"0"', "study.yaml:4:15", '"x"'),
            (STUDY.replace("strong", "weak"), "study.yaml:3:7", "problem.local"),
            (STUDY.replace("strong", "week"), "study.yaml:3:7", "did you mean weak?"),
            (without.replace("strong", "compare"), "study.yaml:3:7", "vary"),
            # A wrong key of the deck is reported as such, whatever else names it.
            (STUDY.replace("comm.backend", "comm.bakend"), "study.yaml:6:3: vary: comm.bakend", "did you mean comm.backend?"),
            (STUDY.replace("[raw, view]", "[raw, vew]"), "study.yaml:6:3", "raw, view, shm, null", "vew"),
            (STUDY.replace("[raw, view]", "[]"), "study.yaml:6:17", "a list of 0"),
            (STUDY.replace("[raw, view]", "raw"), "study.yaml:6:17", "list"),
            ("#" * (1 << 20) + "x", "more than 1048576 bytes"),
            ("study: " + "[" * 5000, "deep"),
        ):
            with self.subTest(text[:60]), self.refusal(*facts):
                self.read(text)
        for deck, *facts in (("app: [heat\n", "plate.yaml:", "malformed"), ("problem: {}\n", "study.yaml:2:7", "app"),
                             ("app: heet\n", "study.yaml:2:7", "heet")):
            self.write("plate.yaml", deck)
            with self.refusal(*facts):
                self.read(STUDY)
        (self.folder / "study.yaml").unlink()
        self.assert_fails(self.study(), "study.yaml", "no such file")
        self.assert_fails(self.kontor("study", "heat-stron.yaml"), "did you mean", "inputs/studies/heat-strong.yaml?")
        self.assert_fails(self.kontor("study"), "no study")

    def test_overrides(self):
        text = STUDY + "baseline: {ranks: 1, comm.backend: raw}\n"
        study = self.read(text, "ranks=4", "set.problem.cells=[8,8]", "launch.minutes=5", "repeats=1")
        self.assertEqual((study["ranks"], study["set"], study["launch.minutes"], study["repeats"]), ([4], {"problem.cells": [8, 8]}, 5, 1))
        self.assertEqual(study["baseline"], {"comm.backend": "raw"}, "of a point that is no longer there")
        for override, fact in ("ranks=[0]", "--set ranks"), ("ranks", "--set ranks: "):
            with self.refusal(fact):
                self.read(STUDY, override)

    def test_reduced(self):
        """By the lines `# test:` of study and deck; and what is written out says so."""
        self.write("plate.yaml", "# a plate\n# test: --set problem.cells=[9, 7] --set solver.max_sweeps=3\napp: heat\n")
        self.write("study.yaml", "# a study\n# test: --set ranks=[2] --set repeats=1\n" + STUDY + "set: {solver.max_sweeps: 4}\n")
        small = self.passes("--reduced", "--print").stdout
        said = self.passes("--reduced", "--dry-run").stdout
        self.assertEqual((said.count("-n 2 "), said.count("--set 'problem.cells=[9,7]'"), said.count("--set solver.max_sweeps=4")), (2, 2, 2), said)
        self.write("study.yaml", small)
        self.assertEqual(self.passes("--dry-run").stdout, said)

    def test_the_schema_and_the_docs_have_every_key(self):
        schema = json.loads(self.kontor("study", "--schema").stdout)
        self.assertEqual(set(schema["required"]), {"study", "deck", "kind", "ranks"})
        described = dict(schema["properties"])
        described |= {f"launch.{key}": one for key, one in described.pop("launch")["properties"].items()}
        self.assertEqual(set(described), set(self.read(STUDY).values))
        page = (ROOT / "docs/studies.md").read_text(encoding="utf-8")
        for key, one in described.items():
            default = one.get("default", "")
            cell = "empty" if default in ([], {}) else f"`{json.dumps(default)}`".replace('"', "") if default != "" else ""
            self.assertIn(f"\n| `{key}` | {cell} | {one['description']} |\n", page)


class Planning(PlanTest):
    def test_products_and_zips(self):
        points = self.plan(STUDY.replace("[1, 2]", "[1, 2, 4, 8]") + "zip: {problem.cells: [[8, 8], [16, 16]], solver.max_sweeps: [4, 2]}\nthreads: [1, 2]\n")
        self.assertEqual(len(points), 4 * 2 * 2 * 2)
        self.assertEqual([point.id for point in points[:2]], ["p000", "p001"])
        self.assertEqual({(tuple(point.set["problem.cells"]), point.set["solver.max_sweeps"]) for point in points}, {((8, 8), 4), ((16, 16), 2)})
        self.assertEqual(points[-1].factors, {"ranks": 8, "threads": 2, "comm.backend": "view", "problem.cells": [16, 16], "solver.max_sweeps": 2})
        self.assertTrue(points[-1].oversubscribed)
        self.assertEqual(points[-1].set["output.fields"], "none")
        weak = self.plan(STUDY.replace("strong", "weak") + "set: {problem.local: true, output.fields: final}\n")
        self.assertEqual(weak[0].set["output.fields"], "final")

    def test_what_cannot_run_here(self):
        text = STUDY + "gpus_per_rank: 1\n"
        one_gpu = Machine([], "", 2, 8 << 30, ["a gpu"], "")
        self.assertEqual([point.skipped for point in self.plan(text, one_gpu)][1:3], [None, "needs 2 GPUs; there is 1 here"])
        self.assertEqual([point.skipped for point in self.plan(text, None)], [None] * 4)
        nodes = self.plan(STUDY + "ranks_per_node: 1\n")
        self.assertEqual([(point.nodes, bool(point.skipped)) for point in nodes], [(1, False), (1, False), (2, True), (2, True)])

    def test_values_of_keys(self):
        """A deck has 7 and "7" alike; true is no number."""
        sizes, numbers = {"enum": ["7", "27"]}, {"anyOf": [{"type": "array", "items": {"type": "integer", "maximum": 9}, "minItems": 2}, {"const": "auto"}]}
        self.assertEqual([misfit(sizes, value) for value in (7, "27", 8, True)], [None, None, "one of 7, 27", "one of 7, 27"])
        self.assertEqual([misfit(numbers, value) is None for value in ([1, 2], "auto", [1], [1, 10], [1, True], 3, "x")], [True] * 2 + [False] * 5)
        self.assertEqual([misfit({"type": "number", "exclusiveMinimum": 0}, value) is None for value in (1, 0.5, 0, True)], [True, True, False, False])

    def test_order(self):
        points = self.plan(STUDY)
        orders = [[(point.id, repeat) for point, repeat in run_order(points, 3, seed)] for seed in (7, 7, 8)]
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])
        for repeat in range(3):
            self.assertEqual({(point.id, repeat + 1) for point in points}, set(orders[0][4 * repeat: 4 * repeat + 4]))

    def test_only(self):
        points = self.plan(STUDY + "set: {solver.tolerance: 0, problem.cells: [8, 8]}\n")
        for only, chosen in (([], "0123"), (["ranks=2"], "23"), (["comm.backend=view", "ranks=1"], "1"), (["point=p001", "point=p003"], "13"),
                             (["ranks=1", "ranks=2", "comm.backend=raw"], "02"), (["problem.cells=[8, 8]"], "0123")):
            self.assertEqual("".join(point.id[-1] for point in select(points, only)), chosen, only)
        for only, *facts in ((["rank=2"], "did you mean ranks?"), (["comm.backend=vew"], "raw, view"), (["ranks"], "ranks"),
                             (["point=p000", "ranks=2"], "no point")):
            with self.subTest(only), self.refusal(*facts):
                select(points, only)


class Jobs(PlanTest):
    def jobs(self, text):
        study = self.read(text)
        return jobs_of([(point, repeat) for repeat in (1, 2, 4) for point in make_plan(study, None)], study)

    def scripts(self, scheduler, text):
        found = {job.name: script(job, scheduler, self.folder / "out put", self.place()) for job in self.jobs(text)}
        for one in found.values():
            done = subprocess.run(["bash", "-n"], input=one, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr + one)
            self.assertIn(f"study '{self.folder / 'out put'}' --job", one)
        return found

    def test_scripts(self):
        text = (STUDY.replace("[1, 2]", "[4, 8]") + "ranks_per_node: 4\ngpus_per_rank: 1\nthreads: 3\n"
                'launch: {minutes: 90, setup: [module load openmpi], options: ["--mem=0", "--partition=debug"]}\n')
        scripts = self.scripts("slurm", text)
        self.assertEqual(list(scripts), ["n1-r4-t3-g4", "n2-r8-t3-g8"])
        for line in ("#SBATCH --nodes=2", "#SBATCH --ntasks=8", "#SBATCH --ntasks-per-node=4", "#SBATCH --cpus-per-task=3", "#SBATCH --gpus-per-node=4",
                     "#SBATCH --exclusive", "#SBATCH --time=90", "#SBATCH --partition=debug", "#SBATCH --mem=0", "#SBATCH --signal=B:TERM@60",
                     "module load openmpi", "# p003: 8 ranks, view"):
            self.assertIn(f"\n{line}\n", scripts["n2-r8-t3-g8"])
        self.assertTrue(scripts["n2-r8-t3-g8"].endswith("--job --only=point=p002 --only=point=p003\n"))
        for line in ("#flux: --nodes=2", "#flux: --nslots=8", "#flux: --cores-per-slot=3", "#flux: --gpus-per-slot=1", "#flux: --time-limit=90m",
                     "#flux: --signal=TERM@60s"):
            self.assertIn(f"\n{line}\n", self.scripts("flux", text)["n2-r8-t3-g8"])
        largest = self.scripts("slurm", text.replace("minutes: 90", "jobs: study"))["all"]
        self.assertIn("#SBATCH --ntasks=8", largest)
        self.assertTrue(largest.endswith(" --job\n"))

    def test_words_of_directives(self):
        """Schedulers read them by rules of their own; sbatch's are tried by cluster/study."""
        path = Path("/a b/it's \"$x\"; 50%j")
        job = self.jobs(STUDY)[0]
        self.assertEqual(slurm(job, path)[1], r'''"--output=/a b/it's \"$x\"; 50%%j/jobs/r1-%j.out"''')
        self.assertEqual(shlex.split(flux(job, path)[1]), [f"--output={path}/jobs/r1-{{{{id}}}}.out"])
        for name in "two\nlines", "back\\slash", "{{id}}":
            with self.refusal("E-STUDY-FOLDER"):
                script(job, "slurm", self.folder / name, self.place())
