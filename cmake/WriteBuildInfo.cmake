# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Script, run at each build: fills in template -> output, touching the file only if something changed.
# Variables: source_dir, template, output, version, compiler, flags.

execute_process(
  COMMAND git -C ${source_dir} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE git_revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
)
if(NOT git_revision)
  set(git_revision unknown)
endif()
configure_file(${template} ${output} @ONLY)
