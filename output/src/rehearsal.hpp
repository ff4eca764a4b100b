// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "step.hpp"

#include <cstdint>

namespace kontor::output {

/// Local. Makes a step in a process of its own, which is gone before this returns; the caller then makes the same step.
/// The HDF5 library (1.10.8 at least) checks little of what it reads: from a damaged file it may read outside of its
/// memory, ask for all there is, or never come back. Throws Error if that process does not survive the step, or wants
/// far more memory than the file has bytes; an Error of the step is left to the caller. The process is another program,
/// kontor-rehearse: a fork of an MPI process would share memory that MPI and CUDA have registered. The program is
/// KONTOR_REHEARSE of the environment, or is beside the running one, or where it was built. Where it cannot be started,
/// there is no rehearsal.
void rehearse(int descriptor, const Step&);

/// How the program ends that has survived a step, and the one that wanted more memory than it had.
enum RehearsalEnd : int { survived = 0, wants_memory = 3 };

} // namespace kontor::output
