// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/options.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/config/function.hpp>

#include <cstdint>
#include <random>
#include <vector>

/// Elements of matrices, and where they are, a second time: from the deck's words and global indices, without what
/// fills and distributes them.
namespace kontor::matmul {

/// Element (i, j) of a matrix of the deck.
class DeckMatrix {
 public:
  DeckMatrix(const MatrixOptions&, miniapp::Precision);

  /// Local. NaN of a dataset.
  double operator()(std::int64_t i, std::int64_t j) const;

 private:
  const MatrixOptions& options_;
  bool single_;
  config::Function formula_;
};

/// An element that is looked at.
struct DeckElement {
  std::int64_t i = 0, j = 0;
  double value = 0;
};

/// A matrix as it is stored, and into how many parts it is cut.
struct CutMatrix {
  std::int64_t rows = 0, row_parts = 1, columns = 0, column_parts = 1;
};

/// Collective. The same on all ranks: the matrix's corners, both sides of its cuts, and random elements; values of a
/// dataset by HDF5's plain reader. Of `values`: whether they are wanted.
std::vector<DeckElement> deck_elements(const comm::Communicator&, const MatrixOptions&, miniapp::Precision,
                                       const CutMatrix&, std::mt19937_64&, bool values = true);

/// Where index i of n that are cut into parts is: the number of the part, and the index in it.
struct Home {
  std::int64_t part = 0, local = 0;
};
Home home_of(std::int64_t n, std::int64_t parts, std::int64_t i);

} // namespace kontor::matmul
