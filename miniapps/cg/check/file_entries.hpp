// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/check/reference_rows.hpp"
#include "cg/check/symmetry.hpp"
#include "cg/problem/distribute.hpp"
#include "run/record/result.hpp"

#include <random>
#include <string>

/// Matrix Market files by a plain second reader, which takes what the first one has accepted, and the matrix that
/// products use against it.
namespace kontor::cg {

/// Local. Some of the rows of a file as they were read; the right-hand side, the guess and some entries by the second
/// reader.
ReferenceRows reference_of(const WholeSystem&, const MatrixMarketOptions&, std::uint64_t seed);

/// Local. Some random lines of a matrix's file, the first entry among them, to `reference`, and how many entries the
/// whole matrix has. Nothing of what cannot be read twice, such as a pipe.
void read_some_entries(const std::string& path, std::mt19937_64&, ReferenceRows& reference);

/// Local. The values of these rows, ascending, of a vector's file.
std::vector<double> read_some_values(const std::string& path, const std::vector<GlobalIndex>& rows);

/// Collective. Rank 0's entries by themselves, of either triangle, against products with unit vectors, bit for bit; and
/// the number of entries. `all`, for own rows and ghosts, and `y`, for own rows, are written to.
miniapp::Verification verify_entries(const comm::Communicator&, const Partition&, std::int64_t own_entries,
                                     const ReferenceRows&, const Apply&, const Vector& all, const Vector& y);

} // namespace kontor::cg
