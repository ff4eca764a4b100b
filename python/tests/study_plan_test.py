# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor study: what a study's file may say, which points it makes, and the job scripts of them. Nothing is run."""

import contextlib
import json
import shlex
import subprocess
import unittest
from pathlib import Path

from command import ROOT
from study_case import ONE, STUDY, StudyTest

from kontor.study.description import STUDY as KEYS
from kontor.study.description import table
from kontor.study.expression import ExpressionError, Sizes, compact_grid, compiled, evaluate
from kontor.study.jobs import jobs_of, seconds_of
from kontor.study.machine import Machine
from kontor.study.only import selector
from kontor.study.plan import estimate, make_plan, run_order
from kontor.study.problems import StudyError, misfit
from kontor.study.schedulers import SCHEDULERS
from kontor.study.submit import script
from kontor.study.tree import parse

MIB = 1 << 20
MACHINE = Machine(["here"], "a cpu", 2, 8 << 30, [], "an MPI")
WEAK = """study: s
deck: plate.yaml
kind: weak
ranks: [1, 2, 8]
weak: {problem.cells: [FIRST, "32*grid[1]"]}
"""


class PlanTest(StudyTest):
    @contextlib.contextmanager
    def refusal(self, *facts):
        """Around what must be refused in words that have all these facts."""
        with self.assertRaises(StudyError) as caught:
            yield
        self.assertEqual(caught.exception.code, 2)
        for fact in facts:
            self.assertIn(fact, str(caught.exception))


