# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What was run where, and what did not run."""

from .report_parts import Part, Section, Table
from .series import count_of
from .study import PASSED, Point, Study
from .text import quantity

RUN_KEYS = {"version": "Kontor", "execution_space": "execution space", "kokkos_version": "Kokkos", "mpi_library": "MPI", "compiler": "compiler",
            "flags": "flags", "precision": "precision"}


def failure_section(study: Study) -> Section:
    rows = []
    for point in study.points:
        if point.skipped:
            rows.append([point.id, describe(point), "-", "skipped", str(point.skipped)])
        for run in point.runs:
            again = f" after {run.attempts} attempts" if run.attempts > 1 else ""
            if run.problem:
                rows.append([point.id, describe(point), str(run.repeat), "not read", run.problem])
            elif run.state != PASSED or again:
                code = "" if run.exit_code is None or run.state == PASSED else f"exit code {run.exit_code}; "
                rows.append([point.id, describe(point), str(run.repeat), run.state + again, f"{code}{run.message or run.log or '-'}"])
    parts: list[Part] = [f"{problem[0].upper()}{problem[1:]}." for problem in study.problems]
    if rows:
        parts.append(Table(["point", "what", "repeat", "state", "message"], rows, left=5))
    return Section("Failures", parts or ["None: all planned runs have passed, or are still to come."])


def describe(point: Point) -> str:
    others = [f"{key.rpartition('.')[2]} {value}" for key, value in point.factors.items() if key != "ranks"]
    return ", ".join([count_of(point), *others, *([point.ablation.replace("_", " ")] if point.ablation else [])])


def provenance_section(study: Study) -> Section:
    about, machine = study.about, study.about.get("machine")
    machine = machine if isinstance(machine, dict) else {}
    hosts, gpus = (machine[key] if isinstance(machine.get(key), list) else [] for key in ("hosts", "gpus"))
    cores = f", {machine['cores']} cores" if machine.get("cores") else ""
    memory = machine.get("memory_bytes")
    rows = [
        ["study", f"{study.name} ({study.kind}) of {study.app or '?'}"],
        ["deck", str(about.get("deck") or "")],
        ["created", str(about.get("created") or "")],
        ["revision", str(about.get("git_revision") or "")],
        ["seed of the order", str(about.get("seed", ""))],
        ["hosts", ", ".join(map(str, hosts[:4])) + (f" ... ({len(hosts)})" if len(hosts) > 4 else "")],
        ["processor", f"{machine.get('cpu', '')}{cores}".strip(", ")],
        ["memory", quantity(memory, "B") if isinstance(memory, (int, float)) else ""],
        ["GPUs", ", ".join(str(gpu.get("name", gpu) if isinstance(gpu, dict) else gpu) for gpu in gpus)],
        ["oversubscribed", ", ".join(point.id for point in study.points if point.oversubscribed)],
        *_of_runs(study),
    ]
    return Section("Provenance", [Table(["what", ""], [row for row in rows if row[1]], left=2)])


def _of_runs(study: Study) -> list[list[str]]:
    """What the runs say they ran on; several values are all told: they should not be."""
    records = [record for point in study.points for record in point.records]
    rows = []
    for key, name in {"git_revision": "revision of the runs", **RUN_KEYS}.items():
        values = list(dict.fromkeys(str(record.run[key]) for record in records if record.run.get(key)))
        rows.append([name, " AND ".join(values[:4])])
    return rows
