# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes on the command line, what does not fit the number of ranks or the backend, and files that cannot be written
or would overwrite another file of the run."""

import unittest

from launch import HEAT, PINGPONG, HeatTest, starts_several_programs
from refusal import PLATE, RefusalTest


class Usage(RefusalTest):
    def test_the_deck(self):
        """Without one before the arguments."""
        for error_id, words, ranks, *facts in (
            ("E-USAGE-OPTION", [], 1, "the input deck", "--help"),
            ("E-FILE-READ", ["nope.yaml"], 1, "nope.yaml: ", "No such file or directory"),
            ("E-FILE-READ", ["nope.yaml"], 2, "nope.yaml: "),
            ("E-FILE-READ", ["."], 1, ".: ", "directory"),
            ("E-FILE-READ", ["/proc/self/mem"], 1, "/proc/self/mem: ", "Input/output error"),
            ("E-DECK-LIMIT", ["/dev/zero"], 1, "/dev/zero: ", "1048576 bytes"),
        ):
            with self.subTest(words=words, ranks=ranks):
                result = self.heat(*words, ranks=ranks, limit=10)
                self.names(result.err, error_id, *facts, lines=1 if words else 2)
                self.assertEqual((result.code, result.out, self.files()), (2, "", []))

    def test_unexpected_arguments(self):
        for word, ranks in ("--verbos", (1, 2)), ("other.yaml", (1,)):
            self.refused("E-USAGE-OPTION", word, "--help", words=[word], ranks=ranks, lines=2)


class Starts(RefusalTest):
    """One launch line of several programs, as mpirun and srun have it."""

    @unittest.skipUnless(starts_several_programs(), "this mpirun does not start several programs")
    def test_ranks_that_differ(self):
        """In the app, the options, the output, or a mistake: arguments of rank 0, program and arguments of rank 1."""
        self.write("deck.yaml", PLATE)
        for first, program, second in (
            (["deck.yaml"], PINGPONG, ["deck.yaml"]),
            (["deck.yaml"], HEAT, ["deck.yaml", "--set", "comm.backend=view"]),
            (["deck.yaml", "-o", "a.h5"], HEAT, ["deck.yaml", "-o", "b.h5"]),
            (["deck.yaml"], HEAT, ["deck.yaml", "--verbos"]),
            (["--schema"], HEAT, ["deck.yaml"]),
        ):
            with self.subTest(first=first, second=second):
                result = self.heat(*first, ":", "-n", "1", program, *second, limit=20)
                name = "heat" if program == HEAT else "pingpong"
                for rank, words in enumerate((["heat", *first], [name, *second])):
                    self.assertIn(f"rank {rank} runs '{' '.join(words)}'", result.err)
                self.assertEqual((result.code, result.out), (2, ""), result)
                self.assertIn("[E-LAUNCH-RANKS]", result.err)
                self.assertEqual(self.files(), ["deck.yaml"])


    def test_a_launcher_of_another_mpi(self):
        """Each process takes itself for the only one, and knows better by the launcher's variables."""
        self.write("deck.yaml", PLATE)
        for name in "PMI_SIZE", "KONTOR_RANKS":
            result = self.ends(3, "deck.yaml", ranks=1, limit=20, variables={name: "2"})
            self.names(result.err, "E-LAUNCH-RANKS", f"started on 1 rank, but {name} says 2")
            self.assertEqual((result.out, self.files()), ("", ["deck.yaml"]))


class Kokkos(RefusalTest):
    """What Kokkos rejects."""

    def test_arguments(self):
        """Kokkos says what it does not take, of which it names some."""
        for word, fact, ranks in (
            ("--kokkos-threads=abc", "--kokkos-threads", (1, 2)), ("--kokkos-threads", "--kokkos-threads", (1,)),
            ("--kokkos-nonsense=1", "--kokkos-nonsense=1: ", (1, 2)),
        ):
            self.write("deck.yaml", PLATE)
            for on in ranks:
                with self.subTest(word=word, ranks=on):
                    result = self.ends(2, "deck.yaml", word, ranks=on, limit=10)
                    self.assertIn("[E-USAGE-OPTION]", result.err)
                    self.assertIn(fact, result.err)
                    self.assertEqual((result.out, self.files()), ("", ["deck.yaml"]))

    def test_variables(self):
        self.write("deck.yaml", PLATE)
        result = self.ends(2, "deck.yaml", ranks=2, limit=10, variables={"KOKKOS_NUM_THREADS": "abc"})
        self.assertIn("[E-USAGE-OPTION]", result.err)
        self.assertEqual(result.out, "")

    def test_what_needs_no_kokkos(self):
        for option in "--schema", "--help", "--list-backends":
            self.passes(option, "--kokkos-threads=abc", limit=10)


