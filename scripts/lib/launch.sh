# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # kontor_root and build_dir are set by scripts/kontor; others read what is set
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How an MPI program is started here: by the scheduler whose job this is, else by mpirun. The caller has set `threads`,
# those of a rank.

in_flux() { [[ -n ${FLUX_URI-} || -n ${FLUX_JOB_ID-} ]] && have flux; }

# The ranks that the scheduler's job is for; nothing outside of jobs. PBS Pro and OpenPBS write a line a rank into a file.
job_ranks() {
  local told=${PBS_NP:-${LSB_DJOB_NUMPROC:-${NSLOTS-}}} # Torque, LSF, Grid Engine
  if in_slurm_job; then
    slurm_ranks
  elif in_flux; then
    echo $(($(flux resource list --states=up --no-header --format='{ncores}' | head -n 1) / threads))
  elif [[ $told =~ ^[1-9][0-9]{0,8}$ ]]; then
    echo "$told"
  elif [[ -n ${PBS_JOBID-} && -r ${PBS_NODEFILE-} ]]; then
    wc -l <"$PBS_NODEFILE"
  fi
}

# The ranks that fill what we have been given: the job's tasks, else the cores of this machine.
default_ranks() {
  local slots
  slots=$(job_ranks)
  slots=${slots:-$(($(physical_cores) / threads))}
  echo $((slots > 0 ? slots : 1))
}

# The threads of a rank, where OMP_NUM_THREADS does not say: the CPUs that the job asked for each task.
default_threads() {
  local threads=1
  if in_slurm_job; then threads=$(slurm_cpus_per_task); fi
  echo "$threads"
}

# set_launcher RANKS: leaves the words that start RANKS copies of a program in the array `launcher`, variables that are
# to be set for them, NAME=VALUE, in `launcher_environment`, the names of those that it must not have in `launcher_without`,
# and in `end_signal` the signal by which the launcher lets
# them end by themselves: it passes USR1 on if it is known to, while at TERM it may kill them at once.
set_launcher() {
  local ranks=$1 per_node=${KONTOR_RANKS_PER_NODE-}
  [[ -z $per_node || $per_node =~ ^[1-9][0-9]{0,8}$ ]] ||
    fail "run: KONTOR_RANKS_PER_NODE is '$per_node'; allowed is a whole number from 1"
  local nodes=$(((ranks + ${per_node:-ranks} - 1) / ${per_node:-ranks}))
  launcher_environment=() launcher_without=()
  end_signal=TERM
  if [[ -n ${KONTOR_LAUNCHER-} ]]; then
    read -ra launcher <<<"$KONTOR_LAUNCHER"
    launcher+=(-n "$ranks")
  elif in_slurm_job; then
    set_srun "$ranks"
    if [[ -n $per_node ]]; then
      launcher+=(--nodes="$nodes" --ntasks-per-node="$((ranks < per_node ? ranks : per_node))")
    fi
  elif in_flux; then
    launcher=(flux run -n "$ranks" -c "$threads" -o cpu-affinity=per-task)
    add_thread_places yes
    if [[ -n $per_node ]]; then launcher+=(-N "$nodes"); fi
  else
    if ((nodes == 1)); then per_node=''; fi
    set_mpirun "$ranks" "$per_node"
  fi
}

# add_thread_places OWN_CORES: where a rank's threads run, unless the user has said it. Where ranks share cores (OWN_CORES is
# empty) threads are not bound: those of the same number would be, all to the same core.
add_thread_places() {
  [[ -z ${OMP_PROC_BIND-}${OMP_PLACES-}${GOMP_CPU_AFFINITY-}${KMP_AFFINITY-} ]] || return 0
  if [[ -n $1 ]] && ((threads > 1)); then
    launcher_environment+=(OMP_PROC_BIND=spread OMP_PLACES=cores)
  else
    launcher_environment+=(OMP_PROC_BIND=false)
  fi
}

