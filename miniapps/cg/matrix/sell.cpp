// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/product.hpp"
#include "stepping/independent.hpp"

#include <utility>

namespace kontor::cg {
namespace {

/// How far ahead a core asks for a matrix (lab/results/cg-cpu.md).
constexpr int ahead = 3072 / sizeof(double);

struct SellKernel : SellSum {
  const double* x;
  double* y;

  static constexpr int vectors = size / width;

  /// A part's dot product.
  struct Dot {
    Lanes lanes[vectors] = {};
    double rest = 0;
  };

  /// Parts of a block that lie one after another have their own dots.
  template <bool with_dot>
  double block(std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t parts = 6;
    Dot dots[parts];
    const auto first = begin / size, chunks_of_block = (end - begin) / size, share = chunks_of_block / parts;
    for (std::int64_t c = 0; c < chunks_of_block; ++c) {
      auto& dot = dots[share > 0 ? std::min(c / share, parts - 1) : parts - 1];
      const auto& chunk = chunks[first + c];
      if (chunk.kind != Columns::shared || count(first + c) < size)
        dot.rest += other_chunk<with_dot>(first + c);
      else if (chunk.full)
        shared_chunk<with_dot, true>(first + c, dot);
      else
        shared_chunk<with_dot, false>(first + c, dot);
    }
    double dot = 0;
    for (const auto& part : dots) {
      double of_lanes[size];
      for (int v = 0; v < vectors; ++v) store(of_lanes + v * width, part.lanes[v]);
      for (const double of_lane : of_lanes) dot += of_lane;
      dot += part.rest;
    }
    return dot;
  }

  template <bool with_dot>
  double other_chunk(std::int64_t c) const {
    const auto& chunk = chunks[c];
    const auto place = first(c);
    const int lanes = count(c);
    double sums[size], dot = 0;
    if (chunk.kind != Columns::shared) far_chunk(chunk, place, lanes, sums);
    for (int lane = 0; lane < lanes; ++lane) {
      const auto row = chunk.sorted ? told[chunk.told + size + lane] : place + lane;
      if (chunk.kind == Columns::shared)
        sums[lane] = sum_in_order<1>(
            chunk.entries, [at = values + chunk.values + lane](int e) { return at[e * size]; },
            values_of_x(shared + chunk.columns, lane, x + row));
      y[row] = sums[lane];
      if constexpr (with_dot) dot += x[row] * sums[lane];
    }
    return dot;
  }

  template <bool with_dot, bool full>
  void shared_chunk(std::int64_t c, Dot& dot) const {
    Lanes sum[vectors] = {};
    const double* at = values + chunks[c].values;
    const SharedOffset* const offsets = shared + chunks[c].columns;
    const auto row = first(c);
    for (std::int32_t e = 0; e < chunks[c].entries; ++e, at += size) {
      const auto [offset, lanes] = offsets[e];
      const double* const xs = x + row + offset;
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) {
        if (v * width % cache_line == 0) prefetch(at + v * width + ahead);
        if constexpr (full)
          add_products(sum[v], at + v * width, xs + v * width);
        else
          add_products(sum[v], at + v * width, xs + v * width, lanes >> (v * width));
      }
    }
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) {
      const auto place = row + v * width;
      store(y + place, sum[v]);
      if constexpr (with_dot) add_products(dot.lanes[v], x + place, y + place);
    }
  }

  void far_chunk(const SellChunk& chunk, std::int64_t place, int count, double (&sums)[size]) const {
    std::int32_t row[size], length[size];
    for (int lane = 0; lane < size; ++lane) {
      const bool there = lane < count;
      row[lane] = there ? chunk.sorted ? told[chunk.told + size + lane] : static_cast<std::int32_t>(place + lane) : 0;
      length[lane] = there ? told[chunk.told + lane] : 0;
    }
    if (chunk.kind == Columns::narrow)
      far_chunk(values + chunk.values, narrow + chunk.columns, chunk.entries, row, length, sums);
    else
      far_chunk(values + chunk.values, wide + chunk.columns, chunk.entries, row, length, sums);
  }

  template <class Offset>
  void far_chunk(const double* at, const Offset* offsets, std::int32_t entries, const std::int32_t (&row)[size],
                 const std::int32_t (&length)[size], double (&sums)[size]) const {
    for (double& sum : sums) sum = 0;
    for (std::int32_t e = 0; e < entries; ++e, at += size, offsets += size) {
      for (int lane = 0; lane < size; lane += cache_line) {
        prefetch(at + lane + ahead);
        prefetch(offsets + lane + ahead);
      }
      KONTOR_INDEPENDENT
      for (int lane = 0; lane < size; ++lane) {
        const double product = at[lane] * x[row[lane] + offsets[lane]];
        sums[lane] += e < length[lane] ? product : 0;
      }
    }
  }
};

struct Sell {
  using Kernel = SellKernel;
  static constexpr const char* label = "cg/sell";
  SellRows rows;

  Kernel kernel(const double* x, double* y) const { return {SellSum(rows), x, y}; }
  RowRange positions(Part part) const {
    const auto all = static_cast<std::int64_t>(rows.chunks.extent(0));
    return range_of(part, all * sell_chunk, rows.interior_chunks() * sell_chunk);
  }
  double bytes() const { return rows.bytes; }
};

} // namespace

std::unique_ptr<Matrix> make_sell(SellRows rows, const ProductTuning& tuning) {
  return std::make_unique<Product<Sell>>(Sell{std::move(rows)}, tuning);
}

std::unique_ptr<Matrix> make_sell(const CompressedRows& rows, LocalIndex interior, LocalIndex columns,
                                  const ProductTuning& tuning) {
  return make_sell(make_sell_rows(rows, interior, columns), tuning);
}

} // namespace kontor::cg
