# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What this process may use of the machine: CPUs by its affinity, CPU time and memory by its control groups.

limits_root=${KONTOR_LIMITS_ROOT:-} # where proc and sys are, for tests

# limiting_files CONTROLLER FILE_OF_VERSION_2 FILE_OF_VERSION_1: those that are there, of the group of this process first,
# then of the groups around it.
limiting_files() {
  local controllers group top file
  while IFS=: read -r _ controllers group; do
    case ,$controllers, in
      ,,) top=$limits_root/sys/fs/cgroup file=$2 ;;
      *,"$1",*) top=$limits_root/sys/fs/cgroup/$1 file=$3 ;;
      *) continue ;;
    esac
    # A container may see the path of the host, while its own group is mounted at the top.
    while [[ -n ${group%/} ]]; do
      if [[ -r $top$group/$file ]]; then echo "$top$group/$file"; fi
      group=${group%/*}
    done
    if [[ -r $top/$file ]]; then echo "$top/$file"; fi
  done <"$limits_root/proc/self/cgroup"
} 2>/dev/null

# The cores that the least quota of CPU time is worth, rounded up; nothing without a quota.
cpu_quota() {
  local file quota period cores least=''
  while read -r file; do
    read -r quota period <"$file" || true # the last line may lack its end
    if [[ $file == *_quota_us ]]; then read -r period <"${file%quota_us}period_us" || true; fi
    [[ $quota =~ ^[1-9][0-9]*$ && $period =~ ^[1-9][0-9]*$ ]] || continue # "max", -1
    cores=$(((quota + period - 1) / period))
    if [[ -z $least ]] || ((cores < least)); then least=$cores; fi
  done < <(limiting_files cpu cpu.max cpu.cfs_quota_us)
  echo "$least"
}

# The bytes of the least limit of memory; nothing without one.
memory_limit() {
  local file limit least=''
  while read -r file; do
    read -r limit <"$file" || true
    [[ $limit =~ ^[0-9]{1,19}$ ]] || continue
    if [[ -z $least ]] || ((limit < least)); then least=$limit; fi
  done < <(limiting_files memory memory.max memory.limit_in_bytes)
  echo "$least"
}

# numbers_of LIST: "0-2,8" are 0 1 2 8, a line each.
numbers_of() {
  local range
  for range in ${1//,/ }; do seq "${range%-*}" "${range#*-}"; done
}

# The numbers of the CPUs on which this process may run, as Linux writes them: "0-3,8".
allowed_cpus() {
  local key list=''
  while read -r key list; do
    if [[ $key == Cpus_allowed_list: ]]; then break; fi
  done <"$limits_root/proc/self/status"
  echo "${list:-0-$(($(getconf _NPROCESSORS_ONLN) - 1))}"
} 2>/dev/null

# Those that it might have: what the group of CPUs leaves it, else all. They are what launchers know of, too.
machine_cpus() {
  local file list=''
  read -r file < <(limiting_files cpuset cpuset.cpus.effective cpuset.effective_cpus) ||
    file=$limits_root/sys/devices/system/cpu/online
  read -r list <"$file"
  echo "${list:-$(allowed_cpus)}"
} 2>/dev/null

# Whether somebody has chosen the CPUs of this process out of those that it might have, as by taskset.
is_placed() { [[ $(allowed_cpus) != "$(machine_cpus)" ]]; }

# at_most_quota COUNT
at_most_quota() {
  local quota
  quota=$(cpu_quota)
  echo $((${quota:-$1} < $1 ? quota : $1))
}

# The CPUs that this process may keep busy.
processing_units() { at_most_quota "$(numbers_of "$(allowed_cpus)" | wc -l)"; }

# The same, where two hardware threads of a core, which share its bandwidth and its arithmetic, count once.
physical_cores() {
  local cores
  cores=$(lscpu --parse=CPU,CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -t , -k 1b,1 |
    join -t , - <(numbers_of "$(allowed_cpus)" | sort) | cut -d , -f 2- | sort -u | wc -l) || cores=0
  if ((cores == 0)); then cores=$(processing_units); fi
  at_most_quota "$cores"
}
