// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "partition/coordinate_matrix.hpp"

#include <cstdint>
#include <istream>
#include <limits>
#include <string>
#include <vector>

/// Files of matrices and vectors. R. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange formats: initial
/// design", NISTIR 5935, 1996. Read more generously than written there: comments and blank lines may stand anywhere
/// after the header, lines may be longer than 1024 characters and end with CR LF, words of the header may be in
/// capitals, numbers may have the exponents of Fortran (1.5D+3, 0.15-101), and numbers of either kind a plus sign. What
/// is smaller than a double can hold is 0.
///
/// What is wrong is a config::Error with file and line. Nothing is allocated for what the file is too short to hold, or
/// for what is more than `memory`, bytes.
namespace kontor::partition {

/// Local. A square matrix of finite numbers from a file `matrix coordinate real|integer general|symmetric`, in the
/// order of the file. `name` is the file's, for messages.
CoordinateMatrix read_matrix(std::istream&, const std::string& name,
                             double memory = std::numeric_limits<double>::infinity());

/// Local. The entries of a graph: of any such matrix, also from a file `matrix coordinate pattern`.
CoordinateMatrix read_pattern(std::istream&, const std::string& name,
                              double memory = std::numeric_limits<double>::infinity());

/// Local. A vector of so many finite numbers from a file `matrix array|coordinate real|integer general` of one column,
/// or from one without a header that has one number a line.
std::vector<double> read_vector(std::istream&, const std::string& name, std::int64_t rows);

} // namespace kontor::partition
