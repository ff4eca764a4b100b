#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What differs between MPIs' launchers. `orte` is that of Open MPI up to 4, `prrte` that of Open MPI from 5, `hydra` that of
# MPICH and its kin. scripts/kontor reads this file; CMake and Python run it: scripts/lib/mpi.sh MPIRUN prints what tests that
# start ranks have in their environment, a NAME=VALUE a line.

# mpi_version LAUNCHER: the line by which it tells what it is. Only its stdout counts, and not all of that need be its own.
mpi_version() {
  "$1" --version 2>/dev/null </dev/null | grep -m 1 -E '\(Open MPI\) |\(OpenRTE\) |PRRTE|HYDRA|Intel\(R\) MPI' || true
}

# mpi_of LAUNCHER: orte, prrte, hydra or other.
mpi_of() {
  local version
  version=$(mpi_version "$1")
  case $version in
    *"(Open MPI) "[1-4].* | *OpenRTE*) echo orte ;;
    *"(Open MPI) "* | *PRRTE*) echo prrte ;;
    *HYDRA* | *Intel*) echo hydra ;;
    *) echo other ;;
  esac
}

# add_placement MPI THREADS BINDING [RANKS_PER_NODE]: adds to the array `launcher` how ranks are placed and bound. BINDING is
# `core`: each to cores of its own, one for each thread; `crowded`, where there are more threads than cores: none is bound, and
# ranks of Open MPI that wait yield; or anything else: none is bound.
add_placement() {
  local mpi=$1 threads=$2 binding=$3 per_node=${4-} modifiers='' place=slot
  if [[ $mpi == hydra && $binding == core ]]; then launcher+=(-bind-to "core:$threads"); fi
  if [[ $mpi != orte && $mpi != prrte ]]; then
    if [[ -n $per_node ]]; then launcher+=(-ppn "$per_node"); fi
    return 0
  fi
  if [[ -n $per_node ]]; then place=ppr:$per_node:node; fi
  if [[ $binding == crowded ]]; then modifiers=:OVERSUBSCRIBE; elif [[ $binding == core ]] && ((threads > 1)); then modifiers=:PE=$threads; fi
  if [[ -n $per_node$modifiers ]]; then launcher+=(--map-by "$place$modifiers"); fi
  if [[ $binding == core ]]; then launcher+=(--bind-to core); else launcher+=(--bind-to none); fi
}

# add_hosts MPI FILE: the hosts of a job, a line a rank, for a launcher that was built without its scheduler. Hydra asks itself.
add_hosts() {
  if [[ $1 == orte || $1 == prrte ]]; then launcher+=(--hostfile "$2"); fi
}

# add_exports MPI NAME...: variables that ranks on other nodes are to have, too; those of Slurm, Flux and Hydra have all.
add_exports() {
  local mpi=$1 name
  for name in "${@:2}"; do
    if [[ $mpi == orte || $mpi == prrte ]]; then launcher+=(-x "$name"); fi
  done
}

# Of Open MPI 5.0.7: it takes IPv6 up and each rank complains (its issue 14079); and where the fragments of shared memory are
# used up, 512 unless told, its ob1 may never take up the acknowledgements that wait for one, as of many synchronous messages
# (its issues 92 and 3845).
open_mpi_5=(btl_tcp_disable_family=6 btl_sm_free_list_max=4096)

# add_manners MPI: no words of its own about exit codes, which bury the program's message (Open MPI 5 insists on them); root may
# start it; and what Open MPI 5 needs, unless the user has a word about that.
add_manners() {
  local setting name
  case $1 in
    orte) launcher+=(--quiet) ;;
    prrte)
      for setting in "${open_mpi_5[@]}"; do
        name=OMPI_MCA_${setting%=*}
        [[ -n ${!name-} ]] || launcher+=(--mca "${setting%=*}" "${setting#*=}")
      done
      ;;
    *) return 0 ;;
  esac
  if [[ $(id -u) == 0 ]]; then launcher+=(--allow-run-as-root); fi
}

# add_copies_through_memory MPI: for ranks that may not read each other's memory, by which Open MPI else fails.
add_copies_through_memory() {
  case $1 in
    orte) launcher+=(--mca btl_vader_single_copy_mechanism none) ;;
    prrte) launcher+=(--mca smsc ^cma) ;;
  esac
}

# The variables for a launcher that ends at once when a rank has failed; else Open MPI's waits two seconds.
mpi_ends_at_once=(OMPI_MCA_odls_base_sigkill_timeout=0 PRTE_MCA_odls_base_sigkill_timeout=0)

# The variable by which ranks of Open MPI that wait let others compute.
mpi_yields=OMPI_MCA_mpi_yield_when_idle=1

# mpi_shared_files HOST: patterns of the files in /dev/shm by which ranks of Open MPI share memory.
mpi_shared_files() { printf "%s.$1.*\n" vader_segment sm_segment osc_sm osc_rdma; }

# mpi_clear_after PID: removes the folder that a launcher of Open MPI leaves when it is killed.
mpi_clear_after() {
  local host
  read -r host </proc/sys/kernel/hostname && rm -rf -- "${TMPDIR:-/tmp}"/{"ompi.$host.$UID/pid.$1","prterun.$host.$1.$UID"}
}

# mpi_crowded MPI: by which root may start more ranks than there are cores, unbound, waiting ones yield, and the launcher ends
# at once and says nothing of its own; and `kontor run` of other tests beside it. An unknown launcher is told in all languages.
mpi_crowded() {
  local mpi=$1
  echo KONTOR_LOCKS= # several at once
  [[ $mpi != hydra ]] || return 0
  printf '%s\n' OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "${mpi_ends_at_once[@]}" "$mpi_yields" OMPI_MCA_pml="${OMPI_MCA_pml:-ob1}"
  if [[ $mpi != prrte ]]; then
    printf 'OMPI_MCA_%s\n' rmaps_base_oversubscribe=1 hwloc_base_binding_policy=none orte_execute_quiet=1
  fi
  if [[ $mpi != orte ]]; then
    printf 'OMPI_MCA_%s\n' "${open_mpi_5[@]}"
    printf 'PRTE_MCA_%s\n' rmaps_default_mapping_policy=:oversubscribe hwloc_default_binding_policy=none
  fi
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then mpi_crowded "$(mpi_of "$1")"; fi
