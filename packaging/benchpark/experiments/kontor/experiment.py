# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Benchpark: the mini-apps as experiments; the application is packaging/ramble, the package packaging/spack.

    benchpark experiment init --dest=kontor SYSTEM kontor workload=cg exec_mode=perf +weak
"""

from benchpark.cuda import CudaExperiment
from benchpark.directives import maintainers, variant
from benchpark.experiment import Experiment
from benchpark.mpi import MpiOnlyExperiment
from benchpark.openmp import OpenMPExperiment
from benchpark.rocm import ROCmExperiment
from benchpark.scaling import Scaling, ScalingMode

# Size of a test, of a measurement, and of one rank in weak scaling; dimensions of the problem; ranks to begin with.
SIZES = {
    "heat": (64, 8192, 4096, 2, 1),
    "cg": (12, 104, 104, 3, 1),
    "matmul": (128, 4096, 2048, 2, 1),
    "advection": (1000, 1000000, 500000, 1, 1),
    "pingpong": (16, 128, 128, 1, 2),
}


def doubled(var, itr, dim, scaling_factor):
    return var.val(dim) * scaling_factor


def same(var, itr, dim, scaling_factor):
    return var.val(dim)


class Kontor(
    Experiment,
    MpiOnlyExperiment,
    OpenMPExperiment,
    CudaExperiment,
    ROCmExperiment,
    Scaling(ScalingMode.Strong, ScalingMode.Weak, ScalingMode.Throughput),
):
    variant("workload", default="heat", values=tuple(SIZES), description="mini-app")
    variant("version", default="main", description="version of kontor")
    variant(
        "backend",
        default="raw",
        values=("raw", "view", "shm", "nccl", "ipc", "null", "auto"),
        description="comm.backend of the deck",
    )

    maintainers("kontor")

    def compute_applications_section(self):
        app = self.spec.variants["workload"][0]
        test, full, of_rank, dimensions, ranks = SIZES[app]
        local = self.spec.satisfies("+weak") and app != "pingpong"
        is_test = self.spec.satisfies("exec_mode=test")
        self.add_experiment_variable("n", test if is_test else of_rank if local else full, True)
        self.add_experiment_variable("resource_count", 2 if is_test else ranks, True)
        self.add_experiment_variable("local", "true" if local else "false", False)
        self.add_experiment_variable("backend", self.spec.variants["backend"][0], True)

        self.register_scaling_config(
            {
                ScalingMode.Strong: {"resource_count": doubled, "n": same},
                ScalingMode.Weak: {"resource_count": doubled, "n": same},
                ScalingMode.Throughput: {"resource_count": same, "n": doubled},
            }
        )

        size = "*".join(["{n}"] * dimensions)
        self.set_required_variables(
            n_resources="{resource_count}",
            process_problem_size=size if local else f"{size}/{{n_resources}}",
            total_problem_size=f"{size}*{{n_resources}}" if local else size,
        )
        on_gpus = self.spec.satisfies("+cuda") or self.spec.satisfies("+rocm")
        self.add_experiment_variable("n_gpus" if on_gpus else "n_ranks", "{n_resources}", True)
        self.add_experiment_variable("n_threads_per_proc", 2 if self.spec.satisfies("+openmp") and is_test else 1, True)

    def compute_package_section(self):
        self.add_package_spec(self.name, [f"kontor{self.determine_version()}"])
