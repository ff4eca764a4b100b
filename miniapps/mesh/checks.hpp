// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/directory.hpp"
#include "mesh/local_mesh.hpp"
#include "random/counter_random.hpp"

#include <kontor/comm/reductions.hpp>

#include <cmath>

/// What checks look at: how large a mesh and its elements are, for bounds; and what nodes of several ranks have, beside
/// what plain MPI brings together, so that the exchange that is checked takes no part.
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

/// Collective. The greatest difference of `of_node(local node)` from the sum of `of_corner(local element, corner)` of
/// all ranks' own elements, relative to the sum of sizes; infinite if one is not finite. All nodes of several ranks are
/// looked at, and random ones of the others.
template <class OfNode, class OfCorner>
double error_of_sums(const comm::Communicator& comm, const LocalMesh& mesh, std::uint64_t seed, const OfNode& of_node,
                     const OfCorner& of_corner) {
  struct Sum {
    Point value{}, size{};
  };
  std::vector<bool> chosen(mesh.node.size(), false);
  constexpr GlobalIndex most = 100000;
  for (LocalIndex n = 0; n < mesh.nodes(); ++n)
    chosen[n] = random::bits_at(seed, 0, mesh.node[n]) % (mesh.all_nodes / most + 1) == 0;
  for (const auto& neighbour : mesh.neighbours)
    for (const auto* list : {&neighbour.sent, &neighbour.received})
      for (const auto n : *list) chosen[n] = true;
  const Directory directory{mesh.all_nodes, comm.size()};
  partition::ByRank<Numbered<Point>> sent;
  for (LocalIndex e = 0; e < mesh.elements(); ++e)
    for (int c = 0; mesh.own[e] && c < 8; ++c)
      if (const auto n = mesh.corner[e][c]; chosen[n])
        sent[directory.rank_of(mesh.node[n])].push_back({mesh.node[n], of_corner(e, c)});
  std::vector<Sum> share(static_cast<std::size_t>(directory.size(comm.rank())));
  for (const auto& [rank, list] : partition::exchange_by_rank(comm, "values of corners", sent))
    for (const auto& [node, value] : list) {
      auto& sum = share[node - directory.first(comm.rank())];
      for (int i = 0; i < 3; ++i) {
        sum.value[i] += value[i];
        sum.size[i] += std::abs(value[i]);
      }
    }
  std::vector<GlobalIndex> numbers;
  std::vector<LocalIndex> local;
  for (LocalIndex n = 0; n < mesh.updated; ++n)
    if (chosen[n]) {
      numbers.push_back(mesh.node[n]);
      local.push_back(n);
    }
  const auto wanted = look_up(comm, directory, numbers, share);
  double most_error = 0;
  for (std::size_t k = 0; k < local.size(); ++k)
    for (int i = 0; i < 3; ++i) {
      const double difference = std::abs(of_node(local[k])[i] - wanted[k].value[i]), size = wanted[k].size[i];
      if (!(difference == 0))
        most_error = std::isfinite(difference / size) ? std::max(most_error, difference / size) : INFINITY;
    }
  return most_error;
}

/// Collective. How many of this rank's nodes have another row(local node) than the rank has that counts them.
template <class Row>
double different_copies(const comm::Communicator& comm, const LocalMesh& mesh, const Row& row) {
  std::vector<Numbered<decltype(row(0))>> records;
  for (LocalIndex n = 0; n < mesh.nodes(); ++n)
    if (mesh.counted[n]) records.push_back({mesh.node[n], row(n)});
  const Directory directory{mesh.all_nodes, comm.size()};
  const auto wanted = look_up(comm, directory, mesh.node, hand_in(comm, directory, records));
  double different = 0;
  for (LocalIndex n = 0; n < mesh.nodes(); ++n) different += row(n) == wanted[n] ? 0 : 1;
  return different;
}

} // namespace kontor::mesh
