# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launcher, ranks, cores and threads that kontor run chooses by the machine, its limits and its scheduler. And
what each MPI's launcher is told, here by launchers that tell their version and no more."""

from command import DryRunTest

from kontor.limits import Limits

VERSIONS = {
    "orte": "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/",
    "prrte": "mpirun (Open MPI) 5.0.7\n\nReport bugs to https://www.open-mpi.org/community/help/",
    "hydra": "HYDRA build details:\n    Version:                                 4.0.2",
    "other": "launcher 4.1",
}
# The words between `mpirun -n RANKS` and the program, but for what only one of the two launchers of Open MPI is told.
EXPORTS = "-x OMP_NUM_THREADS -x OMP_PROC_BIND"
# Ranks, variables, the user; the words for Open MPI, and for Hydra.
CASES = (
    (2, {"KONTOR_RANKS_PER_NODE": "2"}, 0, f"--allow-run-as-root --bind-to core {EXPORTS}", "-bind-to core:1"),
    (1, {"OMP_NUM_THREADS": "2", "KONTOR_START_SECONDS": "9"}, 1000,
     f"--map-by slot:PE=2 --bind-to core {EXPORTS} -x OMP_PLACES -x KONTOR_START_SECONDS", "-bind-to core:2"),
    (3, {}, 1000, f"--map-by slot:OVERSUBSCRIBE --bind-to none {EXPORTS}", ""),
    (2, {"KONTOR_RANKS_PER_NODE": "1"}, 1000, f"--map-by ppr:1:node --bind-to core {EXPORTS}",
     "-bind-to core:1 -ppn 1"),
    (4, {"KONTOR_RANKS_PER_NODE": "2"}, 1000, f"--map-by ppr:2:node:OVERSUBSCRIBE --bind-to none {EXPORTS}",
     "-ppn 2"),
)
MANNERS = {"orte": "--quiet ", "prrte": "--mca btl_tcp_disable_family 6 --mca btl_sm_free_list_max 4096 "}
FREE, SPREAD = "OMP_PROC_BIND=false", "OMP_PROC_BIND=spread OMP_PLACES=cores"
JOB = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "2"}
PARTS = {"SLURM_NTASKS_PER_NODE": "2", "SLURM_NTASKS_PER_GPU": "1"}
OF_THREE = {"SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": "4(x2),2", "SLURM_JOB_NUM_NODES": "3"}
BOUND = "--cpus-per-task=1 --cpu-bind=cores"


