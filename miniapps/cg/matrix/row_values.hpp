// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/compressed_rows.hpp"
#include "cg/matrix/sell.hpp"

namespace kontor::cg {

/// The values of rows for a kernel that writes them, of compressed rows or of chunks. An entry is told by its number in
/// its row.
class RowValues {
 public:
  /// The entries of a row, in their order.
  class Row {
   public:
    KOKKOS_FUNCTION Row(double* at, int stride, const SharedOffset* offsets, int lane)
        : at_(at), stride_(stride), offsets_(offsets), lane_(lane) {}
    /// The next entry.
    KOKKOS_FUNCTION double& next() {
      if (offsets_) {
        for (; (offsets_->lanes >> lane_ & 1) == 0; ++offsets_) at_ += stride_;
        ++offsets_;
      }
      double& value = *at_;
      at_ += stride_;
      return value;
    }

   private:
    double* at_;
    int stride_;
    const SharedOffset* offsets_; ///< null: the row has all entries of its chunk up to its length
    int lane_;
  };

  explicit RowValues(const CompressedRows& rows) : values_(rows.values), offsets_(rows.offsets.data()) {}
  explicit RowValues(const SellRows& rows)
      : values_(rows.values), chunks_(rows.chunks.data()), told_(rows.told.data()), shared_(rows.shared.data()),
        interior_(rows.interior) {}

  KOKKOS_FUNCTION Row row(LocalIndex row) const {
    if (!chunks_) return {values_.data() + offsets_[row], 1, nullptr, 0};
    const bool inner = row < interior_;
    const LocalIndex place = inner ? row : row - interior_;
    const std::int64_t before = inner ? 0 : (interior_ + std::int64_t{sell_chunk} - 1) / sell_chunk;
    std::int64_t c = before + place / sell_chunk;
    int lane = place % sell_chunk;
    if (chunks_[c].sorted) find_sorted(row, before + place / sell_window * (sell_window / sell_chunk), c, lane);
    const auto& chunk = chunks_[c];
    const bool gaps = chunk.kind == Columns::shared && !chunk.full;
    return {values_.data() + chunk.values + lane, sell_chunk, gaps ? shared_ + chunk.columns : nullptr, lane};
  }

 private:
  /// Among the chunks of a window from c on.
  KOKKOS_FUNCTION void find_sorted(LocalIndex row, std::int64_t c, std::int64_t& found, int& lane) const {
    for (;; ++c) {
      if (!chunks_[c].sorted) continue;
      const LocalIndex* const order = told_ + chunks_[c].told + sell_chunk;
      for (lane = 0; lane < sell_chunk; ++lane)
        if (order[lane] == row) {
          found = c;
          return;
        }
    }
  }

  Kokkos::View<double*> values_; ///< all of them, padding included
  const std::int64_t* offsets_ = nullptr;
  const SellChunk* chunks_ = nullptr; ///< null: compressed rows
  const LocalIndex* told_ = nullptr;
  const SharedOffset* shared_ = nullptr;
  LocalIndex interior_ = 0;
};

} // namespace kontor::cg
