// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/directory.hpp"
#include "mesh/local_mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

/// What nodes of several ranks have, beside what plain MPI brings together: the exchange that is checked takes no part.
namespace kontor::mesh {

/// Collective. The greatest difference of `of_node(local node)` from the sum of `of_corner(local element, corner)` of
/// all ranks' own elements, relative to the sum of sizes; infinite if one is not finite. All nodes of several ranks are
/// looked at, and some of the others.
template <class OfNode, class OfCorner>
double error_of_sums(const comm::Communicator& comm, const LocalMesh& mesh, const OfNode& of_node,
                     const OfCorner& of_corner) {
  struct Sum {
    Point value{}, size{};
  };
  std::vector<bool> chosen(mesh.node.size(), false);
  constexpr GlobalIndex most = 100000;
  for (LocalIndex n = 0; n < mesh.nodes(); ++n) chosen[n] = mesh.node[n] % (mesh.all_nodes / most + 1) == 0;
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
