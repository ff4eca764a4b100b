// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/process_grid.hpp"
#include "matmul/options.hpp"
#include "matmul/problem/given_part.hpp"
#include "matmul/problem/matrix.hpp"

#include <kontor/output/file.hpp>

#include <string>

/// The elements of matrices, as they are given: where they come from, and how they go to HDF5 files, as 2-D datasets of
/// rows and columns, element (i, j) at [i, j].
namespace kontor::matmul {

/// Collective. Gives a matrix the elements that the deck says, the same whoever has which.
/// Waits. Throws config::Error on all ranks if a formula is not finite, or a dataset not as it must be.
template <class T>
void fill(const ProcessGrid&, const Options&, const MatrixOptions&, const StoredSize&, const LocalMatrix<T>&);

/// Collective. Writes a matrix of the first layer as it is given; the others come with one of no elements.
template <class T>
void write_matrix(output::File&, const std::string& name, const ProcessGrid&, const Options&, const StoredSize&,
                  const LocalMatrix<T>&);

} // namespace kontor::matmul
