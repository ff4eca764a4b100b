# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ramble: the mini-apps as workloads, their figures of merit read from the JSON record of the run.

    ramble repo add /path/to/kontor/packaging/ramble
"""

import json
import statistics
from pathlib import Path

from ramble.appkit import *

# Deck, size n by default, and the keys that take it. With local: true it is the size of one rank (weak scaling).
WORKLOADS = {
    "heat": ("heat/bandwidth.yaml", "8192", "--set problem.cells=[{n},{n}] --set problem.local={local}"),
    "cg": ("cg/hpcg-matrix.yaml", "104", "--set problem.stencil.points=[{n},{n},{n}] --set problem.local={local}"),
    "matmul": ("matmul/square.yaml", "4096", "--set problem.m={n} --set problem.n={n} --set problem.k={n} --set problem.local={local}"),
    "advection": ("advection/wave.yaml", "100000", "--set problem.cells={n} --set problem.local={local}"),
    "dynamics": ("dynamics/bar.yaml", "64", "--set problem.elements=[{n},{n},{n}] --set problem.size=[5,5,5] --set problem.local={local}"),
    "kernels": ("kernels/gram-schmidt.yaml", "1048576", "--set problem.sizes=[{n}]"),
    "pingpong": ("pingpong/halo.yaml", "128", "--set problem.sizes.from=8 --set problem.sizes.to={n}"),
}
FIGURES = {
    "cell_updates": "1/s",
    "effective_bandwidth": "B/s",
    "flops": "flop/s",
    "minife_flops": "flop/s",
    "flops_fast": "flop/s",
    "element_steps": "1/s",
    "flops_of_steps": "flop/s",
    "iterations": "1/s",
    "halo_exchange": "s",
    "seconds": "s",  # of a repeat, the median
}


class Kontor(ExecutableApplication):
    """Kokkos mini-apps over a swappable communication layer."""

    name = "kontor"
    tags("mini-app", "mpi", "kokkos", "communication")

    required_package("kontor")
    software_spec("kontor", pkg_spec="kontor")

    for app, (deck, size, keys) in WORKLOADS.items():
        command = f"{app} {{decks}}/{deck} --quiet {keys} --set comm.backend={{backend}} {{arguments}}"
        executable(app, f"{command} -o run.h5 --results record.json", use_mpi=True)
        workload(app, executables=[app])
        workload_variable("n", default=size, description="size of the problem along each axis", workloads=[app])
        workload_variable("local", default="false", description="whether n is that of one rank", workloads=[app])
        workload_variable("backend", default="raw", description="word of comm.backend", workloads=[app])
        workload_variable("arguments", default="", description="more options of the program", workloads=[app])
        workload_variable("decks", default="{kontor_path}/share/kontor/inputs", description="decks", workloads=[app])

    for figure, unit in FIGURES.items():
        figure_of_merit(
            figure,
            log_file="{experiment_run_dir}/figures.txt",
            fom_regex=rf"^{figure} = (?P<value>\S+)",
            group_name="value",
            units=unit,
        )

    success_criteria("verified", mode="string", match=r"^VERIFICATION PASSED$", file="{log_file}")

    def _prepare_analysis(self, workspace, app_inst=None):
        """Writes the figures of the record, a line each, for figure_of_merit()."""
        folder = Path(self.expander.expand_var_name("experiment_run_dir"))
        if not (folder / "record.json").exists():
            return
        record = json.loads((folder / "record.json").read_text())
        lines = [f"{name} = {merit['value']}" for name, merit in record.get("figures_of_merit", {}).items()]
        lines.append(f"seconds = {statistics.median(record['repeats'])}")
        (folder / "figures.txt").write_text("\n".join(lines) + "\n")
