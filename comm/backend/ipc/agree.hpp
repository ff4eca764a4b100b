// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/ipc/memory.hpp"
#include "base/agree.hpp"

#include <kontor/comm/error.hpp>

#include <mpi.h>

/// What all ranks of a node do to reach each other's memory.
namespace kontor::comm::ipc {

/// Collective. Each rank does its part; if one of them fails, all throw UsageError with that one's text.
template <class Part>
void agree(MPI_Comm comm, const std::string& subject, const Part& part) {
  try {
    mpi::agree(comm, subject, part);
  } catch (const AgreedError& error) {
    throw UsageError(error.what(), Axis::backend);
  }
}

/// Collective; no kernel may still use the addresses. Nobody has this rank's memory mapped any more, so that it may be
/// freed. Where MPI reports an error the program ends, or the others would wait.
inline void close_on_all_ranks(MPI_Comm comm, Mappings& mappings) noexcept {
  mappings.close();
  mpi::check_or_terminate(MPI_Barrier(comm), "MPI_Barrier");
}

/// Collective. `open` opens the mappings of this rank; if one of them cannot, all close theirs and throw UsageError.
template <class Open>
void open_on_all_ranks(MPI_Comm comm, const std::string& subject, Mappings& mappings, const Open& open) {
  try {
    agree(comm, subject, open);
  } catch (const UsageError&) { // on all ranks; after an error of MPI others do not come to the barrier
    close_on_all_ranks(comm, mappings);
    throw;
  }
}

} // namespace kontor::comm::ipc
