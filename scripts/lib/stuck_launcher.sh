# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A launcher that waits for a host that has vanished, or for itself, as Open MPI's (4.1.4) may when a rank is killed in
# MPI_Finalize. The ranks leave word in the folder KONTOR_RUN_FOLDER: the file `started` when they have found each other,
# the file `done` when one has nothing left to do but to end; a line in the pipe `words`, `failed` when one ends all of them,
# and `done`.

grace_to_abort=${KONTOR_ABORT_SECONDS:-10} # that a launcher has to end after a rank has failed
grace_to_finish=${KONTOR_FINISH_SECONDS:-60} # and after one is done; large jobs may use some of it

make_run_folder() {
  KONTOR_RUN_FOLDER=$(temporary_folder kontor-run) || exit
  export KONTOR_RUN_FOLDER
  mkfifo -m 600 "$KONTOR_RUN_FOLDER/words"
}

remove_run_folder() { rm -rf -- "$KONTOR_RUN_FOLDER"; }

ranks_have_started() { [[ -e $KONTOR_RUN_FOLDER/started ]]; }
a_rank_was_done() { [[ -e $KONTOR_RUN_FOLDER/done ]]; }
was_stuck() { [[ -e $KONTOR_RUN_FOLDER/stuck ]]; }

# end_if_stuck GROUP: waits, without a process of its own, for a rank to fail or to be done, then for the launcher's process
# group to end. `stuck` says which it was. To be run in the background, and killed when the group has ended.
end_if_stuck() {
  local pipe word='' after='' end=0 children
  exec {pipe}<>"$KONTOR_RUN_FOLDER/words" </dev/null
  until ((end > 0 && SECONDS >= end)); do # every rank may write a line
    if ! read -r -t 1 -u "$pipe" word; then
      kill -0 $$ || { remove_run_folder && return; } # the script was killed
    elif [[ $word == failed && $after != failed ]]; then
      after=failed end=$((SECONDS + grace_to_abort))
    elif [[ -z $after ]]; then
      after="done" end=$((SECONDS + grace_to_finish))
    fi
  done
  echo "$after" >"$KONTOR_RUN_FOLDER/stuck"
  read -r -d '' -a children < <(cat "/proc/$1/task/"*/children) || true # remote shells have process groups of their own
  kill -KILL -- "-$1" "${children[@]}" || true # at TERM, Open MPI waits for the host, too, or crashes
  mpi_clear_after "$1"
} 2>/dev/null
