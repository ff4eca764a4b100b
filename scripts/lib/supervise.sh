# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # end_signal is set by the caller, which reads crashed
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A command that does not outlive this script.

grace=5                                # seconds from TERM to KILL
grace_to_end=${KONTOR_END_SECONDS:-60} # seconds that a command has to end by itself

# supervise COMMAND...: runs it and returns its exit code. `crashed` is not empty afterwards if a signal ended the command
# itself, and not only what it started. If HUP, INT, TERM or USR1 reach this script, the command is
# ended first, and `caught` is the signal's name afterwards. TERM and USR1, which schedulers send before a time limit,
# ask the command to end by itself, by the signal `end_signal`. HUP and INT end it, by TERM: it is what launchers pass on
# to ranks, while mpirun dies of HUP alone and srun takes one INT for a question. A process group of its own sees to it
# that a terminal's Ctrl-C comes once, through us. KILL cannot be passed on; there the kernel sends TERM.
supervise() {
  local child='' status=0 signal watcher stderr said
  caught='' crashed=''
  for signal in HUP INT TERM USR1; do
    # shellcheck disable=SC2064 # the value of now
    trap "pass_on $signal" "$signal"
  done
  if [[ -t 0 ]]; then exec </dev/null; fi # only the group in the foreground may read it
  local with=()
  if have setpriv && [[ $(setpriv --help 2>&1) == *--pdeathsig* ]]; then with=(setpriv --pdeathsig TERM --); fi
  # Bash tells of a signal that has ended a child, at a time of its own: the only way to tell that from an exit code.
  exec {said}<>"$KONTOR_RUN_FOLDER/said" {stderr}>&2 2>&"$said"
  set -m
  "${with[@]}" "$@" <&0 2>&"$stderr" {stderr}>&- {said}>&- &
  child=$!
  set +m
  end_if_stuck "$child" >/dev/null 2>&1 {stderr}>&- & # nor does it keep the files of a script that was killed
  watcher=$!
  if [[ -n $caught ]]; then ask_to_end; fi # it came before the child was known
  wait "$child" || status=$?
  if [[ -n $caught ]]; then see_it_end; fi
  if grep -q " $child " "/dev/fd/$said"; then crashed=yes; fi
  { kill "$watcher" && wait "$watcher"; } || true
  exec 2>&"$stderr" {stderr}>&- {said}>&-
  trap - HUP INT TERM USR1
  return "$status"
}

# The second signal is that of an impatient user; but a scheduler may send both of its own.
pass_on() {
  if [[ -z $caught ]]; then
    caught=$1
    ask_to_end
  elif [[ $1 != USR1 && $caught != USR1 ]]; then
    end_group KILL
  fi
}

asked_to_end() { [[ $caught == TERM || $caught == USR1 ]]; }

ask_to_end() { if asked_to_end; then end_group "$end_signal"; else end_group TERM; fi; }

end_group() {
  if [[ -n $child ]]; then kill -"$1" -- "-$child" 2>/dev/null || true; fi
}

# Leaves in `status` how the command ended, which the wait that a signal interrupted does not know.
see_it_end() {
  if asked_to_end && ! gone_within "$grace_to_end"; then end_group TERM; fi
  gone_within "$grace" || end_group KILL
  status=0
  wait "$child" || status=$?
}

gone_within() {
  local tick
  for ((tick = 0; tick < 20 * $1; ++tick)); do
    group_lives || return 0
    sleep 0.05 || true
  done
  return 1
}

# In a container whose first process reaps no orphans, a group whose processes have all ended stays, of zombies.
group_lives() {
  kill -0 -- "-$child" 2>/dev/null || return 1
  ! have ps || ps -e -o pgid= -o stat= 2>/dev/null |
    awk -v group="$child" '$1 == group { if ($2 ~ /^Z/) dead = 1; else live = 1 } END { exit dead && !live }'
}

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
