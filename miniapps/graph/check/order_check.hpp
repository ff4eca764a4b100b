// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "graph/options.hpp"
#include "run/record/result.hpp"

#include <kontor/comm/communicator.hpp>

#include <cstdint>
#include <vector>

namespace kontor::graph {

/// Collective. Whether the ranks' parts, one after the other, are the deck's keys in order. `checksum`: of the order.
miniapp::Verification check_order(const comm::Communicator&, const Options&, const std::vector<std::uint64_t>& sorted,
                                  std::uint64_t& checksum);

} // namespace kontor::graph
