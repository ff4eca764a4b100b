# shellcheck shell=bash
# shellcheck disable=SC2154 # kontor_root and build_dir are set by scripts/kontor
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# kontor run: finds the app of a deck, and starts it on the ranks asked for.

run_usage() {
  cat <<'EOF'
kontor run DECK|RESULT.h5 [-n RANKS] [--dry-run] [options of the app]
kontor run CHECKPOINT.h5 --restart [DECK] [-n RANKS] [options of the app]

Runs a deck, or repeats the run that wrote RESULT.h5: same deck, same ranks. The repeated run
writes <RESULT>-repeat.h5 in this folder unless -o names another file. With --restart it goes on
from a checkpoint, in which the deck is, too, on any ranks; CHECKPOINT.h5 may be checkpoint.file of
the run that wrote it: then from the newest that is whole. docs/checkpoints.md says more.

  -n, --ranks RANKS      default: the tasks of the scheduler's job, else those of RESULT.h5 or
                         CHECKPOINT.h5, else one rank a core
  --restart              go on from a checkpoint
  --dry-run              print the command, run nothing, build nothing (what reads decks must be built)
  --set KEY=VALUE        override a deck key, any number of times: --set comm.backend=raw
  -o, --output FILE      the HDF5 file to write
  --results FILE.json    write the record as JSON too
  --print-deck           print the deck with every default filled in, and stop
  -q, --quiet            no progress line and no table
  Anything else goes to the app as it is: `build/bin/heat --help`.

Started with srun inside a SLURM job, flux run inside Flux, mpirun otherwise; KONTOR_LAUNCHER="..."
replaces that, and gets -n RANKS appended. OMP_NUM_THREADS is 1 unless set, in a SLURM job its
CPUs for a task.

Exit codes: 0 verified, 1 verification failed, 2 bad deck or usage, 3 failed at run time, 4 ended early,
128 + N ended by signal N. TERM and USR1, which schedulers send before a time limit, let the program end
by itself: it writes a checkpoint, if the deck has a key of checkpoints, and its record, marked as ended
early; after KONTOR_END_SECONDS (60) it is killed.
Ranks that have not found each other KONTOR_START_SECONDS (300; 0: no limit) after their start end with exit code 3.
HUP and INT (Ctrl-C) end all ranks first. A second TERM, HUP or INT does so at once. A launcher that still
waits KONTOR_ABORT_SECONDS (10) after a rank has failed, such as for a host that has vanished, or
KONTOR_FINISH_SECONDS (60) after a rank was done, is killed: exit code 3.
EOF
}

