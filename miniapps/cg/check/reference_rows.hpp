// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "cg/options.hpp"
#include "partition/partition.hpp"

#include <cstddef>

/// Rows of the system as a textbook defines them, to verify those that were solved. What makes them shares no code with
/// what assembles, distributes or multiplies the matrix.
namespace kontor::cg {

/// Any rows of the whole matrix, in host memory; entries that are 0 may be left out.
struct ReferenceRows {
  std::vector<GlobalIndex> rows = {};
  std::vector<double> rhs = {};      ///< of each row
  std::vector<double> rhs_size = {}; ///< of each row: the sum of the sizes of what the right-hand side adds up
  std::vector<std::size_t> end = {}; ///< of each row's entries
  std::vector<GlobalIndex> columns = {};
  std::vector<double> values = {};

  void add_entry(GlobalIndex column, double value) {
    columns.push_back(column);
    values.push_back(value);
  }
  /// After its entries.
  void add_row(GlobalIndex row, double right, double size) {
    rows.push_back(row);
    rhs.push_back(right);
    rhs_size.push_back(size);
    end.push_back(columns.size());
  }
};

/// A rank has at most so many: all of them, or every second one, or ...
inline constexpr GlobalIndex most_reference_rows = 10000;
inline GlobalIndex reference_stride(GlobalIndex rows) { return (rows + most_reference_rows - 1) / most_reference_rows; }

/// Local; waits. Rows of fe_heat, for every so many of the own ones, by integrals over the elements around.
ReferenceRows fe_heat_reference(const FeHeatOptions&, const Partition&);

/// Local; waits. The same of a stencil.
ReferenceRows stencil_reference(const StencilOptions&, const Partition&);

/// Local. No eigenvalue of the matrix of a stencil is smaller: with t = pi / (points + 1) along each axis, 7 points
/// have 6 - 2 sum of cos t, 27 points 27 - product of (1 + 2 cos t).
double least_eigenvalue(const StencilOptions&);

} // namespace kontor::cg
