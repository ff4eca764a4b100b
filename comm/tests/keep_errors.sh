#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# keep_errors.sh <file> <compiler> <argument>...: what the compiler says goes into the file.
log=$1
shift
exec "$@" >"$log" 2>&1
