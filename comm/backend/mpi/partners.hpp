// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backend/mpi/mpi_backend.hpp"

#include <vector>

namespace kontor::comm::mpi {

/// Ranks that exchange with each other, in ascending order, and a communicator of them.
struct Partners {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> ranks;

  std::size_t number_of(int rank) const;
};

/// Collective over the communicator. Where its ranks fall into groups in which everybody exchanges with everybody, as
/// in the rows of a process grid, those of this rank; else all of them.
Partners partners_of(MPI_Comm, const MessageSet&);

/// Collective. Those of a communicator that give the same color, in the order of ranks.
MPI_Comm split(MPI_Comm, int color);

/// A part of what goes to, or comes from, one of the ranks of a collective call.
struct BundlePiece {
  std::size_t rank;
  const void* data;
  int count;
  MPI_Datatype type;
};

/// The arguments of MPI_Ialltoallw at one end: with each rank one item of a type that has the pieces, in their order,
/// by their addresses.
struct Bundles {
  std::vector<int> counts, places;
  std::vector<MPI_Datatype> types;
  std::vector<Datatype> made; ///< the same, owned

  /// Local. With so many ranks.
  Bundles(std::size_t ranks, const std::vector<BundlePiece>&);
};

} // namespace kontor::comm::mpi