# alone_on CPUS: whether no other run of anybody has these CPUs. From then on this one has them, until all has ended that it
# starts.
alone_on() {
  local file=${KONTOR_LOCKS-/dev/shm}/kontor-cpus-$1 lock alone=''
  if [[ -n ${KONTOR_LOCKS-/dev/shm} && ! -e $file ]]; then (umask 022 && : >"$file") 2>/dev/null || true; fi
  [[ -r $file ]] && have flock || return 0
  exec {lock}<"$file"
  if flock -n "$lock"; then alone=yes; fi
  flock -s -w 1 "$lock" || true
  [[ -n $alone ]]
}

# has_to_share: whether there are others on the CPUs of this run; says so.
has_to_share() {
  local alone=yes
  if [[ -n $dry_run ]]; then return 1; fi
  alone_on "$(machine_cpus)" || alone=''
  if is_placed; then
    alone=yes
    alone_on "$(allowed_cpus)" || alone=''
  fi
  [[ -z $alone ]] || return 1
  say "another run is under way on CPUs $(allowed_cpus): ranks are not bound to cores, and the runs slow each other down"
}

# What Open MPI's ranks share is a file in /dev/shm, which their mpirun removes, unless it is killed. Removes those of this
# user and host that no process has mapped or open: of runs that are dead.
reclaim_shared_memory() {
  local folder=/dev/shm file used found=() named=()
  mapfile -t named < <(mpi_shared_files "$(hostname -s)" | sed 's/^/-o\n-name\n/')
  mapfile -t found < <(find "$folder" -maxdepth 1 -type f -user "$(id -u)" \( "${named[@]:1}" \) 2>/dev/null)
  ((${#found[@]})) || return 0
  used=$(
    find /proc/[0-9]*/fd -lname "$folder/*" -printf '%l\n' 2>/dev/null || true # first: what is open now may be mapped then
    grep -ho "$folder/.*" /proc/[0-9]*/maps 2>/dev/null || true
  )
  for file in "${found[@]}"; do
    grep -qxF -- "$file" <<<"$used" || rm -f -- "$file"
  done
}

set_mpirun() {
  local ranks=$1 per_node=$2 mpirun mpi binding=core own_cores='' name hosts='' in_job=${PBS_JOBID:-${LSB_JOBID:-${NSLOTS-}}}
  mpirun=$(built_with_mpirun)
  have "$mpirun" || fail "no $mpirun here: install an MPI (Debian: openmpi-bin), or set KONTOR_LAUNCHER"
  mpi=$(mpi_of "$mpirun")
  launcher=("$mpirun" -n "$ranks")
  end_signal=USR1 # Open MPI's and MPICH's do
  add_manners "$mpi"
  if [[ -n ${PBS_JOBID-} && -r ${PBS_NODEFILE-} ]]; then hosts=$(sort -u "$PBS_NODEFILE" | wc -l); fi
  if [[ $hosts == 1 ]]; then in_job=''; elif [[ -n $hosts ]]; then add_hosts "$mpi" "$PBS_NODEFILE"; fi
  if [[ -z $in_job ]]; then
    if ((ranks * threads > $(physical_cores))); then binding=crowded; elif has_to_share; then binding=shared; elif is_placed; then binding=none; fi
  fi
  add_placement "$mpi" "$threads" "$binding" "$per_node"
  if [[ $binding == core && $mpi != other ]] || { [[ $binding == core || $binding == none ]] && ((ranks == 1)); }; then own_cores=yes; fi
  add_thread_places "$own_cores"
  for name in OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES KONTOR_START_SECONDS; do
    if [[ -n ${!name-} || " ${launcher_environment[*]-}" == *" $name="* ]]; then add_exports "$mpi" "$name"; fi
  done
  # Ranks copy straight from each other's memory, unless a container forbids that.
  if ((ranks > 1)) && ! ranks_can_read_each_other; then add_copies_through_memory "$mpi"; fi
}

# The mpirun of the MPI that was linked: another one would start single processes that do not see each other.
built_with_mpirun() {
  local found
  found=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$build_dir/CMakeCache.txt" 2>/dev/null || true)
  if [[ -z $found || $found == "$(dirname "$(command -v mpirun)")"/mpiexec ]]; then found=mpirun; fi
  echo "$found"
}

ranks_can_read_each_other() {
  local python
  if python=$(python_with ctypes); then
    "$python" "$kontor_root/python/kontor/run/cross_memory.py"
  else
    [[ $(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0) -lt 2 ]]
  fi
}
