# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes on the command line, and what does not fit the number of ranks or the backend."""

import unittest

from launch import HEAT, PINGPONG, starts_several_programs
from refusal import PLATE, RefusalTest

SEE_HELP = "\nRun with --help for more information."


class Usage(RefusalTest):
    def test_the_deck(self):
        """Without one before the arguments."""
        for says, arguments, ranks in (
            ("the input deck is required" + SEE_HELP, [], 1),
            ("nope.yaml: cannot read the deck: No such file or directory", ["nope.yaml"], 1),
            ("nope.yaml: cannot read the deck: No such file or directory", ["nope.yaml"], 3),
            (".: cannot read the deck: it is a directory", ["."], 1),
            ("/proc/self/mem: cannot read the deck: Input/output error", ["/proc/self/mem"], 1),
            ("/dev/zero: the deck has more than 1048576 bytes; this is the most that it may have", ["/dev/zero"], 1),
        ):
            with self.subTest(arguments=arguments, ranks=ranks):
                result = self.heat(*arguments, ranks=ranks, limit=10)
                self.assertEqual((result.code, result.out, result.err), (2, "", says + "\n"))
                self.assertEqual(self.files(), [])

    def test_unexpected_arguments(self):
        for word, ranks in ("--verbos", (1, 3)), ("other.yaml", (1,)):
            self.refused(f"The following argument was not expected: {word}{SEE_HELP}", word, ranks=ranks)


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
                self.assertEqual(self.files(), ["deck.yaml"])


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
                result = self.ends(2, "deck.yaml", ranks=3, limit=10, variables={f"KOKKOS_{name}": value})
                value = value.replace("\x1b", "\\x1b")
                self.assertEqual(result.err, self.SAYS.format(f"KOKKOS_{name}={value}", value) + "\n")
                self.assertEqual(result.out, "")

    def test_what_needs_no_kokkos(self):
        for option in "--schema", "--help", "--list-backends":
            self.passes(option, "--kokkos-threads=abc", limit=10)


class Overrides(RefusalTest):
    def test_keys_and_values(self):
        for override, says in (
            ("comm.backend", "an override is written section.key=value"),
            ("measure.repeats=many", 'measure.repeats expects an integer from 1 to 1000, found "many"'),
            ("solver.max_sweeps.x=1", 'solver.max_sweeps is not a section, it is "5" at deck.yaml:6:36'),
            ("app=cg", "app cannot be overridden; use a deck of that app"),
        ):
            self.refused_set(override, says)
        self.refused_set("comm.backand=raw", "comm.backand is unknown; did you mean comm.backend?", ranks=(1, 3))

    def test_what_does_not_fit_the_ranks(self):
        grid = "decomposition.process_grid"
        for override, says, ranks in (
            (f"{grid}=[2,2]", f"{grid} [2, 2] is for 4 ranks, but there are 1", 1),
            (f"{grid}=[2,2]", f"{grid} [2, 2] is for 4 ranks, but there are 3", 3),
            (f"{grid}=[3]", f"{grid} has length 1; that of problem.cells is 2", 3),
            ("problem.cells=[1,2]", "problem.cells [1, 2] cannot be divided among 3 ranks so that each has a cell; "
                                    "use fewer ranks or more cells", 3),
        ):
            self.refused_set(override, says, ranks=[ranks])
        says = f"{grid} [3, 1] cuts an axis of 2 cells into 3 parts; use fewer ranks or more cells"
        words = "--set", "problem.cells=[2,11]", "--set", f"{grid}=[3,1]"
        self.refused(f"--set {grid}=[3,1]: {says}", *words, ranks=[3])


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
                result = self.ends(2, "deck.yaml", "--set", f"comm.backend={name}", ranks=2, limit=10)
                self.assertRegex(
                    result.err,
                    rf"\A--set comm.backend={name}: comm.backend is not available: backend '{name}' is not in this build, which "
                    rf"has: {', '.join([*built, 'auto'])}; to get it, (configure with -DKONTOR_BACKEND_{name.upper()}=ON|"
                    r"build with (.*, )?a Kokkos that has CUDA \(-DKokkos_ROOT=<prefix>\); docs/gpu\.md has the steps)"
                    r"\n\Z",
                )
                self.assertEqual(result.out, "")

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
