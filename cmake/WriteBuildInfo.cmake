# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Script, run at each build: fills in template -> output, touching the file only if something changed.
# Variables: source_dir, template, output, version, compiler, flags.

# git refuses a folder of another owner, whose hooks it might run; but what is in this one is being built.
execute_process(
  COMMAND git -c safe.directory=* -C ${source_dir} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE git_revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE git_error
)
if(NOT git_revision)
  set(git_revision unknown)
  if(EXISTS ${source_dir}/.git)
    message(WARNING "Programs will say that their revision is unknown, because git does not tell: ${git_error}")
  endif()
endif()
configure_file(${template} ${output} @ONLY)
