// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/local_mesh.hpp"

#include <kontor/comm/reductions.hpp>

#include <algorithm>
#include <cmath>

/// How large a mesh and its elements are, for the bounds of checks.
namespace kontor::mesh {

/// Local. How many elements of the least size there would be along the largest coordinate, times the length of the
/// flattest one relative to its size: digits that differences lose.
inline double lost_digits(const LocalMesh& mesh) {
  double largest = 0, least = INFINITY, flattest = 1;
  for (LocalIndex e = 0; e < mesh.elements(); ++e) {
    const auto x = mesh.points(e);
    const double size = element::integrate_element(x).size();
    least = std::min(least, size);
    for (const auto& point : x) {
      largest = std::max(largest, element::norm(point));
      flattest = std::max(flattest, element::distance(point, x[0]) / size);
    }
  }
  return (1 + largest / least) * flattest;
}

/// Collective. Whether no held node feels nodes that moves(local node) at the start in so many steps: a step reaches
/// the nodes of common elements alone. Looks at boxes around those that move and are held, and at the longest elements.
template <class Moves>
bool held_out_of_reach(const comm::Communicator& comm, const LocalMesh& mesh, const Moves& moves, std::int64_t steps) {
  std::array<double, 18> box; // moving, held; lengths: each with the other sign at odd places
  box.fill(INFINITY);
  const auto lower = [&](int k, double value) { box[k] = std::min(box[k], value); };
  for (LocalIndex n = 0; n < mesh.nodes(); ++n) {
    const auto& [place, held] = mesh.place[n];
    for (int k = 0; k < 6 && (held || moves(n)); ++k)
      lower(6 * (held ? 1 : 0) + k, k % 2 == 0 ? place[k / 2] : -place[k / 2]);
  }
  for (LocalIndex e = 0; e < mesh.elements(); ++e) {
    const auto x = mesh.points(e);
    for (const auto& a : x)
      for (const auto& b : x)
        for (int d = 0; d < 3; ++d) lower(12 + d, a[d] - b[d]);
  }
  box = comm::allreduce(comm, box, comm::ReduceOp::min);
  for (int d = 0; d < 3; ++d)
    if (std::max(box[6 + 2 * d] + box[2 * d + 1], box[2 * d] + box[6 + 2 * d + 1]) >
        -box[12 + d] * static_cast<double>(steps))
      return true;
  return false;
}

} // namespace kontor::mesh
