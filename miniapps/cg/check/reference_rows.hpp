// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "cg/options.hpp"
#include "grid/block.hpp"
#include "partition/coordinate_matrix.hpp"
#include "run/verify/places.hpp"

#include <kontor/comm/communicator.hpp>

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
  std::vector<double> initial = {};           ///< guess of each row
  std::vector<std::int64_t> extents = {};     ///< of the solution in a file, slowest dimension first
  std::int64_t entries = 0;                   ///< of the whole matrix, at most; 0: not known
  bool all_entries = true;                    ///< none of them may be left out
  std::vector<partition::Entry> of_file = {}; ///< entries by themselves, from random lines; of rank 0

  /// What is read of vectors: these rows, then the columns of the entries.
  std::vector<GlobalIndex> wanted() const {
    auto all = rows;
    all.insert(all.end(), columns.begin(), columns.end());
    return all;
  }
  void add_entry(GlobalIndex column, double value) {
    columns.push_back(column);
    values.push_back(value);
  }
  /// After its entries.
  void add_row(GlobalIndex row, double right, double size, double guess) {
    rows.push_back(row);
    initial.push_back(guess);
    rhs.push_back(right);
    rhs_size.push_back(size);
    end.push_back(columns.size());
  }
};

/// Of a rank, beside those that are of some kind.
inline constexpr std::int64_t most_reference_rows = 2000;

/// Local. Rows of the points of a box, x fastest: all, dealt to the ranks; or one of each kind of this rank's box
/// (places.hpp) and random ones of the whole.
std::vector<GlobalIndex> rows_to_verify(const comm::Communicator&, std::uint64_t seed, const miniapp::IndexBox&);

/// Local. Those of a box whose points of this rank are these.
ReferenceRows reference_of(const Options&, const comm::Communicator&, std::uint64_t seed, const grid::Block&);

/// Local. These rows of fe_heat, by integrals over the elements around, or of a stencil.
ReferenceRows reference_of(const Options&, const std::vector<GlobalIndex>& rows);

} // namespace kontor::cg
