# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A launcher that waits for a host that has vanished, or, in a lock of its own, for ranks that have ended. The ranks leave
# word in the folder KONTOR_RUN_FOLDER: the file `started` when they have found each other; a line in the pipe `failed` when
# one ends all of them.

grace_to_abort=${KONTOR_ABORT_SECONDS:-10} # that a launcher has to end after a rank has failed

make_run_folder() {
  KONTOR_RUN_FOLDER=$(mktemp -d "${TMPDIR:-/tmp}/kontor-run.XXXXXX") || fail "cannot make a folder in ${TMPDIR:-/tmp}"
  export KONTOR_RUN_FOLDER
  mkfifo -m 600 "$KONTOR_RUN_FOLDER/failed"
}

remove_run_folder() { rm -rf -- "$KONTOR_RUN_FOLDER"; }

ranks_have_started() { [[ -e $KONTOR_RUN_FOLDER/started ]]; }
was_stuck() { [[ -e $KONTOR_RUN_FOLDER/stuck ]]; }
was_alone() { [[ -s $KONTOR_RUN_FOLDER/stuck ]]; }

# has_children PROCESS: that have not ended.
has_children() {
  local file child children stat
  for file in "/proc/$1/task/"*/children; do
    read -r -a children <"$file" || true # there is no end of line
    for child in "${children[@]}"; do
      if read -r stat <"/proc/$child/stat" && [[ ${stat##*) } != Z* ]]; then return 0; fi
    done
  done
  return 1
}

# end_if_stuck GROUP: waits, without a process of its own, for a rank to fail, or for the launcher's children to be gone where it had
# some (others start ranks without), then for the launcher's process group to end. To be run in the background, and killed
# when the group has ended.
end_if_stuck() {
  local pipe end children host had_children='' seconds_alone=0 alone=''
  exec {pipe}<>"$KONTOR_RUN_FOLDER/failed" </dev/null
  until read -r -t 1 -u "$pipe"; do
    kill -0 $$ || { remove_run_folder && return; } # the script was killed
    ranks_have_started || continue
    if has_children "$1"; then
      had_children=yes seconds_alone=0
    elif [[ $had_children ]] && ((++seconds_alone > grace_to_abort)); then
      alone=yes && break
    fi
  done
  end=$((SECONDS + grace_to_abort))
  while [[ ! $alone ]] && ((SECONDS < end)); do read -r -t 1 -u "$pipe" || true; done # every rank may have written a line
  printf %s "$alone" >"$KONTOR_RUN_FOLDER/stuck"
  read -r -d '' -a children < <(cat "/proc/$1/task/"*/children) || true # remote shells have process groups of their own
  kill -KILL -- "-$1" "${children[@]}" || true # at TERM, Open MPI waits for the host, too, or crashes
  read -r host </proc/sys/kernel/hostname && rm -rf -- "${TMPDIR:-/tmp}/ompi.$host.$UID/pid.$1" # Open MPI's own files
} 2>/dev/null
