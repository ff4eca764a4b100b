// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/partition.hpp"

#include <kontor/comm/exchange.hpp>

#include <string>

namespace kontor::partition {

/// A vector that the matrix is multiplied with: own values, then the ghosts, which the exchange fills in place.
class GhostedVector {
 public:
  /// Collective. The exchange is committed, and measures its times. `own_and_ghosts`: room for it; empty: it has its
  /// own.
  GhostedVector(const comm::Communicator&, const Partition&, const std::string& label, const Space& instance = {},
                const Vector& own_and_ghosts = {});

  const Vector& all() const { return all_; } ///< own + ghosts
  const Vector& own() const { return own_; }
  comm::Exchange<Vector>& exchange() { return exchange_; }
  const comm::Exchange<Vector>& exchange() const { return exchange_; }

 private:
  Vector all_;
  Vector own_;
  comm::Exchange<Vector> exchange_;
};

} // namespace kontor::partition