class Reading(PlanTest):
    def test_defaults_and_back(self):
        """What --print shows is read as the same study."""
        text = STUDY + 'weak: {problem.cells: ["64*ranks", 64]}\nlaunch: {time: 00:10:00, options: ["--mem=0"]}\nset: {solver.tolerance: 1e-9}\n'
        study = self.read(text)
        self.assertEqual((study["threads"], study["timeout"], study["launch"]["time"]), ([1], 3600, "00:10:00"))
        self.assertEqual(study["set"], {"solver.tolerance": 1e-9})
        again = self.read(study.resolved())
        self.assertEqual({**again.values, "deck": 0}, {**study.values, "deck": 0})
        self.assertEqual(again.decks[0].file, study.decks[0].file)
        self.assertEqual(set(study.values), set(KEYS.keys))

    def test_bad_keys_and_values(self):
        """Place, what was found, what is allowed or near."""
        add = {
            "rank: 3": ["study.yaml:9:1", '"rank"', '"ranks"'],
            "timeout: 0": ["study.yaml:9:10", "timeout", "from 1", "found 0"],
            "timeout: two": ["study.yaml:9:10", 'found "two"'],
            "kind: week": ["study.yaml:9:1", "kind", "twice"],
            "launch: {partitoin: x}": ["study.yaml:9:10", '"partitoin"', '"partition"'],
            "launch: [x]": ["study.yaml:9:9", "launch"],
            "set: {solver.tolerance: -1}": ["study.yaml:9:7", "solver.tolerance", "from 0", "found -1"],
            "set: {comm.bakend: raw}": ["study.yaml:9:7", '"comm.bakend"', '"comm.backend"'],
            "set: {comm: {backend: raw}}": ["study.yaml:9:7", '"comm"'],
            "set: {app: cg}": ["study.yaml:9:7", '"app"'],
            "set: {comm.backend: raw}": ["study.yaml:6:3", "comm.backend", "vary", "set"],
            "nodes: 2": ["study.yaml:9:1", "nodes", "ranks"],
            "threads: []": ["study.yaml:9:10", "threads", "empty"],
            "gpus: ranks+": ["study.yaml:9:7", "gpus", "ranks+"],
            "zip: {problem.cells: [[8, 8], [16, 16]], solver.max_sweeps: [1, 2, 3]}": ["study.yaml:9:6", "problem.cells has 2", "solver.max_sweeps has 3"],
            "zip: {problem.cells: [[8, 8], [8, 8]], solver.max_sweeps: [1, 1]}": ["study.yaml:9:6", "together twice"],
            "baseline: {comm.backend: shm}": ["study.yaml:9:12", "shm", "raw, view"],
            "baseline: {comm.overlap: true}": ["study.yaml:9:12", "comm.overlap", "not varied"],
            "set: {solver.tolerance: ~}": ["study.yaml:9:25", "no value"],
            "? [a]\n: b": ["study.yaml:9:3", "key"],
            "set: !!binary x": ["study.yaml:9:6", "tags"],
            "ranks_per_node: 3\n": ["ranks"],
        }
        for line, facts in add.items():
            with self.subTest(line), self.refusal(*facts):
                self.read(STUDY.replace("ranks: [1, 2]", "ranks: [1, 8]") + line + "\n")

    def test_other_texts(self):
        cases = {
            "": ["study.yaml", "empty"],
            "study: [": ["study.yaml:1", "malformed"],
            "- a": ["study.yaml:1:1", "mapping"],
            "study: s\n": ["deck is missing", "kind is missing"],
            "study: a b\ndeck: plate.yaml\nkind: strong\nranks: 1": ["study.yaml:1:8", "letters"],
            STUDY.replace("plate", "plat"): ["plat.yaml", "no such file"],
            STUDY.replace("[1, 2]", "[]"): ["study.yaml:4:8", "ranks", "empty list"],
            STUDY.replace("[1, 2]", "[1, 0, x, 1]"): ["study.yaml:4:12", "found 0", "study.yaml:4:15", '"x"', "study.yaml:4:18", "twice"],
            STUDY.replace("[1, 2]", "{from: 1, to: 8}"): ["study.yaml:4:8", "factor", "step"],
            STUDY.replace("[1, 2]", "{from: 1, to: 8, factr: 2}"): ["study.yaml:4:25", '"factor"'],
            STUDY.replace("strong", "weak"): ["study.yaml:3:1", "weak"],
            STUDY.replace("strong", "week"): ["study.yaml:3:7", "strong, weak, compare, sweep", '"weak"'],
            STUDY.replace("vary:\n  comm.backend: [raw, view]\n", "").replace("strong", "compare"): ["study.yaml:3:1", "vary"],
            STUDY.replace("[raw, view]", "[raw, vew]"): ["study.yaml:6:3", "raw, view, shm, null", "vew"],
            STUDY.replace("[raw, view]", "[]"): ["study.yaml:6:17", "empty list"],
            STUDY.replace("[raw, view]", "raw"): ["study.yaml:6:17", "list"],
            STUDY.replace("[raw, view]", "[raw, null]") + "ablation: true\n": ["study.yaml:9:1", "ablation"],
            "a: &a [x]\n" + "\n".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]" for n in range(9)): ["more than"],
            "#" * MIB + "x": ["larger than 1048576 bytes"],
            "#" + "é" * (MIB // 2): ["larger than 1048576 bytes"],
            "study: " + "[" * 5000: ["nested too deeply"],
            "study: " + "{a: " * 5000: ["nested too deeply"],
        }
        for text, facts in cases.items():
            with self.subTest(text[:60]), self.refusal(*facts):
                self.read(text)
        (self.folder / "study.yaml").write_bytes(b"\xff\xfe\x00")
        self.assert_fails(self.study("--print"), "study.yaml", "UTF-8")
        (self.folder / "study.yaml").unlink()
        self.assert_fails(self.study(), "study.yaml", "No such file")
        self.assert_fails(self.kontor("study"), "no study")

    def test_the_most_values(self):
        """An alias counts as all that it stands for."""
        thousand = f"a: &a [{', '.join('x' * 999)}]\n"
        rest = f"b: [{', '.join(['*a'] * 98)}]\nc: [{', '.join('x' * 994)}"  # with the keys and lists 100,000
        self.assertEqual(len(parse(f"{thousand}{rest}]", "study.yaml").plain_value()["b"]), 98)
        with self.assertRaises(StudyError) as caught:
            parse(f"{thousand}{rest}, x]", "study.yaml")
        self.assertRegex(str(caught.exception), r"\Astudy\.yaml:3:\d+: more than 100000 values \[E-STUDY-FILE\]\Z")

    def test_decks_that_fail(self):
        for deck, facts in {"app: [heat\n": ["plate.yaml:1:1", "malformed"], "problem: {}\n": ["app is missing"], "app: heet\n": ["heet"]}.items():
            self.write("plate.yaml", deck)
            with self.refusal(*facts):
                self.read(STUDY)

    def test_overrides(self):
        study = self.read(STUDY, "ranks=[4]", "set.problem.cells=[8,8]", "launch.time=5", "repeats=1")
        self.assertEqual((study["ranks"], study["set"], study["launch"]["time"], study["repeats"]), ([4], {"problem.cells": [8, 8]}, "5", 1))
        for override, fact in ("ranks=[0]", "--set ranks"), ("ranks", "KEY=VALUE"):
            with self.refusal(fact):
                self.read(STUDY, override)

    def test_reduced(self):
        """By the lines `# test:` of study and deck; and what is written out says so."""
        self.write("plate.yaml", "# a plate\n# test: --set problem.cells=[9, 7] --set solver.max_sweeps=3\napp: heat\n")
        study = self.read("# a study\n# test: --set ranks=[2] --set repeats=1\n" + STUDY, "set.solver.max_sweeps=4", reduced=True)
        for one in study, self.read(study.resolved()):
            points = make_plan(one, MACHINE)
            self.assertEqual([(point.ranks, point.set["problem.cells"], point.set["solver.max_sweeps"]) for point in points], [(2, [9, 7], 4)] * 2)

    def test_the_schema_and_the_docs_have_every_key(self):
        schema = json.loads(self.kontor("study", "--schema").stdout)
        self.assertEqual(set(schema["properties"]), set(KEYS.keys))
        self.assertEqual(set(schema["required"]), {"study", "deck", "kind"})
        self.assertIn(f"\n{table()}\n", (ROOT / "docs/studies.md").read_text(encoding="utf-8"), "python3 -m kontor.study.description prints the table")


