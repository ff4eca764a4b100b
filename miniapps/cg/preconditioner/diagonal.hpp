// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/compressed_rows.hpp"

#include <kontor/comm/communicator.hpp>

namespace kontor::cg {

/// The diagonal D of the matrix.
struct InverseDiagonal {
  Vector values;        ///< of D^-1, own rows; 0 where an entry of D is 0
  bool positive = true; ///< all entries of D are above 0, on all ranks
  /// The largest eigenvalue of D^-1 A is not above this: of all ranks' rows the largest sum |a_ij| / a_ii (S. A.
  /// Gershgorin, 1931).
  double gershgorin = 0;
};

/// Collective.
InverseDiagonal inverse_diagonal(const comm::Communicator&, const CompressedRows&);

} // namespace kontor::cg
