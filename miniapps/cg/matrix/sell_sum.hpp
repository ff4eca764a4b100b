// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/row_sum.hpp"
#include "cg/matrix/sell.hpp"

namespace kontor::cg {

/// The sums of rows of format sell, for kernels.
struct SellSum {
  static constexpr int size = sell_chunk;
  const SellChunk* chunks;
  const LocalIndex* told;
  const double* values;
  const SharedOffset* shared;
  const std::int16_t* narrow;
  const std::int32_t* wide;
  std::int64_t interior_chunks;
  std::int64_t interior;
  std::int64_t rows;

  explicit SellSum(const SellRows& from)
      : chunks(from.chunks.data()), told(from.told.data()), values(from.values.data()), shared(from.shared.data()),
        narrow(from.narrow.data()), wide(from.wide.data()), interior_chunks(from.interior_chunks()),
        interior(from.interior), rows(from.rows) {}

  KOKKOS_FUNCTION std::int64_t first(std::int64_t c) const {
    return c < interior_chunks ? c * size : interior + (c - interior_chunks) * size;
  }
  KOKKOS_FUNCTION int count(std::int64_t c) const {
    const auto left = (c < interior_chunks ? interior : rows) - first(c);
    return static_cast<int>(left < size ? left : size);
  }

  using Place = RowPlace;
  KOKKOS_FUNCTION Place place_of(StorageIndex position) const {
    const auto of_interior = static_cast<StorageIndex>(interior_chunks * size);
    const bool inner = position < of_interior;
    const auto place = inner ? position : static_cast<StorageIndex>(interior) + (position - of_interior);
    if (place >= static_cast<StorageIndex>(inner ? interior : rows)) return {-1};
    const auto& chunk = chunks[position / size];
    return {chunk.sorted ? told[chunk.told + size + position % size] : static_cast<LocalIndex>(place)};
  }

  template <class Offset>
  KOKKOS_FUNCTION auto far(const Offset* offsets, const double* x_row) const {
    return [offsets, x_row](int e) { return x_row[offsets[e * size]]; };
  }

  template <int at_once = few_at_once>
  KOKKOS_FUNCTION double sum(const double* from, StorageIndex position, Place place) const {
    const double* const x_row = from + place.row;
    const int lane = static_cast<int>(position % size);
    const SellChunk& chunk = chunks[position / size];
    const double* const at = values + chunk.values + lane;
    const auto value = [at](int e) { return read_once(at + e * size); };
    if (chunk.kind == Columns::shared)
      return sum_in_order<at_once>(chunk.entries, value,
                                   values_of_x(shared + chunk.columns, lane, x_row)); // padding is 0
    const int length = told[chunk.told + lane];
    return chunk.kind == Columns::narrow
               ? sum_in_order<at_once>(length, value, far(narrow + chunk.columns + lane, x_row))
               : sum_in_order<at_once>(length, value, far(wide + chunk.columns + lane, x_row));
  }
};

} // namespace kontor::cg
