// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "watched.hpp"

#include <mpi.h>

namespace kontor::comm::test {

/// Collective. The elements that `receive` holds after a step, which are its own if `source` is no_rank: MPI_Sendrecv
/// delivers them, and elements meet by logical index.
Bytes delivered(MPI_Comm comm, const Watched& send, int destination, const Watched& receive, int source);

/// A View that is sent and another one that receives: after a step both hold what they must, and nothing else has
/// changed.
class Delivery {
 public:
  Delivery(Watched send, Watched receive);

  /// Collective. Gives both Views data that depend on rank, step and number. A peer may be no_rank.
  void prepare(MPI_Comm comm, int destination, int source, int step, int number);
  void check() const;

 private:
  Watched send_;
  Watched receive_;
  Bytes expected_;
};

} // namespace kontor::comm::test
