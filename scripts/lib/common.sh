# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Messages and small questions that every command asks.

# Progress goes to stderr: stdout belongs to the programs.
say() { echo "kontor: $*" >&2; }

# fail MESSAGE [EXIT CODE]: 2, bad usage or set-up, unless told otherwise.
fail() {
  say "$1"
  exit "${2:-2}"
}

asks_for_help() { [[ ${1-} == -h || ${1-} == --help ]]; }

have() { command -v "$1" >/dev/null 2>&1; }

# The path as seen from here, when that is shorter.
shown_path() {
  local path=${1#"$PWD"/}
  echo "$path"
}

# python_with MODULE...: prints a Python that can import all of them. The system's comes first: its packages are
# the ones we install, and the python3 on PATH may be another.
python_with() {
  local python candidates=(/usr/bin/python3 python3)
  if [[ -n ${KONTOR_PYTHON-} ]]; then candidates=("$KONTOR_PYTHON"); fi
  for python in "${candidates[@]}"; do
    if have "$python" && "$python" -c 'import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))' "$@"; then
      echo "$python"
      return
    fi
  done
  return 1
}

# need_python MODULE WHAT: sets `python` to one that has the module, which is told to be what WHAT needs.
need_python() {
  python=$(python_with "$1") || fail "$2 needs Python with $1: apt-get install python3-$1, or set KONTOR_PYTHON"
}

# leave_stdin WORD...: what we start would read what is not for it, such as the rest of the script that calls us. Stdin stays
# if it is a terminal, by which sudo knows that somebody is there, or one of the words.
leave_stdin() {
  local word
  for word in "$@"; do
    if [[ ${word#--*=} =~ ^(/dev/stdin|/dev/fd/0|/proc/self/fd/0)$ ]]; then return; fi
  done
  [[ -t 0 ]] || exec </dev/null
}

# temporary_folder NAME: makes one and prints it.
temporary_folder() {
  mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX" 2>/dev/null ||
    fail "no folder can be made in ${TMPDIR:-/tmp}; let TMPDIR name one that is there, where you may write and there is room"
}
