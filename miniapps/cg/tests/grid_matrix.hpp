// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "partition/coordinate_matrix.hpp"
#include "run/tests/first_ranks.hpp"

#include <cstdint>
#include <string>

/// A matrix of a grid in two dimensions, as from a file, and the first lines of files.
namespace kontor::cg::test {

/// Laplace's matrix on n x n points, plus 1, with rows numbered at random.
CoordinateMatrix shuffled_grid(std::int64_t n, bool is_symmetric, unsigned seed = 1);

/// The file of a matrix.
std::string text_of(const CoordinateMatrix&);
/// Collective over the world. A file that all ranks see; returns its path.
std::string write(const miniapp::test::Folder&, const std::string& name, const std::string& text);

/// Numbers that differ from row to row.
double number_of(std::int64_t row);

namespace header {
inline const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
inline const std::string general = "%%MatrixMarket matrix coordinate real general\n";
inline const std::string array = "%%MatrixMarket matrix array real general\n";
} // namespace header

} // namespace kontor::cg::test
