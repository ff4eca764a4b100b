// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/options.hpp>

#include <mpi.h>

namespace kontor::comm {

/// Collective, whatever the options. Throws UsageError on every rank, naming two ranks and what they have, if
/// the options, the timeout aside, are not equal on all of them.
void require_equal(MPI_Comm, const Options&);

} // namespace kontor::comm
