// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

namespace kontor::comm::nccl {

/// Collective. NCCL takes one GPU for each rank: throws UsageError, with two ranks, their GPU and host, where
/// ranks use the same one, and AgreedError where a rank has none.
void refuse_shared_devices(MPI_Comm);

} // namespace kontor::comm::nccl
