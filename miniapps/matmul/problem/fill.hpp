// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/process_grid.hpp"
#include "matmul/options.hpp"
#include "matmul/problem/given_part.hpp"
#include "matmul/problem/matrix.hpp"

namespace kontor::matmul {

/// Collective. Gives a matrix the elements that the deck says, the same whoever has which.
/// Waits. Throws config::Error on all ranks if a formula is not finite, or a dataset not as it must be.
template <class T>
void fill(const ProcessGrid&, const Options&, const MatrixOptions&, const StoredSize&, const LocalMatrix<T>&);

} // namespace kontor::matmul
