// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph/problem/roots.hpp"

#include "random/counter_random.hpp"

#include <kontor/comm/reductions.hpp>
#include <kontor/comm/view_of.hpp>

#include <algorithm>
#include <set>

namespace kontor::graph {

std::vector<std::int64_t> choose_roots(const comm::Communicator& comm, const Options& o, std::int64_t vertices,
                                       const std::function<bool(std::int64_t)>& has_edge) {
  constexpr std::int64_t tries = 64; // for each root: of a Kronecker graph most vertices have no edge
  std::vector<std::int64_t> candidates;
  std::set<std::int64_t> seen;
  const auto take = [&](std::int64_t v) {
    if (seen.insert(v).second) candidates.push_back(v);
  };
  if (vertices <= tries * o.roots)
    for (std::int64_t v = 0; v < vertices; ++v) candidates.push_back(v);
  else
    for (std::int64_t i = 0; i < tries * o.roots; ++i)
      take(static_cast<std::int64_t>(random::bits_at(static_cast<std::uint64_t>(~o.seed), i, 0) %
                                     static_cast<std::uint64_t>(vertices)));
  std::vector<int> has(candidates.size());
  std::ranges::transform(candidates, has.begin(), [&](std::int64_t v) { return has_edge(v) ? 1 : 0; });
  comm::allreduce(comm, comm::view_of(has), comm::ReduceOp::max);
  std::vector<std::int64_t> roots;
  for (const int wanted : {1, 0})
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (has[i] == wanted && static_cast<std::int64_t>(roots.size()) < o.roots) roots.push_back(candidates[i]);
  return roots;
}

} // namespace kontor::graph
