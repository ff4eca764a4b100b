// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/vector.hpp"

#include <kontor/comm/communicator.hpp>

#include <vector>

/// Which rows of the matrix a rank has, and which of other ranks its rows read.
namespace kontor::partition {

/// Another rank that reads rows of this one, or whose rows this one reads.
struct Neighbour {
  int rank = 0;
  LocalIndex first_ghost = 0; ///< local number of the first of its rows here; they follow one another
  LocalIndex ghosts = 0;      ///< how many
  Rows sent = {};             ///< own rows that it reads, in the order of its ghosts
};

/// The rows of one rank. Local numbers: own rows from 0, then the ghosts, by neighbour. The first `interior` own rows
/// read no ghosts, the others do.
struct Partition {
  GlobalIndex rows = 0;                   ///< of the whole matrix
  LocalIndex own = 0;                     ///< rows of this rank; may be 0
  LocalIndex interior = 0;                ///< those that read no ghosts
  LocalIndex ghosts = 0;                  ///< rows of other ranks that are read here
  std::vector<Neighbour> neighbours = {}; ///< by rank
  /// The numbers of own rows and ghosts in the whole matrix, by local number: (own + ghosts).
  Kokkos::View<GlobalIndex*> global = {};
};

/// Collective. A partition from the global numbers of own rows (in their local order) and of ghosts with the ranks that
/// own them, which need not be in order: `global` gets the ghosts sorted by owner and number. The owners are told which
/// of their rows are read. `interior` is left to the caller.
struct GhostRow {
  int owner = 0;
  GlobalIndex row = 0;
};
Partition make_partition(const comm::Communicator&, GlobalIndex rows, const std::vector<GlobalIndex>& own,
                         std::vector<GhostRow> ghosts);

} // namespace kontor::partition
