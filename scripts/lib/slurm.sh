# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # kontor_root and build_dir are set by scripts/kontor, threads by the caller
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Inside a job of Slurm: what it has been given, and the srun that starts a program on that.

in_slurm_job() { [[ -n ${SLURM_JOB_ID-} ]] && have srun; }

# The CPUs of all the job's nodes: "4(x2),2" are 10.
slurm_cpus() {
  local part cpus=0
  for part in $(tr , ' ' <<<"${SLURM_JOB_CPUS_PER_NODE-}"); do
    [[ $part =~ ^([0-9]+)(\(x([0-9]+)\))?$ ]] || continue
    cpus=$((cpus + BASH_REMATCH[1] * ${BASH_REMATCH[3]:-1}))
  done
  if ((cpus == 0)); then cpus=$((${SLURM_CPUS_ON_NODE:-1} * ${SLURM_JOB_NUM_NODES:-1})); fi
  if ((cpus < ${SLURM_NTASKS:-1})); then cpus=$SLURM_NTASKS; fi
  echo "$cpus"
}

# The tasks that the job asked for, which `sbatch --nodes=1` alone does not; else what fills its CPUs.
slurm_ranks() { echo "${SLURM_NTASKS:-$(($(slurm_cpus) / threads))}"; }

# The CPUs that the job asked for each task.
slurm_cpus_per_task() {
  local cpus=${SLURM_CPUS_PER_TASK-}
  if [[ -z $cpus && ${SLURM_TRES_PER_TASK-} =~ (^|,)cpu[:=]([0-9]+) ]]; then cpus=${BASH_REMATCH[2]}; fi
  echo "${cpus:-1}"
}

# leave_out_of_job RANKS: srun takes variables of the job for its options. Those go that contradict what it is told here, or
# each other, as where a job has been submitted out of another.
leave_out_of_job() {
  local name given=() tres=,${SLURM_TRES_PER_TASK-},
  launcher_without+=(SLURM_CPUS_PER_TASK SLURM_CPUS_PER_GPU SLURM_HINT)
  # The job's own number of tasks on a part of it holds for the job's own number of tasks.
  if [[ $1 != "${SLURM_NTASKS-}" ]]; then launcher_without+=(SLURM_NTASKS_PER_{NODE,SOCKET,CORE,GPU,TRES}); fi
  for name in SLURM_MEM_PER_{CPU,GPU,NODE}; do
    if [[ -n ${!name-} ]]; then given+=("$name"); fi
  done
  if ((${#given[@]} > 1)); then launcher_without+=("${given[@]}"); fi # a step without any has the memory of the job
  if [[ $tres =~ (.*),cpu[:=][0-9]+,(.*) ]]; then
    tres=${BASH_REMATCH[1]#,},${BASH_REMATCH[2]%,}
    tres=${tres#,} tres=${tres%,}
    if [[ -n $tres ]]; then launcher_environment+=("SLURM_TRES_PER_TASK=$tres"); else launcher_without+=(SLURM_TRES_PER_TASK); fi
  fi
}

# set_srun RANKS: what set_launcher() leaves.
set_srun() {
  local ranks=$1 nodes=${SLURM_JOB_NUM_NODES:-1} mpi own_cores=''
  launcher=(srun -n "$ranks")
  end_signal=USR1
  if ((ranks <= nodes)); then own_cores=yes; fi
  if ((ranks < nodes)); then launcher+=(--nodes="$ranks"); fi
  if [[ -n ${SLURM_STEP_ID-} ]]; then launcher+=(--overlap); fi # srun --pty bash has the job's cores
  leave_out_of_job "$ranks"
  mpi=$(srun_mpi)
  if [[ -n $mpi ]]; then launcher+=(--mpi="$mpi"); fi
  if ((ranks * threads > $(slurm_cpus))); then
    launcher+=(--overcommit)
  else
    launcher+=(--cpus-per-task="$threads")
    if slurm_binds; then launcher+=(--cpu-bind=cores) own_cores=yes; fi
  fi
  if slurm_is_oversubscribed "$ranks"; then
    launcher_environment+=("$mpi_yields") # else a rank that waits keeps others from computing
    own_cores=''
  fi
  add_thread_places "$own_cores"
}

# More threads than the job has CPUs; or than this node has, if this is one of its nodes.
slurm_is_oversubscribed() {
  local ranks=$1 nodes=${SLURM_JOB_NUM_NODES:-1} on_node
  on_node=$(((ranks + nodes - 1) / nodes))
  ((ranks * threads > $(slurm_cpus))) && return
  [[ -n ${SLURMD_NODENAME-} ]] && ((on_node * threads > $(processing_units)))
}

# A line of the configuration, such as "TaskPlugin = task/none"; empty where Slurm does not tell.
slurm_setting() { scontrol show config 2>/dev/null | sed -n "s/^$1 *= //p"; }

# Without a plugin that binds, srun warns of any --cpu-bind.
slurm_binds() { [[ $(slurm_setting TaskPlugin) != *task/none* ]]; }

# By which protocol ranks find each other, if it is not the default here: Open MPI speaks PMIx, MPICH PMI-2. With a wrong
# one Open MPI ends, and each rank of MPICH takes itself for the only one.
srun_mpi() {
  local wanted=pmix default
  [[ -z ${SLURM_MPI_TYPE-} && -f $build_dir/CMakeCache.txt ]] || return 0 # the user's word, which srun obeys
  if built_with_mpich; then wanted=pmi2; fi
  default=$(slurm_setting MpiDefault)
  [[ $default != "$wanted"* && $default != cray_shasta ]] || return 0
  if srun --mpi=list 2>&1 | grep -qw "$wanted"; then echo "$wanted"; fi
}

built_with_mpich() { grep -q '^KONTOR_MPI_IS_MPICH:INTERNAL=1' "$build_dir/CMakeCache.txt"; }
