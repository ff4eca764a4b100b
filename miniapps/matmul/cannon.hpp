// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/multiplication.hpp"

#include <memory>

namespace kontor::matmul {

/// Collective. Cannon's algorithm, in one layer or several (panels.hpp).
template <class T>
std::unique_ptr<Multiplication<T>> make_cannon(const MultiplicationContext&);

} // namespace kontor::matmul
