// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/algorithm/process_grid.hpp"
#include "matmul/options.hpp"
#include "matmul/problem/given_part.hpp"
#include "matmul/problem/matrix.hpp"

#include <kontor/output/file.hpp>

#include <string>

/// Matrices in HDF5 files: 2-D datasets of rows and columns, element (i, j) at [i, j].
namespace kontor::matmul {

/// Collective. Reads a matrix as it is given; each rank of the first layer reads one block of it, which is then
/// redistributed if that is not what it is given. Ranks of other layers come with a matrix of no elements. Throws
/// config::Error on all ranks, with the place in the deck, if the file or dataset is not what the deck needs.
template <class T>
void read_matrix(const ProcessGrid&, const Options&, const MatrixOptions&, const StoredSize&, const LocalMatrix<T>&);

/// Collective. Writes a matrix of the first layer as it is given; the others come with one of no elements.
template <class T>
void write_matrix(output::File&, const std::string& name, const ProcessGrid&, const Options&, const StoredSize&,
                  const LocalMatrix<T>&);

} // namespace kontor::matmul
