// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/coordinate_matrix.hpp"

namespace kontor::partition {

/// Local. The rows in an order in which neighbours are near each other: E. Cuthill, J. McKee, "Reducing the bandwidth
/// of sparse symmetric matrices", ACM '69, reversed. Each connected part begins at a row found by A. George, J. W. H.
/// Liu, "An implementation of a pseudoperipheral node finder", ACM TOMS 5, 1979. Rows of equal degree come by number,
/// so that the order is always the same.
std::vector<std::int64_t> reverse_cuthill_mckee(const Graph<std::int64_t>&);

/// Local. The greatest distance of neighbours in an order.
std::int64_t bandwidth(const CoordinateMatrix&, const std::vector<std::int64_t>& order);

} // namespace kontor::partition
