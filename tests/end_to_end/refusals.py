# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in a deck and on the command line, what does not fit the number of ranks or the backend, and files that
cannot be written or would overwrite another file of the run. config/tests has the mistakes of a key alone."""

import unittest
from pathlib import Path

from launch import HEAT, PINGPONG, PLATE, ProgramTest, change, starts_several_programs

SWEEPS = "solver: {tolerance: 0, max_sweeps: 5}"
STEPS = "  equation: transient\n"
BOUNDARY = "  boundary:"
CORNER = '"(x > 0.95 && y > 0.95) ? 1/(x-x) : 0"'  # the last rank's alone, however the cells are divided
AT_CORNER = "x = 0.961538, y = 0.954545, z = 0, t = 0"
AT_FIRST = "x = 0.0384615, y = 0.0454545, z = 0, t = 0"
LATER = '"t > 0.05 ? 1/(x-x) : 0"'


class Decks(ProgramTest):
    def refused_when(self, old, new, *facts, **others):
        """Where the deck says `new` instead of `old`."""
        self.refused(*facts, deck=change(PLATE, old, new), **others)

    def test_keys(self):
        self.refused_when("app: heat", "app: cg", "E-DECK-APP", "deck.yaml:1:6: app", "'cg'", "'heat'")
        several = 'cels: [13, 11]\n  precision: half\n  initial: "2*"'
        places = "deck.yaml:3:3: problem.cels", "deck.yaml:4:14: problem.precision", "deck.yaml:5:12: problem.initial"
        rest = "problem.cells?", "[E-DECK-WORD]\n", "[E-DECK-EXPRESSION]\n"
        self.refused_when("cells: [13, 11]", several, "E-DECK-KEY", *places, *rest, ranks=2, lines=3)

    def test_expressions_that_are_not_finite(self):
        """On two ranks, of which each looks at its own cells: in a field, on a face, and later."""
        for old, new, place, at in (
            ("cells:", 'initial: "1/(x-x)"\n  cells:', '3:12: problem.initial "1/(x-x)"', AT_FIRST),
            ("cells:", f"exact: {CORNER}\n  cells:", f"3:10: problem.exact {CORNER}", AT_CORNER),
            ('"sin(pi*x)"', CORNER, f"5:5: problem.boundary.y_max {CORNER}", "x = 0.961538, y = 1, z = 0, t = 0"),
            (SWEEPS, f"{STEPS}  source: {LATER}", "7:11: problem.source", AT_FIRST + ".0507692"),
        ):
            self.refused_when(old, new, "E-DECK-EXPRESSION", f"deck.yaml:{place} ", f" is inf at {at}", ranks=2)

    def test_what_does_not_go_together(self):
        domain = "problem.domain"
        for old, new, kind, place, *facts in (
            (SWEEPS, STEPS + "solver: {tolerance: 1.0e-3}", "CONFLICT", "7:21: solver.tolerance", "0.001", "steady"),
            (SWEEPS, STEPS + "solver: {max_sweeps: 5}", "CONFLICT", "7:22: solver.max_sweeps", "5", "steady"),
            (SWEEPS, STEPS + "time: {step: 0.01}", "RANGE", "7:14: time.step", "0.01", "0.00172414"),
            (SWEEPS, STEPS + "time: {end: 0.05, step: 1.0e-300}", "RANGE", "7:13: time.end", "5e+298", "1e+12"),
            ("solver:", "    z_min: {neumann: 1}\nsolver:", "CONFLICT", "6:5: problem.boundary.z_min", "problem.cells"),
            (BOUNDARY, BOUNDARY + "\n    x_min: periodic", "CONFLICT",
             "5:12: problem.boundary.x_min", "problem.boundary.x_max"),
            (BOUNDARY, "  domain: {lower: [0, 2], upper: [1, 1]}\n  boundary:", "CONFLICT",
             f"4:38: {domain}.upper[1]", f"{domain}.lower[1]"),
            (BOUNDARY, "  domain: {upper: [1, 1.0e+200]}\n  boundary:", "RANGE",
             f"4:23: {domain}.upper[1]", "1e+200", "1e+150"),
            (BOUNDARY, "  domain: {upper: [1, 1, 1]}\n  boundary:", "CONFLICT",
             f"4:19: {domain}.upper", "3", "problem.cells", "2"),
            ("[13, 11]", "[100000000, 100000000]", "RANGE", "3:10: problem.cells", "[100000000, 100000000]", "1e+15"),
        ):
            self.refused_when(old, new, f"E-DECK-{kind}", f"deck.yaml:{place}", *facts)
        faces = "".join(f"    {face}: {{neumann: 0}}\n" for face in ("x_min", "x_max", "y_min", "y_max"))
        deck = change(PLATE, "tolerance: 0", "tolerance: 1.0e-3", '    y_max: {dirichlet: "sin(pi*x)"}\n', faces)
        self.refused("E-DECK-CONFLICT", "deck.yaml:4:3: problem.boundary", "dirichlet", "solver.tolerance", deck=deck)


class Arguments(ProgramTest):
    def test_arguments(self):
        usage, read, ranks, launch = "E-USAGE-OPTION", "E-FILE-READ", "E-DECK-RANKS", "E-LAUNCH-RANKS"
        alone, two, three = {"first": ()}, {"ranks": 2}, {"ranks": 3}  # without a deck before the arguments
        grid, cells = "decomposition.process_grid=[2,2]", "problem.cells=[1,2]"
        for error_id, words, how, *facts in (
            (usage, [], {**alone, "lines": 2}, "the input deck", "--help"),
            (read, ["nope.yaml"], {**alone, **two}, "nope.yaml: ", "No such file or directory"),
            (read, ["."], alone, ".: ", "directory"),
            (usage, ["--verbos"], {**two, "lines": 2}, "--verbos", "--help"),
            (usage, ["other.yaml"], {"lines": 2}, "other.yaml", "--help"),
            (ranks, ["--set", grid], three, f"--set {grid}: ", "[2, 2]", "4 ranks", "are 3"),
            (ranks, ["--set", cells], three, f"--set {cells}: problem.cells [1, 2]", "3 ranks"),
            # Kokkos rejects these in its own words, and names some of its arguments only.
            (usage, ["--kokkos-threads=abc"], {"lines": 0}, "--kokkos-threads"),
            (usage, ["--kokkos-nonsense=1"], {**two, "lines": 0}, "--kokkos-nonsense=1: "),
            (usage, [], {"lines": 0, "variables": {"KOKKOS_NUM_THREADS": "abc"}}),
            # By a launcher of another MPI each process takes itself for the only one, but has that one's variables.
            *((launch, [], {"code": 3, "variables": {name: "2"}}, f"started on 1 rank, but {name} says 2")
              for name in ("PMI_SIZE", "KONTOR_RANKS")),
        ):
            self.refused(error_id, *facts, words=words, **how)
        self.passes("--schema", "--kokkos-threads=abc")  # which needs no Kokkos

    @unittest.skipUnless(starts_several_programs(), "this mpirun does not start several programs")
    def test_ranks_that_differ(self):
        """In the app, the options, the output, or a mistake: arguments of rank 0, program and arguments of rank 1."""
        for first, program, second in (
            ("deck.yaml", PINGPONG, "deck.yaml"), ("deck.yaml -o a.h5", HEAT, "deck.yaml -o b.h5"),
            ("deck.yaml", HEAT, "deck.yaml --verbos"), ("--schema", HEAT, "deck.yaml"),
        ):
            facts = f"rank 0 runs 'heat {first}'", f"rank 1 runs '{Path(program).name} {second}'"
            words = [*first.split(), ":", "-n", "1", program, *second.split()]
            self.refused("E-LAUNCH-RANKS", *facts, first=words, lines=0)

    def test_backends(self):
        listed = [line.split(maxsplit=3) for line in self.passes("--list-backends").out.splitlines()]
        places = "--set comm.backend=vieww: comm.backend", 'found "vieww"', "mean view?", *(name for name, *_ in listed)
        self.refused("E-DECK-WORD", *places, words=["--set", "comm.backend=vieww"])
        built = ", ".join([name for name, state, *_ in listed if state == "built"] + ["auto"])
        for name in [name for name, state, *_ in listed if state == "not"]:
            facts = f"--set comm.backend={name}: comm.backend", f"backend '{name}'", built
            said = self.refused("E-COMM-BACKEND", *facts, words=["--set", f"comm.backend={name}"])
            self.assertRegex(said, f"KONTOR_BACKEND_{name.upper()}=ON|Kokkos_ROOT")


class Files(ProgramTest):
    """Rank 0 looks at them, so one case is on several."""

    def test_cannot_be_written(self):
        (self.folder / "sub").mkdir()
        (self.folder / "plate.xmf").mkdir()
        one = ("-o", "other.hdf5")  # whose XDMF file is another
        for path, words, *facts in (
            ("nope/x.h5", ["-o", "nope/x.h5"], "No such file or directory", "make the directory"),
            ("sub", ["--set", "output.file=sub"], "directory", "output.file or -o"),
            ("/dev/null", ["-o", "/dev/null"], "not a regular file"),
            ("nope/x.json", [*one, "--results", "nope/x.json"], "No such file or directory"),
            ("plate.xmf", [], "directory"),
        ):
            ranks = 3 if path == "nope/x.h5" else 1
            self.refused("E-FILE-WRITE", f" {path}: ", *facts, words=words, ranks=ranks)

    def test_one_file_for_two_purposes(self):
        """By its name, and by another one."""
        deck, output, xdmf, record = "the input deck", "the HDF5 file", "the XDMF file", "the file of --results"
        self.write("plate.h5", "")
        (self.folder / "link").symlink_to("deck.yaml")
        (self.folder / "hard").hardlink_to(self.folder / "plate.h5")
        for option, path, first, second in (
            ("-o", "deck.yaml", deck, output), ("-o", "./plate.xmf", output, xdmf),
            ("--results", "plate.xmf", xdmf, record),
            ("--results", "link", deck, "--results"), ("--results", "hard", output, "--results"),
        ):
            ranks = 3 if option == "-o" and first is deck else 1
            self.refused("E-FILE-SAME", f"{path} ", first, second, words=(option, path), ranks=ranks)
