// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/matrix.hpp"
#include "matmul/options.hpp"

#include <kontor/comm/communicator.hpp>

namespace kontor::matmul {

/// Collective. Gives a matrix the elements that the deck says, the same whoever has which. Waits. Throws
/// config::Error on all ranks if a formula is not finite.
template <class T>
void fill(const comm::Communicator&, const MatrixOptions&, const LocalMatrix<T>&);

} // namespace kontor::matmul
