# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes on the command line, and what does not fit the number of ranks or the backend."""

import unittest

from launch import HEAT, PINGPONG, starts_several_programs
from refusal import PLATE, RefusalTest

SEE_HELP = "\nRun with --help for more information."


class Usage(RefusalTest):
    def refused_alone(self, says, *arguments, ranks=(1,)):
        """Without a deck before the arguments."""
        for count in ranks:
            with self.subTest(arguments=arguments, ranks=count):
                result = self.heat(*arguments, ranks=count, limit=10)
                self.assertEqual((result.code, result.out, result.err), (2, "", says + "\n"))
                self.assertEqual(self.files(), [])

    def test_no_deck(self):
        self.refused_alone("the input deck is required" + SEE_HELP)

    def test_deck_does_not_exist(self):
        self.refused_alone("nope.yaml: cannot read the deck: No such file or directory", "nope.yaml", ranks=(1, 3))

    def test_deck_is_a_directory(self):
        self.refused_alone(".: cannot read the deck: it is a directory", ".")

    def test_deck_cannot_be_read(self):
        self.refused_alone("/proc/self/mem: cannot read the deck: Input/output error", "/proc/self/mem")

    def test_deck_without_an_end(self):
        self.refused_alone(
            "/dev/zero: the deck has more than 1048576 bytes; this is the most that it may have", "/dev/zero"
        )

    def test_unknown_flag(self):
        self.refused("The following argument was not expected: --verbos" + SEE_HELP, "--verbos", ranks=(1, 3))

    def test_two_decks(self):
        self.refused("The following argument was not expected: other.yaml" + SEE_HELP, "other.yaml")


class Starts(RefusalTest):
    """One launch line of several programs, as mpirun and srun have it."""

    def setUp(self):
        super().setUp()
        if not starts_several_programs():
            self.skipTest("this mpirun does not start several programs")

    def refused_beside(self, first, others):
        """`others` are a program and its arguments, for a second rank."""
        deck = str(self.write("deck.yaml", PLATE))
        first = [deck if a == "deck" else a for a in first]
        others = [deck if a == "deck" else a for a in others]
        result = self.heat(*first, ":", "-n", "1", *others, limit=20)
        names = {HEAT: "heat", PINGPONG: "pingpong"}
        for says in (
            "rank 0 runs '" + " ".join(["heat", *first]) + "'",
            "rank 1 runs '" + " ".join([names[others[0]], *others[1:]]) + "'",
        ):
            self.assertIn(says, result.err)
        self.assertEqual((result.code, result.out), (2, ""), result)
        self.assertEqual(self.files(), ["deck.yaml"])

    def test_other_app(self):
        self.refused_beside(["deck"], [PINGPONG, "deck"])

    def test_other_options(self):
        self.refused_beside(["deck"], [HEAT, "deck", "--set", "comm.backend=view"])

    def test_other_output(self):
        self.refused_beside(["deck", "-o", "a.h5"], [HEAT, "deck", "-o", "b.h5"])

    def test_wrong_on_one_rank(self):
        self.refused_beside(["deck"], [HEAT, "deck", "--verbos"])

    def test_schema_on_one_rank(self):
        self.refused_beside(["--schema"], [HEAT, "deck"])


class Kokkos(RefusalTest):
    """What Kokkos would end the program for."""

    SAYS = '{}: Kokkos expects a whole number, found "{}"'

    def test_arguments(self):
        for argument, value, ranks in (
            ("--kokkos-threads=abc", "abc", [1, 3]), ("--kokkos-device-id=abc", "abc", [3]),
            ("--kokkos-num-devices=1,x", "1,x", [1]), ("--kokkos-threads", "", [1]),
        ):
            self.refused(self.SAYS.format(argument, value), argument, ranks=ranks)
        says = "--kokkos-nonsense=1: Kokkos has no such option; --kokkos-help shows those of this version"
        self.refused(says, "--kokkos-nonsense=1", ranks=[1, 3])

    def test_variables(self):
        self.write("deck.yaml", PLATE)
        for name, value in ("NUM_THREADS", "abc"), ("DEVICE_ID", "1\x1b[2J"):
            with self.subTest(name=name):
                result = self.heat("deck.yaml", ranks=3, limit=10, variables={f"KOKKOS_{name}": value})
                value = value.replace("\x1b", "\\x1b")
                self.assertEqual(result.err, self.SAYS.format(f"KOKKOS_{name}={value}", value) + "\n")
                self.assertEqual((result.out, result.code), ("", 2))

    def test_what_needs_no_kokkos(self):
        for option in "--schema", "--help", "--list-backends":
            self.passes(option, "--kokkos-threads=abc", limit=10)