class Launcher(DryRunTest):
    def test_commands(self):
        """More ranks than cores, and launchers other than mpirun, by words and variables."""
        self.fake("flux", 'if [[ "$1 $2" == "resource list" ]]; then echo 16; fi')
        many = f"1 {FREE} mpirun -n 3 --quiet --map-by slot:OVERSUBSCRIBE --bind-to none {EXPORTS}"
        for command, words, variables in (
            *((many, words, {}) for words in (["-n", "3"], ["-n3"], ["--ranks=3"], ["-np", "3"])),
            (f"2 {SPREAD} flux run -n 8 -c 2 -o cpu-affinity=per-task", [],
             {"FLUX_URI": "local:///run/flux", "OMP_NUM_THREADS": "2"}),
            ("1 mpiexec.hydra -ppn 2 -n 2", [], {"KONTOR_LAUNCHER": "mpiexec.hydra -ppn 2"}),
            ("1 launch --with 'two words' -n 2", [], {"KONTOR_LAUNCHER": "launch --with 'two words'"}),
            # Slurm, with the job's tasks, or what fills its CPUs.
            (f"1 {FREE} srun -n 8 {BOUND}", [], {**OF_THREE, "SLURM_NTASKS": "8"}),
            (f"1 {FREE} srun -n 10 {BOUND}", [], OF_THREE),
            (f"1 {FREE} srun -n 2 --nodes=2 {BOUND}", ["-n2"], OF_THREE),
            (f"1 OMPI_MCA_mpi_yield_when_idle=1 {FREE} srun -n 11 --overcommit", ["-n11"],
             {**OF_THREE, "SLURM_NTASKS": "8"}),
            (f"2,3 {SPREAD} srun -n 2 --cpus-per-task=2 --cpu-bind=cores", [],
             {**JOB, "OMP_NUM_THREADS": "2,3", "SLURM_JOB_CPUS_PER_NODE": "4"}),
            (f"1 {FREE} srun -n 4 {BOUND} --nodes=2 --ntasks-per-node=2", [],  # as a study asks for it
             {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_JOB_CPUS_PER_NODE": "4", "KONTOR_RANKS_PER_NODE": "2"}),
        ):
            with self.subTest(words, **variables):
                expected = f"OMP_NUM_THREADS={command} build/bin/heat plate.yaml"
                self.assert_command(expected, "plate.yaml", *words, **variables)
        for name, value in ("KONTOR_LAUNCHER", "launch 'two"), ("KONTOR_RANKS_PER_NODE", "two"):
            done = self.kontor("run", "--dry-run", "plate.yaml", **{name: value})
            self.assert_fails(done, f"{name} is '{value}'")
        for name in "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY":  # the user's word holds
            words = self.command(OMP_NUM_THREADS="2", **{name: "0"}).split()
            self.assertEqual(words[:2], ["OMP_NUM_THREADS=2", "mpirun"])

    def test_limits_of_containers_and_callers(self):
        """Of time, and of CPUs by affinity, as by taskset: Open MPI would bind to others. Two hardware threads share a
        core."""
        def status(allowed):
            return {"proc/self/status": f"Cpus_allowed_list:\t{allowed}\n", "sys/devices/system/cpu/online": "0-3\n"}

        for ranks, threads, binding, files in (
            (1, "1", "core", {"sys/fs/cgroup/cpu.max": "100000 100000\n"}),
            (2, "1", "core", {"sys/fs/cgroup/cpu.max": "150000 100000\n"}),
            (2, "1", "core", {"sys/fs/cgroup/cpu.max": "max 100000\n"}), (1, "1", "none", status("0-1")),
            (1, "1", "none", status("3")), (1, "2", "none", status("1-2")), (2, "1", "none", status("0,2")),
            (2, "1", "core", status("0-3")),
        ):
            with self.subTest(files), self.limits(files):
                place = SPREAD if threads == "2" else FREE
                self.assertIn(f"{threads} {place} mpirun -n {ranks} --quiet --bind-to {binding} -x ",
                              self.command(OMP_NUM_THREADS=threads))
        for limit, text in (None, "max"), (3000000000, "3000000000"):
            with self.subTest(limit), self.limits({"sys/fs/cgroup/memory.max": f"{text}\n"}):
                self.assertEqual(Limits(self.environment).memory, limit)

    def test_the_mpi_that_was_built_with(self):
        self.fake("mpiexec.mpich", "echo HYDRA build details:")
        for mpiexec, words in {"mpiexec": f"mpirun -n 2 --quiet --bind-to core {EXPORTS}",
                               "mpiexec.mpich": f"{self.bin}/mpiexec.mpich -n 2 -bind-to core:1"}.items():
            self.write("build/CMakeCache.txt", f"MPIEXEC_EXECUTABLE:FILEPATH={self.bin}/{mpiexec}\n")
            self.assertEqual(self.command(), f"OMP_NUM_THREADS=1 {FREE} {words} build/bin/heat plate.yaml\n")

    def test_slurm_counts_hardware_threads(self):
        """Of which a core here has two, as is known on a node of the job."""
        job = {"SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": "4", "SLURMD_NODENAME": "here"}
        for words, ranks in ([], 2), (["-n4"], 4):
            done = self.succeeds("run", "--dry-run", "plate.yaml", *words, **job)
            self.assertIn(f" srun -n {ranks} ", done.stdout)
            self.assertEqual(": 4 threads of ranks are on 2 cores" in done.stderr, ranks == 4, done.stderr)

    def test_slurms_variables(self):
        """What srun would take for options, and what would contradict what it is told, or each other."""
        for ranks, variables, without, command in (
            (2, {"SLURM_CPUS_PER_TASK": "2", "SLURM_TRES_PER_TASK": "cpu:2"}, "CPUS_PER_TASK TRES_PER_TASK", f"2 {SPREAD}"),
            (2, {"SLURM_TRES_PER_TASK": "cpu=2,gres/gpu=1"}, "", f"2 SLURM_TRES_PER_TASK=gres/gpu=1 {SPREAD}"),
            (2, {"SLURM_CPUS_PER_GPU": "4", "SLURM_HINT": "nomultithread"}, "CPUS_PER_GPU HINT", f"1 {FREE}"),
            (2, {"SLURM_MEM_PER_CPU": "1", "SLURM_MEM_PER_NODE": "2"}, "MEM_PER_CPU MEM_PER_NODE", f"1 {FREE}"),
            (2, PARTS, "", f"1 {FREE}"), (3, PARTS, "NTASKS_PER_NODE NTASKS_PER_GPU", f"1 {FREE}"),
        ):
            with self.subTest(variables):
                env = "env " + " ".join(f"-u SLURM_{name}" for name in without.split()) + " " if without else ""
                told = self.command(f"-n{ranks}", **JOB, SLURM_JOB_CPUS_PER_NODE="4", **variables)
                self.assertEqual(told.partition(f" srun -n {ranks} ")[0], f"{env}OMP_NUM_THREADS={command}")

    def test_slurms_settings(self):
        """Nothing is bound where nothing can be; and what MPI speaks is asked for where it is not the default."""
        self.fake("srun", "[[ $1 == --mpi=list ]] && echo MPI plugin types are pmix none pmi2 >&2")
        for mpich, default, mpi in (("", "none", " --mpi=pmix"), ("", "pmix_v4", ""), ("1", "pmix", " --mpi=pmi2"),
                                    ("1", "cray_shasta", "")):
            self.fake("scontrol", f"printf 'MpiDefault  = {default}\nTaskPlugin   = task/none\n'")
            self.write("build/CMakeCache.txt", f"KONTOR_MPI_IS_MPICH:INTERNAL={mpich}\n")
            self.assertIn(f"OMP_NUM_THREADS=1 {FREE} srun -n 2{mpi} --cpus-per-task=1 build/bin/", self.command(**JOB))

    def test_words_for_each_mpi(self):
        for mpi, version in VERSIONS.items():
            self.fake("mpirun", f"echo 'a line of a wrapper'; echo 'mpirun (Open MPI) 9.9' >&2; echo '{version}'")
            for ranks, variables, user, open_mpi, hydra in CASES:
                self.patch(user)
                words = f"{MANNERS[mpi]}{open_mpi} " if mpi in MANNERS else f"{hydra} " if mpi == "hydra" and hydra else ""
                place = SPREAD if "OMP_NUM_THREADS" in variables else FREE
                with self.subTest(mpi=mpi, ranks=ranks, **variables):
                    self.assertIn(f" {place} mpirun -n {ranks} {words}build/", self.command(f"-n{ranks}", **variables))
        for mpi, copies in ("orte", "btl_vader_single_copy_mechanism none"), ("prrte", "smsc '^cma'"):  # as in a container
            self.fake("mpirun", f"echo '{VERSIONS[mpi]}'")
            self.patch(1000, "if 'launcher' in globals(): launcher.ranks_can_read_each_other = lambda: False")
            self.assertIn(f" --mca {copies} ", self.command())
        self.patch(1000)
        self.fake("mpirun", "echo 'mpirun (Open MPI) 4.1.4' >&2")
        self.assertIn(f" {FREE} mpirun -n 2 build/", self.command(), "only stdout counts")
        self.fake("mpirun", f"echo '{VERSIONS['prrte']}'")  # the user's word about Open MPI 5 holds
        self.assertIn("mpirun -n 2 --mca btl_sm_free_list_max 4096 --bind-to",
                      self.command(OMPI_MCA_btl_tcp_disable_family="4"))
