// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "advection/options.hpp"
#include "grid/block.hpp"
#include "machine/memory.hpp"

#include <vector>

namespace kontor::advection {

/// Local. The Views of a rank that has this block.
std::vector<miniapp::Allocation> views_of_rank(const Options&, const grid::Block&);

} // namespace kontor::advection
