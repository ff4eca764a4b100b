# shellcheck shell=bash
# shellcheck disable=SC2154 # kontor_root, preset and build_dir are set by scripts/kontor
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a bare machine to built programs: packages, configure, build. Does only what is still to do.

configure_options=() # CMake options of this call (kontor build -D...)

# ensure_built TARGET: returns when TARGET is built and up to date.
ensure_built() {
  [[ -z ${KONTOR_BUILT-} ]] || return 0 # the caller has seen to it
  if configured && { ! have cmake || [[ ! -w $build_dir ]]; }; then
    say "cannot build here (no cmake, or a read-only folder): using $(shown_path "$build_dir") as it is"
    return
  fi
  mkdir -p "$build_dir"
  local log=$build_dir/kontor-build.log
  (
    # Two runs started at once must not build at once; file systems without locks, such as Lustre without `flock`, cannot help.
    if have flock && ! flock 9; then say "$(shown_path "$build_dir") has no locks: do not build there twice at once"; fi
    : >"$log"
    if [[ -n ${KONTOR_KOKKOS_SOURCE-} ]]; then build_kokkos; fi
    if ! configured || ((${#configure_options[@]})); then configure; fi
    if [[ -n ${for_tests-} ]]; then get_test_packages; fi
    compile "$1"
  ) 9>"$build_dir/kontor-build.lock"
}

configured() { [[ -f $build_dir/build.ninja || -f $build_dir/Makefile ]]; }

configure() {
  if can_configure && run_cmake; then return; fi
  if can_configure && ! lacks_dependency; then cannot_configure; fi

  if ! install_missing; then
    if can_configure; then show_cmake_error; else say "a C++20 compiler and CMake (3.22 or later) are not both on PATH"; fi
    fail "set-up stopped: get what scripts/packages.txt lists (Spack, modules, own builds), then run this again"
  fi
  rm -rf "$build_dir/CMakeCache.txt" "$build_dir/CMakeFiles" # they remember what was not found
  run_cmake || cannot_configure
}

cannot_configure() {
  show_cmake_error
  fail "CMake could not configure; the whole output is in $(shown_path "$log")"
}

# Tests are skipped without these, so they are asked for once in a build folder, and done without where they cannot be had.
get_test_packages() {
  local missing=() asked=$build_dir/kontor-test-packages
  if [[ -e $asked ]] || ! have apt-get || ! have dpkg-query; then return; fi
  mapfile -t missing < <(missing_packages packages-test.txt)
  if ((${#missing[@]} == 0)); then
    :
  elif (install_packages "${missing[@]}"); then
    run_cmake || cannot_configure
  else
    say "going on without: the tests that need them are skipped"
  fi
  : >"$asked"
}

# Fails if there is nothing that it could install.
install_missing() {
  local missing=()
  if have apt-get && have dpkg-query; then mapfile -t missing < <(missing_packages packages.txt "packages-$preset.txt"); fi
  ((${#missing[@]})) && install_packages "${missing[@]}"
}

can_configure() { have cmake && { have "${CXX:-c++}" || have g++ || have clang++; }; }

run_cmake() {
  local generator=()
  if [[ ! -f $build_dir/CMakeCache.txt ]] && have ninja; then generator=(-G Ninja); fi
  say "configuring (some seconds)"
  (cd "$kontor_root" && cmake --preset "$preset" -B "$build_dir" "${generator[@]}" "${configure_options[@]}") >>"$log" 2>&1
}

lacks_dependency() { grep -qE 'Kontor needs|Could NOT find|No CMAKE_C(XX)?_COMPILER|build program corresponding to' "$log"; }

show_cmake_error() {
  sed -n '/^CMake Error/,/^Call Stack\|^-- Configuring incomplete/{/^Call Stack\|^-- Configuring/!p}' "$log" >&2
}

# missing_packages LIST...: the names in these files of scripts/, those that there are, that are not installed.
missing_packages() {
  local wanted
  wanted=$(cd "$kontor_root/scripts" && { cat "$@" 2>/dev/null || true; } | sed 's/#.*//; s/[[:space:]]//g; /^$/d')
  # shellcheck disable=SC2086 # one word a package
  comm -23 <(sort <<<"$wanted") \
    <({ dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null || true; } | sed -n 's/ installed$//p' | sort)
}

install_packages() {
  local as_root=()
  if [[ $(id -u) != 0 ]]; then
    if have sudo && { sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; }; }; then
      as_root=(sudo)
    else
      say "packages are missing, and installing them needs root or sudo. Have this run once:"
      echo "apt-get install --no-install-recommends $*" >&2
      exit 2
    fi
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  local install=("${apt[@]}" install --yes --no-install-recommends "$@")

  say "installing $# packages (about a minute): $*"
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then "${apt[@]}" update >>"$log" 2>&1 || true; fi
  # A second try with fresh lists: old ones name files that the mirror no longer has.
  "${install[@]}" >>"$log" 2>&1 || { "${apt[@]}" update && "${install[@]}"; } >>"$log" 2>&1 || {
    tail -n 15 "$log" >&2
    fail "apt-get could not install; the whole output is in $(shown_path "$log")"
  }
}

compile() {
  local status=0
  show_progress &
  progress=$!
  trap 'kill "$progress" 2>/dev/null || true' EXIT
  cmake --build "$build_dir" --target "$1" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(processing_units)}" >>"$log" 2>&1 || status=$?
  ((status == 0)) || build_failed "the build failed"
}

# build_failed MESSAGE: after the first errors of the log, or its end.
build_failed() {
  grep -m 3 -A 4 -E '(error|Error|undefined reference)[: ]' "$log" >&2 || tail -n 25 "$log" >&2
  fail "$1; the whole output is in $(shown_path "$log")" 3
}

# Silent while there is nothing to compile; then says so, with a counter on a terminal.
show_progress() {
  sleep 1 &>/dev/null 9>&- # nobody waits for what it would hold open
  say "compiling (a minute or two the first time; output in $(shown_path "$log"))"
  while [[ -t 2 ]]; do
    printf '\r%s ' "$(tail -n 1 "$log" | grep -o '^\[[^]]*\]')" >&2
    sleep 0.5 &>/dev/null 9>&-
  done
}