run_command() {
  local input='' ranks='' dry_run='' output='' restart='' inputs=() app_arguments=() with_value option value
  with_value=$(options_with_value)
  trap set_up_failed ERR
  set -E
  while (($#)); do
    case $1 in
      -h | --help) run_usage && return ;;
      --dry-run) dry_run=yes ;;
      --restart) restart=yes ;;
      --restart=*)
        restart=yes
        inputs+=("${1#*=}")
        ;;
      -n | -np | --ranks)
        (($# > 1)) || fail "run: $1 needs a value"
        ranks=$2
        shift
        ;;
      --ranks=*) ranks=${1#*=} ;;
      -n*) ranks=${1#-n} ;;
      --)
        shift
        inputs+=("$@")
        break
        ;;
      -?*)
        app_arguments+=("$1")
        split_option "$1" # sets option, and value to =VALUE or nothing
        if [[ " $with_value " == *" $option "* && -z $value ]]; then
          (($# > 1)) || fail "run: $1 needs a value"
          app_arguments+=("$2")
          value="=$2"
          shift
        fi
        if [[ $option == -o || $option == --output ]]; then output=${value#=}; fi
        ;;
      *) inputs+=("$1") ;;
    esac
    shift
  done
  refuse_to_be_a_rank
  if [[ -n $restart ]]; then
    choose_checkpoint "${inputs[@]}" # sets restart, and input if there is a deck
  else
    ((${#inputs[@]} < 2)) || fail "run: two inputs, '${inputs[0]}' and '${inputs[1]}'; give one deck or one HDF5 file"
    input=${inputs[0]-}
  fi
  if [[ -z $restart || -n $input ]]; then check_input "$input"; fi

  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$(default_threads)}
  [[ $OMP_NUM_THREADS =~ ^[1-9][0-9]{0,5}(,[1-9][0-9]{0,5})*$ ]] ||
    fail "run: OMP_NUM_THREADS is '$OMP_NUM_THREADS'; allowed is a whole number from 1"
  [[ $grace_to_end =~ ^[0-9]{1,6}$ ]] || fail "run: KONTOR_END_SECONDS is '$grace_to_end'; allowed is a whole number of seconds"
  [[ $grace_to_abort =~ ^[0-9]{1,6}$ ]] || fail "run: KONTOR_ABORT_SECONDS is '$grace_to_abort'; allowed is a whole number of seconds"
  [[ $grace_to_finish =~ ^[0-9]{1,6}$ ]] || fail "run: KONTOR_FINISH_SECONDS is '$grace_to_finish'; allowed is a whole number of seconds"
  # shellcheck disable=SC2034 # launch.sh reads it
  local threads=${OMP_NUM_THREADS%%,*} # of a list, one number for each level of nesting, the outermost
  local deck=$input app='' recorded=()
  if [[ -n $restart ]]; then
    read -ra recorded <<<"$(of_checkpoint "$restart")"
    ((${#recorded[@]} == 2)) || exit 2 # it has been said why
    app=${recorded[0]}
    if [[ -z $ranks && -z $(job_ranks) ]]; then ranks=$(ranks_of_checkpoint "${recorded[1]}"); fi
    app_arguments=(--restart "$restart" "${app_arguments[@]}")
  elif [[ $input == *.h5 || $input == *.h5.????????.tmp ]]; then
    extract_run "$input" # sets deck, and ranks unless given
    if [[ -z $output ]]; then
      app_arguments+=(-o "$(basename "$input" .h5)-repeat.h5")
    fi
  fi
  ranks=${ranks:-$(default_ranks)}
  [[ $ranks =~ ^[1-9][0-9]{0,8}$ ]] || fail "run: -n is '$ranks'; allowed is a whole number from 1"

  # shellcheck disable=SC2034 # set_launcher sets them, supervise reads the signal
  local launcher=() launcher_environment=() launcher_without=() end_signal=TERM
  if [[ -n $deck ]]; then
    if [[ -z $dry_run && ! -x $build_dir/bin/kontor-deck ]]; then ensure_built "$(first_target "$deck")"; fi
    app=$(app_of "$deck")
  fi
  [[ " $(known_apps) " == *" $app "* ]] || fail "$restart: app '$app' is unknown; allowed are: $(known_apps)"
  if [[ -z $dry_run ]]; then ensure_built "$app"; fi
  set_launcher "$ranks"
  local variable without=()
  for variable in "${launcher_without[@]}"; do
    if [[ -n ${!variable+set} ]]; then without+=(-u "$variable"); fi
    unset -v "$variable"
  done
  if ((${#without[@]})); then without=(env "${without[@]}"); fi
  local program=("$(shown_path "$build_dir/bin/$app")")
  if [[ -n $deck ]]; then program+=("$deck"); fi
  program+=("${app_arguments[@]}")
  if [[ -n $dry_run ]]; then
    quoted "${without[@]}" "OMP_NUM_THREADS=$OMP_NUM_THREADS" "${launcher_environment[@]}" "${launcher[@]}" "${program[@]}"
  else
    launch "$app" "${program[@]}"
  fi
}

# What fails where nothing has run is no failed verification: exit code 2, unless it has been said what it is.
set_up_failed() {
  local status=$?
  ((status == 2 || status == 3 || status > 128)) || fail "run: nothing was run, because this failed: $BASH_COMMAND"
  exit "$status"
}

# The options of the programs that take a value, from where they are declared.
options_with_value() {
  tr -s '\n ' ' ' <"$kontor_root/miniapps/run/start/command_line.cpp" | grep -oE 'add_option\( ?"-[^"]*"' |
    grep -oE -- '--?[a-z-]+' | paste -sd ' '
}

# split_option WORD: sets option and value of --NAME, --NAME=VALUE, -N, -NVALUE; of flags in one word, -qN, it is the last.
split_option() {
  option=$1 value=''
  if [[ $1 == --*=* ]]; then
    option=${1%%=*} value="=${1#*=}"
  elif [[ $1 != --* ]]; then
    local letters=${1#-}
    while ((${#letters} > 1)) && [[ " $with_value " != *" -${letters:0:1} "* ]]; do letters=${letters:1}; done
    option=-${letters:0:1} value=${letters:1}
  fi
}

# `mpirun -n 4 kontor run DECK` would be four runs, each of which starts its ranks. In the one task of `srun --pty bash`
# it is what is meant.
refuse_to_be_a_rank() {
  local by='' size
  if [[ -n ${OMPI_COMM_WORLD_SIZE-} ]]; then
    by=mpirun size=$OMPI_COMM_WORLD_SIZE
  elif [[ -n ${SLURM_STEP_ID-} ]]; then
    by=srun size=${SLURM_STEP_NUM_TASKS:-1}
  elif [[ -n ${FLUX_TASK_RANK-} ]]; then
    by='flux run' size=${FLUX_JOB_SIZE:-1}
  elif [[ -n ${PMI_SIZE-} ]]; then
    by=mpirun size=$PMI_SIZE
  fi
  [[ -n $by ]] && { [[ $by == mpirun ]] || ((size > 1)); } || return 0
  fail "run: $by has started 'kontor run' $size times, which starts the ranks itself: leave out $by, and say kontor run ${inputs[*]@Q} -n $size"
}

# choose_checkpoint INPUT...: a checkpoint and maybe a deck, in any order.
choose_checkpoint() {
  local word
  restart=''
  for word in "$@"; do
    if [[ $word == *.yaml || $word == *.yml ]]; then
      [[ -z $input ]] || fail "run: two decks, '$input' and '$word'; give one, or none: it is in the checkpoint"
      input=$word
    else
      [[ -z $restart ]] || fail "run: two checkpoints, '$restart' and '$word'; give one"
      restart=$word
    fi
  done
  [[ -n $restart ]] || fail "run: --restart needs a checkpoint: kontor run CHECKPOINT.h5 --restart"
}

# ranks_of_checkpoint RANKS: as many again, unless this is a much smaller machine, or the number is damaged.
ranks_of_checkpoint() {
  local most=$((64 * $(processing_units)))
  [[ -n ${KONTOR_LAUNCHER-} ]] || (($1 <= most)) ||
    fail "$restart: $1 ranks have written it, which are more than 64 for each core here ($most); say how many are to go on: -n RANKS"
  echo "$1"
}

# of_checkpoint FILE: its app and ranks.
of_checkpoint() {
  local python
  need_python h5py "$1: reading it"
  "$python" "$kontor_root/python/kontor/run/checkpoint.py" "$1"
}

# Those that come with Kontor; inputs/ has studies and machines, too.
decks() { (cd "$kontor_root" && grep -l '^app:' inputs/*/*.yaml | paste -s -d ' '); }

check_input() {
  [[ -n $1 ]] || fail "run: no deck given; there are $(decks)"
  [[ -e $1 ]] || ! compgen -G "${1%.h5}-?????????.h5" >/dev/null ||
    fail "$1: there are checkpoints of that name; add --restart to go on from the newest"
  [[ -e $1 ]] || fail "$1: cannot read the deck: No such file or directory; there are $(decks)"
  [[ -f $1 && -r $1 ]] || fail "$1: cannot read the deck: not a file, or not readable"
}

# first_target DECK: what the first run builds. An app builds what reads decks, too, and one build is faster than
# two, so it is the app that the deck seems to name, or what reads decks if that cannot be seen.
first_target() {
  local app
  app=$(sed -n "/^app:/{s/^app:[[:space:]]*[\"']\?\([a-z]*\).*/\1/p;q}" "$1")
  if [[ -f $kontor_root/miniapps/$app/main.cpp ]]; then echo "$app"; else echo kontor_deck; fi
}

# The app that a deck names, by the parser that all apps have.
app_of() {
  local app known tool=$build_dir/bin/kontor-deck
  [[ -x $tool ]] || fail "$1: what reads decks is not built yet; run 'kontor build' first"
  app=$("$tool" "$1") || not_read $? # it has said what is wrong
  known=" $(known_apps) "
  [[ $known == *" $app "* ]] || fail "$1: app '${app:0:80}' is unknown; allowed are:$known"
  echo "$app"
}

not_read() {
  (($1 <= 128)) || fail "$(shown_path "$build_dir/bin/kontor-deck") was ended by signal $(kill -l $(($1 - 128)))$(reason_of "$1")" 3
  exit "$1"
}

# reason_of EXIT_CODE: what may be meant by the signal that ended a program, if there is something to say.
reason_of() {
  (($1 == 128 + $(kill -l ILL))) || return 0
  echo ": it has an instruction that this processor does not know, as when it was built on another; build it here, or with" \
    "'kontor build -DKONTOR_NATIVE=OFF' for both"
}

known_apps() {
  local folder
  for folder in "$kontor_root"/miniapps/*/; do
    if [[ -f $folder/main.cpp ]]; then basename "$folder"; fi
  done | paste -sd ' '
}

# extract_run FILE.h5: writes the deck that the file records to a temporary file; sets deck and ranks.
extract_run() {
  local python folder
  need_python h5py "$1: reading it"
  folder=$(temporary_folder kontor) || exit
  deck=$folder/$(basename "$1" .h5).yaml
  if [[ -z $dry_run ]]; then
    # shellcheck disable=SC2064 # the value of now
    trap "rm -rf '$folder'" EXIT
  fi
  local recorded_ranks
  recorded_ranks=$("$python" "$kontor_root/python/kontor" report --extract-deck "$deck" "$1")
  ranks=${ranks:-$recorded_ranks}
  # The file may come from anywhere: what it names is not written to, nor are the checkpoints of the run that is repeated.
  local named
  named=$(sed -n '/^checkpoint:/,/^[^ ]/s/^  file: *//p' "$deck")
  if [[ -n $named && $named != '""' ]]; then app_arguments=(--set 'checkpoint.file=""' "${app_arguments[@]}"); fi
}

# The words as a shell would need them typed.
quoted() {
  local word line=''
  for word in "$@"; do
    if [[ $word =~ ^[A-Za-z0-9_./:=,+@%-]+$ ]]; then line+=" $word"; else line+=" ${word@Q}"; fi
  done
  echo "${line# }"
}

# launch APP PROGRAM...: the exit code is the program's own, or tells the signal that ended it.
launch() {
  local app=$1 status=0 caught='' crashed=''
  shift
  # A launcher's ranks never see the terminal; the progress line wants to know.
  if [[ -t 2 ]]; then export KONTOR_TERMINAL=1; fi
  local variable
  export KONTOR_RANKS=$ranks # the program refuses to be on fewer
  for variable in "${mpi_ends_at_once[@]}" "${launcher_environment[@]}"; do export "${variable?}"; done
  make_run_folder
  reclaim_shared_memory
  supervise "${launcher[@]}" "$@" || status=$?
  reclaim_shared_memory
  if was_stuck; then
    if [[ $(<"$KONTOR_RUN_FOLDER/stuck") == failed ]]; then
      say "a rank failed, and $(basename "${launcher[0]}") had not ended $grace_to_abort s later, as when a host has vanished; it was ended"
    else
      say "the ranks were done, and $(basename "${launcher[0]}") had not ended $grace_to_finish s later, as when a rank is killed at its end; it was ended"
    fi
    status=3
  elif [[ -n $caught && $status == 4 ]]; then
    say "$app ended early, as signal $caught asked; its record says how far it came"
  elif [[ -n $caught ]] && ((status == 0)); then
    : # it was done already
  elif [[ -n $caught ]] && asked_to_end && ((status == 2 || status == 3)); then
    : # it has said why it could not end as it was asked to
  elif [[ -n $caught ]]; then
    say "$app was interrupted by signal $caught"
    status=$((128 + $(kill -l "$caught")))
  elif [[ -n $crashed ]]; then
    say "$(basename "${launcher[0]}") itself was ended by signal $(kill -l $((status - 128))), and $app with it$(reason_of "$status")"
    status=3
  elif ((status > 128)) && kill -l $((status - 128)) >/dev/null 2>&1; then
    say "$app was ended by signal $(kill -l $((status - 128)))$(reason_of "$status")"
  elif ((status > 4)) && ranks_have_started; then
    say "$(basename "${launcher[0]}") ended with code $status while $app ran: a host or its daemon was lost"
    status=3
  elif ((status == 1)) && ranks_have_started && ! a_rank_was_done; then
    say "$(basename "${launcher[0]}") ended with code 1 before $app was done, as when it is told to end"
    status=3
  elif ((status != 0 && status != 2 && status != 3 && status != 4)) && ! ranks_have_started && cannot_start "$1"; then
    status=3
  fi
  remove_run_folder
  exit "$status"
}

# Exit code 1 is a failed verification, or a launcher or an MPI that could not start: --list-backends needs no more than
# these two.
cannot_start() {
  local probe=() word said
  for word in "${launcher[@]}"; do
    if [[ $word != --quiet ]]; then probe+=("$word"); fi
  done
  probe+=("$1" --list-backends)
  if said=$("${probe[@]}" 2>&1); then return 1; fi
  say "the program could not be started: $(quoted "${probe[@]}")"$'\n'"$said"
}
