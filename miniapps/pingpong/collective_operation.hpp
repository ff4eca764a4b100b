// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kontor::pingpong {

/// One collective operation, twice: by hand and typed. It owns its Views.
struct Operation {
  std::string name;
  std::function<void()> raw;
  std::function<void()> typed;
  Payload payload;
  std::string baseline = "raw"; ///< what the two are called
  std::string series = "typed";
};

/// Gives the operation with Views for `size` elements from each rank to each.
using MakeOperation = Operation (*)(const comm::Communicator&, std::int64_t size);

/// Those whose ranks send different numbers of elements: with counts that are known, with counts that travel
/// too, along a grid, and to few ranks. View: of int or double, of rank 1, on the host.
template <class View>
std::vector<MakeOperation> uneven_operations();

} // namespace kontor::pingpong
