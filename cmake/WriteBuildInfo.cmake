# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Script, run at each build: fills in template -> output, touching the file only if something changed.
# Variables: source_dir, template, output, revision (a file), version, compiler, flags.

# Of the repository whose top is source_dir, not of one around an unpacked archive, nor of one that a hook of git names.
foreach(variable DIR WORK_TREE INDEX_FILE COMMON_DIR OBJECT_DIRECTORY)
  unset(ENV{GIT_${variable}})
endforeach()
# git refuses a folder of another owner, whose hooks it might run; but what is in this one is being built.
execute_process(
  COMMAND git -c safe.directory=* --git-dir=${source_dir}/.git --work-tree=${source_dir} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE git_revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE git_error
)
if(NOT git_revision)
  set(git_revision unknown)
  if(EXISTS ${source_dir}/.git)
    message(WARNING "Programs will say that their revision is unknown, because git does not tell: ${git_error}")
  endif()
endif()
configure_file(${template} ${output} @ONLY)
file(WRITE ${revision} "${git_revision}\n")