class Overrides(RefusalTest):
    def test_unknown_key(self):
        self.refused_set("comm.backand=raw", "comm.backand is unknown; did you mean comm.backend?", ranks=(1, 3))

    def test_no_value(self):
        self.refused_set("comm.backend", "an override is written section.key=value")

    def test_bad_value(self):
        self.refused_set("measure.repeats=many", 'measure.repeats expects an integer from 1 to 1000, found "many"')

    def test_key_below_a_value(self):
        self.refused_set(
            "solver.max_sweeps.x=1", 'solver.max_sweeps is not a section, it is "5" at deck.yaml:6:36'
        )

    def test_app(self):
        self.refused_set("app=cg", "app cannot be overridden; use a deck of that app")


class Ranks(RefusalTest):
    def test_process_grid_of_other_ranks(self):
        for ranks in 1, 3:
            self.refused_set(
                "decomposition.process_grid=[2,2]",
                f"decomposition.process_grid [2, 2] is for 4 ranks, but there are {ranks}",
                ranks=[ranks],
            )

    def test_process_grid_of_other_dimensions(self):
        self.refused_set(
            "decomposition.process_grid=[3]", "decomposition.process_grid has length 1; that of problem.cells is 2",
            ranks=(3,),
        )

    def test_process_grid_finer_than_the_cells(self):
        self.refused(
            "--set decomposition.process_grid=[3,1]: decomposition.process_grid [3, 1] cuts an axis of 2 cells into 3 "
            "parts; use fewer ranks or more cells",
            *("--set", "problem.cells=[2,11]", "--set", "decomposition.process_grid=[3,1]"),
            ranks=[3],
        )

    def test_more_ranks_than_cells(self):
        self.refused_set(
            "problem.cells=[1,2]",
            "problem.cells [1, 2] cannot be divided among 3 ranks so that each has a cell; "
            "use fewer ranks or more cells",
            ranks=[3],
        )


class Backends(RefusalTest):
    def test_unknown(self):
        listed = self.heat("--list-backends", ranks=1, limit=10).out
        *others, last = [line.split()[0] for line in listed.splitlines()]
        self.refused_set(
            "comm.backend=vieww",
            f'comm.backend expects {", ".join(others)} or {last}, found "vieww"; did you mean view?',
        )

    def test_not_in_this_build(self):
        listed = [line.split(maxsplit=3) for line in self.heat("--list-backends", ranks=1, limit=10).out.splitlines()]
        built = [name for name, state, *_ in listed if state == "built"]
        for name in [name for name, state, *_ in listed if state == "not"]:
            with self.subTest(backend=name):
                self.write("deck.yaml", PLATE)
                result = self.heat("deck.yaml", "--set", f"comm.backend={name}", ranks=2, limit=10)
                self.assertRegex(
                    result.err,
                    rf"\A--set comm.backend={name}: comm.backend is not available: backend '{name}' is not in this build, which "
                    rf"has: {', '.join([*built, 'auto'])}; to get it, (configure with -DKONTOR_BACKEND_{name.upper()}=ON|"
                    r"build with (.*, )?a Kokkos that has CUDA \(-DKokkos_ROOT=<prefix>\); docs/gpu\.md has the steps)"
                    r"\n\Z",
                )
                self.assertEqual((result.out, result.code), ("", 2))

    def test_datatypes_on_raw(self):
        self.refused_set(
            "comm.packing=datatype",
            "comm.packing is not available: backend 'raw' takes contiguous buffers only, so packing 'datatype' is not "
            "possible; choose packing 'kernel', 'none' or 'auto', or backend view",
            ranks=(1, 3),
        )

    def test_no_packing_where_a_face_does_not_lie_in_one_piece(self):
        for backend in "raw", "view":
            self.refused(
                "exchange 'heat/halo of u': on rank 0, View 'heat/u', (1, 11, 1) double, from rank 1 does not "
                "lie in one piece in the order of the message, and packing is 'none'; choose packing 'kernel', or "
                "contiguous Views of equal layout at both ends",
                *("--set", "comm.packing=none", "--set", f"comm.backend={backend}"),
                *("--set", "decomposition.process_grid=[3,1]"),
                ranks=[3],
            )


if __name__ == "__main__":
    unittest.main()
