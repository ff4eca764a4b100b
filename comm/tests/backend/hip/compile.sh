#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compile.sh CLANG [OPTION...]: backends `nccl` and `ipc` are valid HIP for host and device. The sources of a folder
# are read as one, because each alone reads all headers. RCCL is a stub: comm/tests/backend/hip/rccl/rccl.h.
set -euo pipefail
cd "$(dirname "$0")/../../.."

hip=("$@" -x hip --offload-arch=gfx90a -nogpulib -std=gnu++20 -fsyntax-only -Wall -Werror -I. -Iinclude -I../mpi/include -I../device/include -I../errors/include -Itests/backend/hip)
read_as_one() { printf '#include "%s"\n' "$@" | "${hip[@]}" -; }

read_as_one backend/ipc/*.cu backend/ipc/*.cpp
read_as_one backend/nccl/*.cpp
