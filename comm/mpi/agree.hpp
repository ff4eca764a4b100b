// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

namespace kontor::comm::mpi {

/// Collective. If any rank comes with a problem, throws AgreedError with the lowest such rank's text on every
/// rank.
void agree(MPI_Comm, const std::optional<std::string>& problem);

} // namespace kontor::comm::mpi