class Expressions(unittest.TestCase):
    def test_values(self):
        sizes = Sizes(8, 2, (2, 4))
        for text, value in {"4096*ranks": 32768, "round(100*sqrt(ranks))": 283, "cbrt(ranks)": 2, "ranks//3": 2, "2**nodes": 4, "-ranks+1": -7,
                            "grid[0]*10 + grid[1]": 24, "ranks/16": 0.5, "1e3": 1000}.items():
            self.assertEqual(evaluate(text, sizes), value, text)
        self.assertIsInstance(evaluate("sqrt(ranks*2)", sizes), int)

    def test_refused(self):
        for text in ("rank", "ranks.real", "__import__('os')", "ranks if 1 else 2", "[1]", "'a'", "True", "1j", "2**2**2**2**9", "9**9**9", "grid",
                     "grid[3]", "grid[ranks]", "sqrt(-1)", "1/0", "ranks*" * 80 + "1", "sqrt(1, 2)", "1e999", "(" * 150, "1;2", "", "lambda: 1", "a:=1"):
            with self.assertRaises(ExpressionError, msg=text):
                compiled(text)
                evaluate(text, Sizes(8, 2, (2, 4)))

    def test_the_longest(self):
        formula = "1" + "+1" * 99 + " "
        self.assertEqual((len(formula), evaluate(formula, Sizes(1, 1, (1,)))), (200, 100))
        with self.assertRaises(ExpressionError) as caught:
            evaluate(formula + " ", Sizes(1, 1, (1,)))
        self.assertEqual(str(caught.exception), "longer than 200 characters")

    def test_grids_as_the_mini_apps_make_them(self):
        self.assertEqual([compact_grid(n, 2) for n in (1, 2, 4, 6, 7, 8, 12)], [(1, 1), (1, 2), (2, 2), (2, 3), (1, 7), (2, 4), (3, 4)])
        self.assertEqual([compact_grid(n, 3) for n in (2, 8, 12, 16)], [(1, 1, 2), (2, 2, 2), (2, 2, 3), (2, 2, 4)])