class Overrides(RefusalTest):
    """config/tests and grid/tests have more of them."""

    def test_a_key(self):
        self.refused_set("comm.backand=raw", "E-DECK-KEY", "comm.backand", "comm.backend?", ranks=(1, 2))

    def test_what_does_not_fit_the_ranks(self):
        self.refused_set("decomposition.process_grid=[2,2]", "E-DECK-RANKS", "[2, 2]", "4 ranks", "are 3", ranks=[3])
        self.refused_set("problem.cells=[1,2]", "E-DECK-RANKS", "problem.cells [1, 2]", "3 ranks", ranks=[3])


class Backends(RefusalTest):
    def listed(self):
        return [line.split(maxsplit=3) for line in self.heat("--list-backends", ranks=1, limit=10).out.splitlines()]

    def test_unknown(self):
        names = [name for name, *_ in self.listed()]
        self.refused_set("comm.backend=vieww", "E-DECK-WORD", "comm.backend", *names, 'found "vieww"', "mean view?")

    def test_not_in_this_build(self):
        listed = self.listed()
        built = ", ".join([name for name, state, *_ in listed if state == "built"] + ["auto"])
        for name in [name for name, state, *_ in listed if state == "not"]:
            facts = f"backend '{name}'", built, f"KONTOR_BACKEND_{name.upper()}=ON", "Kokkos_ROOT"
            self.write("deck.yaml", PLATE)
            result = self.heat("deck.yaml", "--set", f"comm.backend={name}", ranks=2, limit=10)
            self.names(result.err, "E-COMM-BACKEND", f"--set comm.backend={name}: comm.backend", *facts[:2])
            self.assertTrue(any(way in result.err for way in facts[2:]), result.err)
            self.assertEqual((result.code, result.out), (2, ""))


class Output(RefusalTest):
    RANKS = (3,)  # rank 0 looks at the files

    def test_files_that_cannot_be_written(self):
        (self.folder / "sub").mkdir()
        (self.folder / "plate.xmf").mkdir()
        one = ("-o", "other.hdf5")  # whose XDMF file is another
        for path, words, *facts in (
            ("sub", ["--set", "output.file=sub"], "directory", "output.file or -o"),
            ("deck.yaml/x.h5", ["-o", "deck.yaml/x.h5"], "Not a directory", "output.file or -o"),
            ("/dev/null", ["-o", "/dev/null"], "not a regular file"),
            ("nope/x.h5", ["-o", "nope/x.h5"], "No such file or directory", "make the directory"),
            ("nope/x.json", [*one, "--results", "nope/x.json"], "No such file or directory"),
            ("plate.xmf", [], "directory"),
            ("sub", [*one, "--results", "sub"], "directory"),
            ("/dev/null", [*one, "--results", "/dev/null"], "not a regular file"),
        ):
            self.refused("E-FILE-WRITE", f" {path}: ", *facts, words=words, ranks=(1, 3) if path == "nope/x.h5" else None)


class Collisions(RefusalTest):
    CASES = [
        ("-o", "deck.yaml", "the input deck and the HDF5 file"),
        ("-o", "./plate.xmf", "the HDF5 file and the XDMF file"),
        ("--results", "deck.yaml", "the input deck and the file of --results"),
        ("--results", "plate.h5", "the HDF5 file and the file of --results"),
        ("--results", "plate.xmf", "the XDMF file and the file of --results"),
    ]

    def test_one_file_for_two_purposes(self):
        for number, (option, path, roles) in enumerate(self.CASES):
            self.refused("E-FILE-SAME", f"{path} ", roles, words=(option, path), ranks=(1,) if number else (1, 3))

    def test_one_file_by_two_names(self):
        self.write("plate.h5", "")
        (self.folder / "link").symlink_to("deck.yaml")
        (self.folder / "hard").hardlink_to(self.folder / "plate.h5")
        for path, role in ("link", "the input deck"), ("hard", "the HDF5 file"):
            self.refused("E-FILE-SAME", f"{path} ", role, "--results", words=("--results", path))


class Written(HeatTest):
    def test_files_are_named(self):
        self.write("deck.yaml", PLATE)
        result = self.passes("deck.yaml", "--results", "plate.json", ranks=2)
        self.assertRegex(result.out, r"(?m)^ +written: plate\.h5, plate\.xmf, plate\.json$")
