// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/names.hpp"
#include "heat/options.hpp"
#include "machine/memory.hpp"

#include <vector>

namespace kontor::heat {

/// Local. The Views of a rank that has this block.
std::vector<miniapp::Allocation> views_of_rank(const Options&, const Block&);

} // namespace kontor::heat
