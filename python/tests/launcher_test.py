# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launcher, ranks, cores and threads that kontor run chooses by the machine, its limits and its scheduler. And
what each MPI's launcher is told, here by launchers that tell their version and no more."""

import shlex

from command import DryRunTest

from kontor.limits import Limits

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
COPIES = {"orte": " --mca btl_vader_single_copy_mechanism none", "prrte": " --mca smsc ^cma"}
WORDS = {mpi: {case: f"{words}{COPIES[mpi] if 'strangers' in case else ''} {more}" for case, more in OPEN_MPI.items()}
         for mpi, words in MANNERS.items()}
WORDS["other"] = {}
WORDS["hydra"] = {"root": "-bind-to core:1", "threads": "-bind-to core:2", "nodes, strangers": "-bind-to core:1 -ppn 1", "crowded nodes": "-ppn 2"}


class Launcher(DryRunTest):
    def test_commands(self):
        """More ranks than cores, and launchers other than mpirun; Launchers has what each mpirun is told."""
        self.fake("flux", 'if [[ "$1 $2" == "resource list" ]]; then echo 16; fi')
        exports, many = "-x OMP_NUM_THREADS -x OMP_PROC_BIND", "1 OMP_PROC_BIND=false mpirun -n 3 --quiet --map-by slot:OVERSUBSCRIBE --bind-to none"
        for command, words, variables in (
            *((f"{many} {exports}", words, {}) for words in (["-n", "3"], ["-n3"], ["--ranks=3"], ["-np", "3"])),
            ("2 OMP_PROC_BIND=spread OMP_PLACES=cores flux run -n 8 -c 2 -o cpu-affinity=per-task", [],
             {"FLUX_URI": "local:///run/flux", "OMP_NUM_THREADS": "2"}),
            ("1 mpiexec.hydra -ppn 2 -n 2", [], {"KONTOR_LAUNCHER": "mpiexec.hydra -ppn 2"}),
            ("1 launch --with 'two words' -n 2", [], {"KONTOR_LAUNCHER": "launch --with 'two words'"}),
        ):
            with self.subTest(words, **variables):
                self.assert_command(f"OMP_NUM_THREADS={command} build/bin/heat plate.yaml", "plate.yaml", *words, **variables)
        self.assert_fails(self.kontor("run", "--dry-run", "plate.yaml", KONTOR_LAUNCHER="launch 'two"), "KONTOR_LAUNCHER is 'launch 'two'")

    def test_a_containers_limit_counts(self):
        """Of time, and of CPUs by affinity."""
        for ranks, files in (
            (1, {"sys/fs/cgroup/cpu.max": "100000 100000\n"}),
            (2, {"sys/fs/cgroup/cpu.max": "150000 100000\n"}),
            (2, {"sys/fs/cgroup/cpu.max": "max 100000\n"}),
            (1, {"proc/self/status": "Cpus_allowed:\t8\nCpus_allowed_list:\t3\n"}),
            (1, {"proc/self/status": "Cpus_allowed_list:\t0-1\n"}),  # of one core
            (2, {"proc/self/status": "Cpus_allowed_list:\t0,3\n"}),
        ):
            with self.subTest(files), self.limits(files):
                self.assertIn(f" run -n {ranks} ", self.command(KONTOR_LAUNCHER="run"))

    def test_threads_get_cores_of_their_own(self):
        for name in "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY":  # the user's word holds
            self.assertEqual(self.command(OMP_NUM_THREADS="2", **{name: "0"}).split()[:2], ["OMP_NUM_THREADS=2", "mpirun"])
        self.assert_command("OMP_NUM_THREADS=2,3 OMP_PROC_BIND=spread OMP_PLACES=cores srun -n 2 --cpus-per-task=2 --cpu-bind=cores build/bin/heat plate.yaml",
                            "plate.yaml", OMP_NUM_THREADS="2,3", SLURM_JOB_ID="7", SLURM_NTASKS="2", SLURM_JOB_CPUS_PER_NODE="4")

    def test_the_mpi_that_was_built_with(self):
        self.fake("mpiexec.mpich", "echo HYDRA build details:")
        for mpiexec, words in {"mpiexec": "mpirun -n 1 --quiet --bind-to core -x OMP_NUM_THREADS -x OMP_PROC_BIND",
                               "mpiexec.mpich": f"{self.bin}/mpiexec.mpich -n 1 -bind-to core:1"}.items():
            self.write("machine/sys/fs/cgroup/cpu.max", "100000 100000\n")
            self.write("build/CMakeCache.txt", f"MPIEXEC_EXECUTABLE:FILEPATH={self.bin}/{mpiexec}\n")
            self.assertEqual(self.command(), f"OMP_NUM_THREADS=1 OMP_PROC_BIND=false {words} build/bin/heat plate.yaml\n")

    def test_slurm(self):
        job = {"SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": "4(x2),2", "SLURM_JOB_NUM_NODES": "3"}
        for tasks, words, command in (
            ("8", [], "srun -n 8 --cpus-per-task=1 --cpu-bind=cores"),
            ("", [], "srun -n 10 --cpus-per-task=1 --cpu-bind=cores"),
            ("", ["-n2"], "srun -n 2 --nodes=2 --cpus-per-task=1 --cpu-bind=cores"),
            ("8", ["-n11"], "srun -n 11 --overcommit"),
        ):
            yields = "OMPI_MCA_mpi_yield_when_idle=1 " if "overcommit" in command else ""
            self.assert_command(f"OMP_NUM_THREADS=1 {yields}OMP_PROC_BIND=false {command} build/bin/heat plate.yaml", "plate.yaml", *words,
                                **job, SLURM_NTASKS=tasks)

    def test_slurm_counts_hardware_threads(self):
        """Of which a core here has two, as is known on a node of the job."""
        job = {"SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": "4", "SLURMD_NODENAME": "here"}
        self.assertIn(" srun -n 2 ", self.command(**job))
        for words, shared in (["-n4"], True), (["-n2"], False):
            told = self.succeeds("run", "--dry-run", "plate.yaml", *words, **job).stderr
            self.assertEqual(": 4 threads of ranks are on 2 cores" in told, shared, told)

    def test_slurms_variables(self):
        """What srun would take for options, and what would contradict what it is told, or each other."""
        for variables, without, command in (
            ({"SLURM_CPUS_PER_TASK": "2", "SLURM_TRES_PER_TASK": "cpu:2"}, "CPUS_PER_TASK TRES_PER_TASK", "2 OMP_PROC_BIND=spread OMP_PLACES=cores"),
            ({"SLURM_TRES_PER_TASK": "cpu=2,gres/gpu=1"}, "", "2 SLURM_TRES_PER_TASK=gres/gpu=1 OMP_PROC_BIND=spread OMP_PLACES=cores"),
            ({"SLURM_CPUS_PER_GPU": "4", "SLURM_HINT": "nomultithread"}, "CPUS_PER_GPU HINT", "1 OMP_PROC_BIND=false"),
            ({"SLURM_MEM_PER_CPU": "1", "SLURM_MEM_PER_NODE": "2"}, "MEM_PER_CPU MEM_PER_NODE", "1 OMP_PROC_BIND=false"),
            ({"SLURM_NTASKS_PER_NODE": "2", "SLURM_NTASKS_PER_GPU": "1"}, "", "1 OMP_PROC_BIND=false"),
        ):
            with self.subTest(variables):
                env = "env " + " ".join(f"-u SLURM_{name}" for name in without.split()) + " " if without else ""
                told = self.command(SLURM_JOB_ID="7", SLURM_NTASKS="2", SLURM_JOB_CPUS_PER_NODE="4", **variables)
                self.assertEqual(told.partition(" srun -n 2 ")[0], f"{env}OMP_NUM_THREADS={command}")
        told = self.command("-n3", SLURM_JOB_ID="7", SLURM_NTASKS="2", SLURM_NTASKS_PER_NODE="2", SLURM_NTASKS_PER_GPU="1")
        self.assertRegex(told, r"\Aenv -u SLURM_NTASKS_PER_NODE -u SLURM_NTASKS_PER_GPU OMP_NUM_THREADS=1 ")

    def test_cpus_that_the_caller_has_chosen(self):
        """As by taskset: Open MPI would bind to others."""
        for allowed, threads, words in (
            ("3", "1", "1 OMP_PROC_BIND=false mpirun -n 1 --quiet --bind-to none"),
            ("1-2", "2", "2 OMP_PROC_BIND=spread OMP_PLACES=cores mpirun -n 1 --quiet --bind-to none"),
            ("0,2", "1", "1 OMP_PROC_BIND=false mpirun -n 2 --quiet --bind-to none"),
            ("0-3", "1", "1 OMP_PROC_BIND=false mpirun -n 2 --quiet --bind-to core"),
        ):
            files = {"proc/self/status": f"Cpus_allowed_list:\t{allowed}\n", "sys/devices/system/cpu/online": "0-3\n"}
            with self.subTest(files), self.limits(files):
                self.assertIn(f"OMP_NUM_THREADS={words} -x ", self.command(OMP_NUM_THREADS=threads))

    def test_slurms_settings(self):
        """Nothing is bound where nothing can be; and what MPI speaks is asked for where it is not the default."""
        self.fake("srun", "[[ $1 == --mpi=list ]] && echo MPI plugin types are pmix none pmi2 >&2")
        for mpich, default, mpi in ("", "none", " --mpi=pmix"), ("", "pmix_v4", ""), ("1", "pmix", " --mpi=pmi2"), ("1", "cray_shasta", ""):
            self.fake("scontrol", f"printf 'MpiDefault  = {default}\nTaskPlugin   = task/none\n'")
            self.write("build/CMakeCache.txt", f"KONTOR_MPI_IS_MPICH:INTERNAL={mpich}\n")
            done = self.kontor("run", "--dry-run", "plate.yaml", SLURM_JOB_ID="7", SLURM_NTASKS="2")
            self.assertEqual(done.stdout, f"OMP_NUM_THREADS=1 OMP_PROC_BIND=false srun -n 2{mpi} --cpus-per-task=1 build/bin/heat plate.yaml\n")

    def test_ranks_on_a_node(self):
        """As a study asks for them."""
        self.assertIn(" --nodes=2 --ntasks-per-node=2 build/bin/heat", self.command(SLURM_JOB_ID="7", SLURM_NTASKS="4", KONTOR_RANKS_PER_NODE="2"))
        self.assert_fails(self.kontor("run", "--dry-run", "plate.yaml", KONTOR_RANKS_PER_NODE="two"), "KONTOR_RANKS_PER_NODE is 'two'")

    def test_a_limit_of_memory_counts_for_studies(self):
        for limit, files in (None, {}), (3000000000, {"sys/fs/cgroup/memory.max": "3000000000\n"}), (None, {"sys/fs/cgroup/memory.max": "max\n"}):
            with self.subTest(limit), self.limits(files):
                self.assertEqual(Limits(self.environment).memory, limit)


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
        self.fake("mpirun", "echo 'mpirun (Open MPI) 4.1.4' >&2")
        self.assertEqual(self.command(), "OMP_NUM_THREADS=1 OMP_PROC_BIND=false mpirun -n 2 build/bin/heat plate.yaml\n")

    def test_the_users_word_about_open_mpi_5_holds(self):
        self.fake("mpirun", f"echo '{VERSIONS['prrte']}'")
        self.assertIn("mpirun -n 2 --mca btl_sm_free_list_max 4096 --bind-to", self.command(OMPI_MCA_btl_tcp_disable_family="4"))
