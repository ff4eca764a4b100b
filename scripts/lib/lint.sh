# shellcheck shell=bash
# shellcheck disable=SC2154 # kontor_root and build_dir are set by scripts/kontor
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# kontor lint: formatting and common mistakes, offline, with the tools that are here.

lint_usage() {
  cat <<'EOF'
kontor lint [--fix]

  clang-format   C++ is formatted as .clang-format says (--fix formats it)
  clang-tidy     .clang-tidy, with build/compile_commands.json; not on tests (see CONTRIBUTING.md)
  licence        every source file has its SPDX line
  shellcheck     shell scripts
  py_compile     Python compiles

A tool that is not installed is named and left out. Exits with 1 if anything was found.
EOF
}

lint_command() {
  local fix=''
  case ${1-} in
    -h | --help) lint_usage && return ;;
    --fix) fix=yes ;;
    '') ;;
    *) fail "lint: '$1' is not an option; there is --fix" ;;
  esac
  cd "$kontor_root" || exit
  have git || fail "lint needs git, to know which files are the project's"
  local findings=0 check
  for check in format tidy licence shell python; do
    "lint_$check" || {
      say "lint: findings from $check"
      findings=1
    }
  done
  if ((findings == 0)); then say "lint: nothing found"; fi
  return "$findings"
}

# sources PATTERN...: the project's files, NUL separated: what git tracks or would track.
sources() {
  local file
  git ls-files -z --cached --others --exclude-standard -- "$@" | sort -zu | while IFS= read -rd '' file; do
    if [[ -f $file ]]; then printf '%s\0' "$file"; fi
  done
}

# first_of TOOL...: the first that is installed; says so when none is.
first_of() {
  local tool
  for tool in "$@"; do have "$tool" && echo "$tool" && return; done
  say "lint: $1 is not installed (apt-get install $1); left out"
  return 1
}

# The style is version 14's: others format a few things differently.
lint_format() {
  local tool mode=(--dry-run --Werror)
  tool=$(first_of clang-format-14 clang-format) || return 0
  if [[ -n $fix ]]; then mode=(-i); fi
  sources '*.cpp' '*.hpp' | xargs -0r "$tool" --style=file "${mode[@]}"
}

lint_tidy() {
  local tool database=$build_dir/compile_commands.json
  tool=$(first_of clang-tidy-14 clang-tidy) || return 0
  if [[ ! -f $database ]]; then
    say "lint: no $(shown_path "$database"): run kontor build first; clang-tidy left out"
    return 0
  fi
  local own=$build_dir/clang-tidy python
  python=$(python_with json) || { say "lint: python3 is not installed; clang-tidy left out" && return 0; }
  mkdir -p "$own"
  "$python" "$kontor_root/scripts/tidy_database.py" "$database" >"$own/compile_commands.json"
  # Only what is compiled here has an entry to check with. Tests use C++20 that clang 14 does not compile yet.
  sources '*.cpp' ':!:*/tests/*' | while IFS= read -rd '' file; do
    if grep -qF "$kontor_root/$file\"" "$own/compile_commands.json"; then printf '%s\0' "$file"; fi
  done | xargs -0r -n 1 -P "$(processing_units)" "$tool" --quiet -p "$own" 2>/dev/null
}

lint_licence() {
  local without
  without=$(sources '*.cpp' '*.hpp' '*.in' '*.cmake' 'CMakeLists.txt' '*/CMakeLists.txt' '*.py' '*.sh' scripts/kontor .ci/run |
    xargs -0r grep -LF 'SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception' || true)
  [[ -z $without ]] || {
    # shellcheck disable=SC2086 # one word a file
    printf '%s: no SPDX-License-Identifier line\n' $without >&2
    return 1
  }
}

lint_shell() {
  local tool
  tool=$(first_of shellcheck) || return 0
  sources '*.sh' scripts/kontor .ci/run | xargs -0r "$tool"
}

lint_python() {
  local python
  python=$(python_with py_compile) || { say "lint: python3 is not installed; left out" && return 0; }
  sources '*.py' | xargs -0r "$python" -m py_compile
}
