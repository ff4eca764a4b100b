// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/coordinate_matrix.hpp"

#include <kontor/comm/communicator.hpp>

#include <optional>

/// Parts by METIS: G. Karypis, V. Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs",
/// SIAM J. Sci. Comput. 20, 1998.
namespace kontor::partition {

/// Local. Whether this build has METIS.
bool has_metis();

/// Local. Why METIS cannot divide rows of this weight together, to follow "metis"; nothing if it can.
std::optional<std::string> metis_refusal(std::int64_t weight);

/// Local. The part of each row of a matrix with sorted entries: parts of about equal weight and few entries between
/// them, always the same; a part may be empty. A row weighs no less than it has entries. Only without a
/// metis_refusal(). Throws std::runtime_error with METIS' code if it fails.
std::vector<int> metis_parts(const CoordinateMatrix&, const std::vector<std::int64_t>& weights, int parts);

/// Collective. The part of each element of a mesh whose elements have `corners` nodes each, `nodes` of this rank's
/// elements, one after the other: parts of about equally many elements and few faces between them, always the same.
/// Rank 0 takes in the whole mesh. Throws AgreedError if METIS fails.
std::vector<int> metis_mesh_parts(const comm::Communicator&, const std::vector<std::int64_t>& nodes, int corners,
                                  std::int64_t node_count, int parts);

} // namespace kontor::partition
