// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/options.hpp"

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace kontor::graph {

/// Collective. Different random vertices to search from: those that have an edge first, then others if there are too
/// few. has_edge(vertex) is asked of vertices of this rank: false for others. At most as many as there are vertices.
std::vector<std::int64_t> choose_roots(const comm::Communicator&, const Options&, std::int64_t vertices,
                                       const std::function<bool(std::int64_t)>& has_edge);

} // namespace kontor::graph