class Planning(PlanTest):
    def plan(self, text, machine=MACHINE):
        return make_plan(self.read(text), machine)

    def test_products_zips_ranges(self):
        points = self.plan(STUDY.replace("[1, 2]", "{from: 1, to: 8, factor: 2}")
                           + "zip: [{problem.cells: [[8, 8], [16, 16]], solver.max_sweeps: [4, 2]}]\nthreads: [1, 2]\n")
        self.assertEqual(len(points), 4 * 2 * 2 * 2)
        self.assertEqual([point.id for point in points[:2]], ["p000", "p001"])
        self.assertEqual({(tuple(point.set["problem.cells"]), point.set["solver.max_sweeps"]) for point in points}, {((8, 8), 4), ((16, 16), 2)})
        self.assertEqual(points[-1].factors, {"ranks": 8, "threads": 2, "comm.backend": "view", "problem.cells": [16, 16], "solver.max_sweeps": 2})
        self.assertTrue(points[-1].oversubscribed)

    def test_weak(self):
        points = self.plan(WEAK.replace("FIRST", '"32*grid[0]"'))
        self.assertEqual([point.set["problem.cells"] for point in points], [[32, 32], [32, 64], [64, 128]])
        for formula, facts in {'"32*sqrt(ranks)"': ["study.yaml:5:8", "on 2 ranks", "whole number", "round"], '"2-ranks"': ["on 2 ranks", "[0,", "from 1"],
                               '"1/(ranks-1)"': ["on 1 rank ", "zero"]}.items():
            with self.refusal(*facts):
                self.plan(WEAK.replace("FIRST", formula))

    def test_nodes(self):
        points = self.plan(STUDY.replace("ranks: [1, 2]", "nodes: [1, 2]\nranks_per_node: 4"), Machine([], "", 8, 8 << 30, [], "", nodes=2))
        self.assertEqual([(point.nodes, point.ranks, point.skipped) for point in points[::2]], [(1, 4, None), (2, 8, None)])

    def test_ablations(self):
        points = self.plan(STUDY.replace("kind: strong", "kind: strong\nablation: true"))
        self.assertEqual([(point.ablation, point.ablation_of) for point in points[4:]],
                         [("null_backend", "p000"), ("no_overlap", "p000"), ("no_overlap", "p001"),
                          ("null_backend", "p002"), ("no_overlap", "p002"), ("no_overlap", "p003")])
        self.assertEqual(points[1].ablations, {"null_backend": "p004", "no_overlap": "p006"})
        self.assertEqual((points[4].set["comm.backend"], points[4].factors["comm.backend"]), ("null", "null"))

    def test_what_cannot_run_here(self):
        text = STUDY + "gpus: ranks\n"
        self.assertEqual([point.skipped for point in self.plan(text, Machine([], "", 2, 8 << 30, ["a gpu"], ""))][1:3], [None, "needs 2 GPUs; there is 1 here"])
        self.assertIn("2 nodes", self.plan(STUDY + "ranks_per_node: 1\n")[2].skipped)
        self.assertEqual([point.skipped for point in self.plan(text, None)], [None] * 4)

    def test_estimates(self):
        """Of a point that has run, by its runs that passed."""
        points = self.plan(STUDY)
        runs = [("p001", "passed", 5.0), ("p001", "passed", 7.0), ("p001", "failed", 90.0), ("p002", "failed", 4.0)]
        estimate(points, [{"point": point, "state": state, "seconds": seconds} for point, state, seconds in runs])
        self.assertEqual([point.estimate_seconds for point in points], [None, 6.0, None, None])

    def test_a_word_that_looks_like_a_number(self):
        sizes = {"enum": ["7", "27"]}
        self.assertEqual([misfit(sizes, value) for value in (7, "27")], [None, None])
        self.assertEqual([misfit(sizes, value) for value in (8, "x", True)], ["one of 7, 27"] * 3)

    def test_order(self):
        points = self.plan(STUDY)
        orders = [[(point.id, repeat) for point, repeat in run_order(points, 3, seed)] for seed in (7, 7, 8)]
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])
        for repeat in range(3):
            self.assertEqual({(point.id, repeat + 1) for point in points}, set(orders[0][4 * repeat: 4 * repeat + 4]))

    def test_only(self):
        points = self.plan(STUDY + "set: {solver.tolerance: 0}\n")
        for point, speed in zip(points, (-1, -0.5, 1, "auto")):
            point.factors["problem.speed"] = speed
        for text, chosen in {"ranks==2": "23", "comm.backend==view and ranks<2": "1", "not comm.backend=='view'": "02", "point in [p001, p003]": "13",
                             "comm.backend==raw or ranks>1": "023", "ranks in (1, 5)": "01", "ablation==none": "0123", "problem.speed==-1": "0",
                             "problem.speed>=-0.5": "12", "problem.speed in [-1, +1]": "02", "problem.speed==+1": "2"}.items():
            found = [point.id[-1] for point in points if selector(text, points)(point)]
            self.assertEqual("".join(found), chosen, text)
        for text, facts in {"rank==2": ['"ranks"'], "comm.backend==vew": ["vew", "raw, view"], "ranks": ["comparison"], "ranks==": ["understood"],
                            "ranks==f(2)": ["f(2)"], "1 < ranks < 3": ["comparison"], "ranks==-x": ["-x"]}.items():
            with self.subTest(text), self.refusal(*facts):
                [selector(text, points)(point) for point in points]

    def scripts(self, scheduler, text):
        study = self.read(text)
        points = make_plan(study, None)
        study.values["timeout"] = 600
        jobs = jobs_of([(point, repeat) for repeat in (1, 2, 4) for point in points], study["launch"]["jobs"])
        found = {job.name: script(job, study, scheduler, self.folder / "out put", self.place()) for job in jobs}
        for one in found.values():
            done = subprocess.run(["bash", "-n"], input=one, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr + one)
            self.assertIn(f"study '{self.folder / 'out put'}' --job", one)
        return found

    def test_job_scripts(self):
        text = (STUDY.replace("ranks: [1, 2]", "nodes: [1, 2]\nranks_per_node: 4") + "gpus: ranks\nthreads: 3\n"
                'launch: {time: "1:30:00", partition: debug, account: us, setup: [module load openmpi], options: ["--mem=0"]}\n')
        slurm = self.scripts("slurm", text)
        self.assertEqual(list(slurm), ["n1-r4-t3-g4", "n2-r8-t3-g8"])
        for line in ("#SBATCH --nodes=2", "#SBATCH --ntasks=8", "#SBATCH --ntasks-per-node=4", "#SBATCH --cpus-per-task=3", "#SBATCH --gpus-per-node=4",
                     "#SBATCH --time=01:30:00", "#SBATCH --partition=debug", "#SBATCH --account=us", "#SBATCH --mem=0",
                     "#SBATCH --signal=B:TERM@60", "module load openmpi", "# p003: 8 ranks, nodes 2, view"):
            self.assertIn(f"\n{line}\n", slurm["n2-r8-t3-g8"])
        self.assertTrue(slurm["n2-r8-t3-g8"].endswith("--job --only 'point in [p002,p003]'\n"))
        flux = self.scripts("flux", text)["n2-r8-t3-g8"]
        for line in ("#flux: --nodes=2", "#flux: --nslots=8", "#flux: --cores-per-slot=3", "#flux: --gpus-per-slot=1", "#flux: --time-limit=5400s",
                     "#flux: --queue=debug", "#flux: --bank=us", "#flux: --signal=TERM@60s"):
            self.assertIn(f"\n{line}\n", flux)
        largest = self.scripts("slurm", text.replace("partition: debug", "jobs: study"))["all"]
        self.assertIn("#SBATCH --ntasks=8", largest)
        self.assertTrue(largest.endswith(" --job\n"))

    def test_words_of_directives(self):
        """Schedulers read them by rules of their own; sbatch's are tried by cluster/study."""
        path = Path("/a b/it's \"$x\"; 50%j")
        job = jobs_of([(make_plan(self.read(STUDY), None)[0], 1)], "size")[0]
        launch = self.read(STUDY + 'launch: {account: "my group", time: 5}\n')["launch"]
        told = {name: scheduler.directives(job, "s", 300, launch, path) for name, scheduler in SCHEDULERS.items()
                if not scheduler.unfit(str(path))}
        self.assertEqual(told["slurm"][1], r'''"--output=/a b/it's \"$x\"; 50%%j/jobs/r1-%j.out"''')
        self.assertIn('"--account=my group"', told["slurm"])
        self.assertEqual(shlex.split(told["flux"][1]), [f"--output={path}/jobs/r1-{{{{id}}}}.out"])

    def test_time_limits(self):
        self.assertEqual([seconds_of(text) for text in ("5", "5:30", "1:00:00", "1-2", "1-0:1")], [300, 330, 3600, 93600, 86460])
        self.assertIn("--time=01:05:00", self.scripts("slurm", STUDY)["r1"], "six runs may take their timeout, and 60 s")
        (job,) = jobs_of([(make_plan(self.read(ONE), None)[0], 1)], "point")
        for estimate_seconds, limit in (1.0, 600), (1000.0, 2100):
            job.largest.estimate_seconds = estimate_seconds
            self.assertEqual(job.seconds({"time": "auto", "warn": 60}, 1), limit)
