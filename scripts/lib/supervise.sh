# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A command that does not outlive this script.

grace=5 # seconds from TERM to KILL

# supervise COMMAND...: runs it and returns its exit code. If HUP, INT or TERM reach this script, the command is ended
# first, and `caught` is the signal's name afterwards. The command always gets TERM: it is what launchers pass on to
# ranks, while mpirun dies of HUP alone and srun takes one INT for a question. A process group of its own sees to it
# that a terminal's Ctrl-C comes once, through us. KILL cannot be passed on; there the kernel sends TERM.
supervise() {
  local child='' status=0 signal
  caught=''
  for signal in HUP INT TERM; do
    # shellcheck disable=SC2064 # the value of now
    trap "pass_on $signal" "$signal"
  done
  # Only the group in the foreground may read a terminal; and there may be no stdin at all.
  if [[ -t 0 ]] || ! { : <&0; } 2>/dev/null; then exec </dev/null; fi
  local with=()
  if have setpriv && [[ $(setpriv --help 2>&1) == *--pdeathsig* ]]; then with=(setpriv --pdeathsig TERM --); fi
  set -m
  "${with[@]}" "$@" <&0 &
  child=$!
  set +m
  if [[ -n $caught ]]; then end_group TERM; fi # it came before there was a child
  { wait "$child" || status=$?; } 2>/dev/null # bash would tell of the signal that ended it, too
  if [[ -n $caught ]]; then see_it_end 2>/dev/null; fi
  trap - HUP INT TERM
  return "$status"
}

# The second signal is that of an impatient user.
pass_on() {
  if [[ -z $caught ]]; then caught=$1 && end_group TERM; else end_group KILL; fi
}

end_group() {
  if [[ -n $child ]]; then kill -"$1" -- "-$child" 2>/dev/null || true; fi
}

see_it_end() {
  local tick
  for ((tick = 0; tick < 20 * grace; ++tick)); do
    kill -0 -- "-$child" 2>/dev/null || break
    sleep 0.05 || true
  done
  end_group KILL
  wait "$child" || true
}
