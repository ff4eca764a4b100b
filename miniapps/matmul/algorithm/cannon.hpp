// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/memory.hpp"
#include "matmul/algorithm/multiplication.hpp"

#include <memory>
#include <vector>

namespace kontor::matmul {

/// Collective. Cannon's algorithm, in one layer or several (panels.hpp).
template <class T>
std::unique_ptr<Multiplication<T>> make_cannon(const MultiplicationContext&);

/// Local. The Views of A and B that it allocates, in elements instead of bytes.
std::vector<miniapp::Allocation> cannon_views(const Options&, const GridShape&, const GridPlace&);

} // namespace kontor::matmul
