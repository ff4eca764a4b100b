// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/matrix/product.hpp"
#include "stepping/independent.hpp"

#include <limits>
#include <utility>

namespace kontor::cg {
namespace {

/// Bytes, of all parts together, that a core asks for before it needs them.
constexpr int bytes_ahead = 3072;
/// Parts of a block that a core reads in turn: a chunk of each has its sums in registers.
constexpr int parts_in_turn = width == 8 ? 2 : 1;

struct SellKernel : SellSum {
  const double* x;
  double* y;

  static constexpr int vectors = size / width;

  /// A part's dot product.
  struct Dot {
    Lanes lanes[vectors] = {};
    double rest = 0;
  };

  /// Parts of a block that lie one after another, each with its own dot: so sums do not depend on streams.
  template <bool with_dot>
  double block(std::int64_t begin, std::int64_t end_of_block) const {
    constexpr int parts = 6;
    Dot dots[parts];
    const auto first = begin / size, chunks_of_block = (end_of_block - begin) / size, share = chunks_of_block / parts;
    for (int p = 0; p < parts; p += parts_in_turn)
      for (auto c = first + p * share; c < first + (p + 1) * share; ++c)
        some<with_dot, parts_in_turn>(c, share, dots + p);
    for (auto c = parts * share; c < chunks_of_block; ++c) some<with_dot, 1>(first + c, 0, dots + parts - 1);
    double dot = 0;
    for (const auto& part : dots) {
      double of_lanes[size];
      for (int v = 0; v < vectors; ++v) store(of_lanes + v * width, part.lanes[v]);
      for (const double of_lane : of_lanes) dot += of_lane;
      dot += part.rest;
    }
    return dot;
  }

  /// Chunks from c on, each so far from the one before and of the next part.
  template <bool with_dot, int streams>
  void some(std::int64_t c, std::int64_t apart, Dot* dots) const {
    bool share = true, full = true;
    for (int s = 0; s < streams; ++s) {
      share = share && chunks[c + s * apart].kind == Columns::shared && count(c + s * apart) == size;
      full = full && chunks[c + s * apart].full;
    }
    if (share && full)
      shared_chunks<with_dot, true, streams>(c, apart, dots);
    else if (share)
      shared_chunks<with_dot, false, streams>(c, apart, dots);
    else if constexpr (streams == 1)
      dots->rest += other_chunk<with_dot>(c);
    else
      for (int s = 0; s < streams; ++s) some<with_dot, 1>(c + s * apart, 0, dots + s);
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

  /// An entry of each chunk in turn, so that memory is read in streams.
  template <bool with_dot, bool full, int streams>
  void shared_chunks(std::int64_t c, std::int64_t apart, Dot* dots) const {
    Lanes sum[streams][vectors] = {};
    const double* from[streams];
    const SharedOffset* offsets[streams];
    std::int64_t row[streams];
    std::int32_t entries[streams], common = std::numeric_limits<std::int32_t>::max();
    for (int s = 0; s < streams; ++s, c += apart) {
      from[s] = values + chunks[c].values;
      offsets[s] = shared + chunks[c].columns;
      row[s] = first(c);
      entries[s] = chunks[c].entries;
      common = std::min(common, entries[s]);
    }
    constexpr int ahead = bytes_ahead / streams / static_cast<int>(sizeof(double));
    const auto add = [&](int s, std::int32_t e) {
      const auto [offset, lanes] = offsets[s][e];
      const double* const at = from[s] + std::int64_t{e} * size;
      const double* const xs = x + row[s] + offset;
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) {
        if (v * width % cache_line == 0) prefetch(at + v * width + ahead);
        if constexpr (full)
          add_products(sum[s][v], at + v * width, xs + v * width);
        else
          add_products(sum[s][v], at + v * width, xs + v * width, lanes >> (v * width));
      }
    };
    for (std::int32_t e = 0; e < common; ++e)
#pragma GCC unroll 4
      for (int s = 0; s < streams; ++s) add(s, e);
#pragma GCC unroll 4
    for (int s = 0; s < streams; ++s) {
      for (auto e = common; e < entries[s]; ++e) add(s, e);
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) {
        const auto place = row[s] + v * width;
        store(y + place, sum[s][v]);
        if constexpr (with_dot) add_products(dots[s].lanes[v], x + place, y + place);
      }
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
        prefetch(at + lane + bytes_ahead / sizeof(double));
        prefetch(offsets + lane + bytes_ahead / sizeof(double));
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
