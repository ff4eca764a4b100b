# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kontor/run/mpi.py: what each MPI's launcher is told, here by launchers that tell their version and no more."""

import shlex
import subprocess
import sys

from command import PACKAGE, DryRunTest

VERSIONS = {
    "orte": "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/",
    "prrte": "mpirun (Open MPI) 5.0.7\n\nReport bugs to https://www.open-mpi.org/community/help/",
    "hydra": "HYDRA build details:\n    Version:                                 4.0.2\n    CC:                              gcc",
    "other": "launcher 4.1",
}
# The case: ranks, variables, the user, and whether ranks may read each other's memory.
CASES = {
    "root": (2, {"KONTOR_RANKS_PER_NODE": "2"}, 0, True),
    "threads": (1, {"OMP_NUM_THREADS": "2", "KONTOR_START_SECONDS": "9"}, 1000, True),
    "crowded": (3, {}, 1000, True),
    "nodes, strangers": (2, {"KONTOR_RANKS_PER_NODE": "1"}, 1000, False),
    "crowded nodes": (4, {"KONTOR_RANKS_PER_NODE": "2"}, 1000, True),
}
# The words between `mpirun -n RANKS` and the program.
OPEN_MPI = {
    "root": "--allow-run-as-root --bind-to core -x OMP_NUM_THREADS -x OMP_PROC_BIND",
    "threads": "--map-by slot:PE=2 --bind-to core -x OMP_NUM_THREADS -x OMP_PROC_BIND -x OMP_PLACES -x KONTOR_START_SECONDS",
    "crowded": "--map-by slot:OVERSUBSCRIBE --bind-to none -x OMP_NUM_THREADS -x OMP_PROC_BIND",
    "nodes, strangers": "--map-by ppr:1:node --bind-to core -x OMP_NUM_THREADS -x OMP_PROC_BIND",
    "crowded nodes": "--map-by ppr:2:node:OVERSUBSCRIBE --bind-to none -x OMP_NUM_THREADS -x OMP_PROC_BIND",
}
MANNERS = {"orte": "--quiet", "prrte": "--mca btl_tcp_disable_family 6 --mca btl_sm_free_list_max 4096"}
WORDS = {mpi: {case: f"{words} {more}" for case, more in OPEN_MPI.items()} for mpi, words in MANNERS.items()}
WORDS["orte"]["nodes, strangers"] += " --mca btl_vader_single_copy_mechanism none"
WORDS["prrte"]["nodes, strangers"] += " --mca smsc ^cma"
WORDS["other"] = {"nodes, strangers": "-ppn 1", "crowded nodes": "-ppn 2"}
WORDS["hydra"] = {"root": "-bind-to core:1", "threads": "-bind-to core:2", "nodes, strangers": "-bind-to core:1 -ppn 1", "crowded nodes": "-ppn 2"}
# What tests have in their environment so that more ranks than cores can be started; {} of Hydra.
CROWDED = {
    "orte": {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"},
    "prrte": {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none"},
}
CROWDED["other"] = CROWDED["orte"] | CROWDED["prrte"]


class Launchers(DryRunTest):
    def test_words(self):
        for mpi, version in VERSIONS.items():
            self.fake("mpirun", f"echo 'a line of a wrapper'; echo 'mpirun: mpirun (Open MPI) 9.9' >&2; echo '{version}'")
            for case, (ranks, variables, user, readable) in CASES.items():
                self.patch(user, readable)
                with self.subTest(mpi=mpi, case=case):
                    words = shlex.split(self.command(f"-n{ranks}", **variables))[:-2]  # without the program and the deck
                    variables_of_threads = ["OMP_PROC_BIND=spread", "OMP_PLACES=cores"] if case == "threads" else ["OMP_PROC_BIND=false"]
                    self.assertEqual(words[1:], [*variables_of_threads, "mpirun", "-n", str(ranks), *WORDS[mpi].get(case, "").split()])

    def test_only_stdout_tells(self):
        self.assertIn("mpirun -n 2 --quiet", self.command(LD_PRELOAD="/no/such.so"))
        self.fake("mpirun", "echo 'mpirun (Open MPI) 4.1.4' >&2")
        self.assertEqual(self.command(), "OMP_NUM_THREADS=1 OMP_PROC_BIND=false mpirun -n 2 build/bin/heat plate.yaml\n")

    def test_the_users_word_about_open_mpi_5_holds(self):
        self.fake("mpirun", f"echo '{VERSIONS['prrte']}'")
        self.assertIn("mpirun -n 2 --mca btl_sm_free_list_max 4096 --bind-to", self.command(OMPI_MCA_btl_tcp_disable_family="4"))

    def test_what_tests_have_in_their_environment(self):
        for mpi, version in VERSIONS.items():
            self.fake("mpirun", f"echo '{version}'")
            told = subprocess.run([sys.executable, PACKAGE / "run/mpi.py", self.bin / "mpirun"], stdout=subprocess.PIPE, text=True, check=True, timeout=60)
            variables = dict(line.split("=", 1) for line in told.stdout.splitlines())
            with self.subTest(mpi=mpi):
                of_launcher = {name: value for name, value in variables.items() if "rmaps" in name or "hwloc" in name}
                self.assertEqual(of_launcher, CROWDED.get(mpi, {}))
                self.assertEqual(variables.get("OMPI_MCA_mpi_yield_when_idle"), "1" if of_launcher else None)
