// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/compressed_rows.hpp"
#include "cg/matrix/lanes.hpp"
#include "cg/matrix/matrix.hpp"

/// SELL-C-sigma: M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop, "A unified sparse matrix data format for
/// efficient general sparse matrix-vector multiply on modern processors with wide SIMD units", SIAM J. Sci. Comput. 36
/// (2014). C rows are a chunk, whose first entries stand side by side, then the second ones and so on; a row is a lane.
/// Within windows of sigma rows the long ones come first, where that saves padding.
///
/// Columns are offsets from the row, in as few bytes as a chunk allows. Often, as in a stencil's matrix, the rows of a
/// chunk have the same offsets: then one number and a bit for each row do for C entries.
namespace kontor::cg {

/// How the columns of a chunk are stored.
enum class Columns : std::uint8_t { shared, narrow, wide };

struct SellChunk {
  std::int64_t values = 0;  ///< where its values begin
  std::int64_t columns = 0; ///< where its offsets begin, among those of their kind
  std::int64_t told = 0;    ///< unless shared: where the lengths of its rows begin, and then, if sorted, the rows
  std::int32_t entries = 0; ///< of its longest row, or offsets that its rows share
  Columns kind = Columns::shared;
  bool full = false;   ///< shared: every row has every entry
  bool sorted = false; ///< its rows are not in their order
};

/// C.
inline constexpr int sell_chunk = device::kernels_on_host ? 16 : 32;

/// A rank's rows. Positions are rows in the order of chunks; a chunk has rows of one part only, so the last one of a
/// part may have positions without a row. Chunks whose rows have the same offsets share them.
struct SellRows {
  LocalIndex rows = 0;     ///< own
  LocalIndex interior = 0; ///< those that read no ghosts
  Kokkos::View<SellChunk*> chunks = {};
  Rows told = {};          ///< of chunks that do not share offsets
  std::int64_t stored = 0; ///< how many values there are, padding included
  Kokkos::View<double*> values = {};
  Kokkos::View<SharedOffset*> shared = {};
  Kokkos::View<std::int16_t*> narrow = {};
  Kokkos::View<std::int32_t*> wide = {};
  double bytes = 0; ///< of all that a product reads and writes, each vector once

  std::int64_t interior_chunks() const { return quotient_up(interior, sell_chunk); }
};

/// Rows of a window that are sorted; a multiple of any chunk.
inline constexpr std::int64_t sell_window = 256;

/// Local; waits. All but the values: of `rows` it reads offsets and columns. `columns`: own rows and ghosts.
SellRows make_chunks(const CompressedRows& rows, LocalIndex interior, LocalIndex columns);

/// Local; waits. Room for the values, those of the padding being 0.
void make_room(SellRows&);

/// Local; waits. make_chunks(), and the values of `rows`, of which nothing is kept.
SellRows make_sell_rows(CompressedRows rows, LocalIndex interior, LocalIndex columns);
std::unique_ptr<Matrix> make_sell(SellRows, const ProductTuning& = {});

} // namespace kontor::cg
