// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/local_mesh.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace kontor::mesh {

/// The corners of elements at each node, in the order of the elements' numbers, which is the same on any ranks.
struct NodeCorners {
  std::vector<LocalIndex> first;  ///< where those of a node begin: nodes + 1
  std::vector<LocalIndex> corner; ///< 8 local element + corner of it
};

/// Local.
inline NodeCorners corners_of_nodes(const LocalMesh& mesh) {
  NodeCorners result{std::vector<LocalIndex>(mesh.node.size() + 1), std::vector<LocalIndex>(8 * mesh.element.size())};
  std::vector<LocalIndex> by_number(mesh.element.size());
  std::iota(by_number.begin(), by_number.end(), 0);
  std::ranges::sort(by_number, {}, [&](LocalIndex e) { return mesh.element[e]; });
  for (const auto& corners : mesh.corner)
    for (const auto node : corners) ++result.first[node + 1];
  std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
  auto next = result.first;
  for (const auto e : by_number)
    for (int c = 0; c < 8; ++c) result.corner[next[mesh.corner[e][c]]++] = 8 * e + c;
  return result;
}

} // namespace kontor::mesh
