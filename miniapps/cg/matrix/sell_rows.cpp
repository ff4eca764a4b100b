// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How compressed rows become chunks: rows are put into order, chunks are measured, and then filled.
#include "cg/matrix/row_values.hpp"
#include "machine/huge_pages.hpp"

#include <kontor/device/compat.hpp>

#include <array>
#include <cstddef>
#include <string>

namespace kontor::cg {
namespace {

/// The long rows of a window first, where that saves a tenth of what is stored; else as they are.
struct SortWindow {
  CompressedRows rows;
  Rows order;
  RowRange part;

  KOKKOS_FUNCTION std::int64_t length(std::int64_t place) const {
    const auto row = order(place);
    return rows.offsets(row + 1) - rows.offsets(row);
  }
  KOKKOS_FUNCTION std::int64_t stored(std::int64_t begin, std::int64_t end) const {
    std::int64_t sum = 0;
    for (auto first = begin; first < end; first += sell_chunk) {
      std::int64_t longest = 0;
      for (auto place = first; place < end && place < first + sell_chunk; ++place)
        longest = length(place) > longest ? length(place) : longest;
      sum += longest * sell_chunk;
    }
    return sum;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t window) const {
    const auto begin = part.begin + window * sell_window;
    const auto end = begin + sell_window < part.end ? begin + sell_window : part.end;
    const auto in_order = [&] {
      for (auto place = begin; place < end; ++place) order(place) = static_cast<LocalIndex>(place);
    };
    in_order();
    const auto before = stored(begin, end);
    if (before * 9 <= (rows.offsets(end) - rows.offsets(begin)) * 10) return;
    for (auto place = begin + 1; place < end; ++place) { // equal ones stay in their order
      const auto row = order(place);
      const auto entries = length(place);
      auto to = place;
      for (; to > begin && length(to - 1) < entries; --to) order(to) = order(to - 1);
      order(to) = row;
    }
    if (stored(begin, end) * 10 > before * 9) in_order();
  }
};

/// Goes through the rows of a chunk together: one offset after the other, with the rows that have it next. A row's
/// entries keep their order.
struct MergedColumnCursor {
  const CompressedRows& rows;
  std::int64_t first;
  int lanes;
  std::int64_t next[sell_chunk];
  std::int64_t end[sell_chunk];

  KOKKOS_FUNCTION MergedColumnCursor(const CompressedRows& all, std::int64_t first_row, int count)
      : rows(all), first(first_row), lanes(count) {
    for (int lane = 0; lane < lanes; ++lane) {
      next[lane] = rows.offsets(first + lane);
      end[lane] = rows.offsets(first + lane + 1);
    }
  }
  KOKKOS_FUNCTION std::int32_t offset(int lane) const {
    return rows.columns(next[lane]) - static_cast<LocalIndex>(first + lane);
  }
  /// The next offset; no lanes at the end.
  KOKKOS_FUNCTION SharedOffset smallest() const {
    SharedOffset found{0, 0};
    for (int lane = 0; lane < lanes; ++lane) {
      if (next[lane] == end[lane]) continue;
      const auto candidate = offset(lane);
      if (found.lanes == 0 || candidate < found.offset) found = {candidate, 0};
      if (candidate == found.offset) found.lanes |= std::uint32_t{1} << lane;
    }
    return found;
  }
  KOKKOS_FUNCTION void pass(std::uint32_t passed) {
    for (int lane = 0; lane < lanes; ++lane) next[lane] += passed >> lane & 1;
  }
};

constexpr std::uint32_t all_lanes = ~std::uint32_t{0} >> (32 - sell_chunk);

/// What the kernels on chunks share.
struct Chunks {
  SellRows to;
  Rows order; ///< the rows, part by part, in the order of chunks
  CompressedRows from;
  std::int64_t interior_chunks;
  LocalIndex columns;

  KOKKOS_FUNCTION std::int64_t first(std::int64_t c) const {
    return c < interior_chunks ? c * sell_chunk : to.interior + (c - interior_chunks) * sell_chunk;
  }
  KOKKOS_FUNCTION int lanes(std::int64_t c) const {
    const std::int64_t left = (c < interior_chunks ? to.interior : to.rows) - first(c);
    return static_cast<int>(left < sell_chunk ? left : sell_chunk);
  }
};

/// How many entries a chunk has and how its columns are stored: in the way that takes the fewest bytes.
struct MeasureChunk {
  Chunks at;

  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    const auto& [to, order, from, interior_chunks, columns] = at;
    const auto first = at.first(c);
    const int lanes = at.lanes(c);
    SellChunk chunk;
    std::int64_t longest = 0;
    for (int lane = 0; lane < lanes; ++lane) {
      const auto row = order(first + lane);
      const auto entries = from.offsets(row + 1) - from.offsets(row);
      chunk.sorted = chunk.sorted || row != first + lane;
      longest = entries > longest ? entries : longest;
    }
    chunk.entries = static_cast<std::int32_t>(longest);
    chunk.full = !chunk.sorted && lanes == sell_chunk && same_offsets(first, first + 1, lanes - 1);
    bool narrow = true;
    for (int lane = 0; lane < lanes && !chunk.full; ++lane) {
      const auto row = order(first + lane);
      for (auto e = from.offsets(row); e < from.offsets(row + 1); ++e) {
        const auto offset = from.columns(e) - row;
        narrow = narrow && offset == static_cast<std::int16_t>(offset);
      }
    }
    if (!chunk.full) chunk.kind = narrow ? Columns::narrow : Columns::wide;
    const std::int64_t value_bytes = sell_chunk * static_cast<std::int64_t>(sizeof(double));
    const auto bytes = longest * (value_bytes + sell_chunk * (narrow ? 2 : 4)) + 4 * sell_chunk;
    if (!chunk.full && !chunk.sorted) share(chunk, first, lanes, bytes / (value_bytes + 8));
    to.chunks(c) = chunk;
  }

  /// Whether so many rows from `other` on have the offsets of a row.
  KOKKOS_FUNCTION bool same_offsets(std::int64_t row, std::int64_t other, int count) const {
    const auto& from = at.from;
    const auto begin = from.offsets(row), entries = from.offsets(row + 1) - begin;
    for (; count > 0; --count, ++other) {
      const auto begin_of_other = from.offsets(other);
      if (from.offsets(other + 1) - begin_of_other != entries) return false;
      const auto apart = static_cast<LocalIndex>(other - row);
      for (std::int64_t e = 0; e < entries; ++e)
        if (from.columns(begin_of_other + e) - from.columns(begin + e) != apart) return false;
    }
    return true;
  }

  KOKKOS_FUNCTION void share(SellChunk& chunk, std::int64_t first, int lanes, std::int64_t most) const {
    MergedColumnCursor together(at.from, first, lanes);
    std::int32_t entries = 0;
    bool full = true;
    for (auto next = together.smallest(); next.lanes != 0; next = together.smallest(), ++entries) {
      if (entries == most) return;
      // All lanes are read, those without this entry too.
      if (next.lanes != all_lanes && (first + next.offset < 0 || first + next.offset + sell_chunk > at.columns)) return;
      full = full && next.lanes == all_lanes;
      together.pass(next.lanes);
    }
    chunk.kind = Columns::shared;
    chunk.entries = entries;
    chunk.full = full;
  }
};

/// How many chunks before a full one there is another that has the same offsets, 1 or 2; 0 if there is none. Until
/// chunks have their places, `columns` keeps it.
struct FindRepeats {
  MeasureChunk of;

  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    const auto& at = of.at;
    auto& chunk = at.to.chunks(c);
    for (int back = 1; chunk.full && back <= 2 && back <= c; ++back) {
      if (!at.to.chunks(c - back).full || !of.same_offsets(at.first(c), at.first(c - back), 1)) continue;
      chunk.columns = back;
      return;
    }
  }
};

/// The columns.
struct FillChunk {
  Chunks at;

  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    const auto& chunk = at.to.chunks(c);
    for (int back = 1; chunk.full && back <= 2 && back <= c; ++back) {
      const auto& other = at.to.chunks(c - back);
      if (other.full && other.columns == chunk.columns && other.entries == chunk.entries) return; // it fills them
    }
    if (chunk.kind == Columns::shared)
      fill_shared(chunk, at.first(c), at.lanes(c));
    else
      fill(chunk, at.first(c), at.lanes(c));
  }
  KOKKOS_FUNCTION void fill_shared(const SellChunk& chunk, std::int64_t first, int lanes) const {
    MergedColumnCursor together(at.from, first, lanes);
    for (std::int32_t e = 0; e < chunk.entries; ++e) {
      const auto next = together.smallest();
      at.to.shared(chunk.columns + e) = next;
      together.pass(next.lanes);
    }
  }
  KOKKOS_FUNCTION void fill(const SellChunk& chunk, std::int64_t first, int lanes) const {
    for (int lane = 0; lane < sell_chunk; ++lane) {
      const auto row = lane < lanes ? at.order(first + lane) : 0;
      const auto begin = at.from.offsets(row);
      const auto length = lane < lanes ? at.from.offsets(row + 1) - begin : 0;
      at.to.told(chunk.told + lane) = static_cast<LocalIndex>(length);
      if (chunk.sorted) at.to.told(chunk.told + sell_chunk + lane) = lane < lanes ? row : -1;
      for (std::int32_t e = 0; e < chunk.entries; ++e) {
        const auto place = std::int64_t{e} * sell_chunk + lane;
        const auto offset = e < length ? at.from.columns(begin + e) - row : 0;
        if (chunk.kind == Columns::narrow)
          at.to.narrow(chunk.columns + place) = static_cast<std::int16_t>(offset);
        else
          at.to.wide(chunk.columns + place) = offset;
      }
    }
  }
};

template <class View>
View allocated(const std::string& label, std::int64_t size) {
  return View(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), static_cast<std::size_t>(size));
}

/// Gives each chunk its place in the arrays, and allocates those of the columns.
void place_chunks(SellRows& to, const device::HostMirror<Kokkos::View<SellChunk*>>& chunks) {
  std::int64_t told = 0;
  std::array<std::int64_t, 3> columns{};
  for (std::size_t c = 0; c < chunks.extent(0); ++c) {
    auto& chunk = chunks(c);
    auto& next = columns[static_cast<std::size_t>(chunk.kind)];
    const std::int64_t padded = std::int64_t{chunk.entries} * sell_chunk;
    chunk.values = to.stored;
    to.stored += padded;
    if (chunk.columns > 0) { // repeats
      chunk.columns = chunks(c - static_cast<std::size_t>(chunk.columns)).columns;
      continue;
    }
    chunk.columns = next;
    next += chunk.kind == Columns::shared ? chunk.entries : padded;
    if (chunk.kind == Columns::shared) continue;
    chunk.told = told;
    told += (chunk.sorted ? 2 : 1) * sell_chunk;
  }
  to.told = allocated<Rows>("cg/sell rows", told);
  to.shared = allocated<Kokkos::View<SharedOffset*>>("cg/sell shared offsets", columns[0]);
  to.narrow = allocated<Kokkos::View<std::int16_t*>>("cg/sell narrow offsets", columns[1]);
  to.wide = allocated<Kokkos::View<std::int32_t*>>("cg/sell offsets", columns[2]);
  to.bytes = static_cast<double>(to.stored) * sizeof(double) + static_cast<double>(columns[0]) * sizeof(SharedOffset) +
             static_cast<double>(columns[1]) * 2 + static_cast<double>(columns[2]) * 4 +
             static_cast<double>(told) * sizeof(LocalIndex) +
             static_cast<double>(chunks.extent(0)) * sizeof(SellChunk) +
             2.0 * static_cast<double>(to.rows) * sizeof(double);
}

} // namespace

SellRows make_chunks(const CompressedRows& from, LocalIndex interior, LocalIndex columns) {
  SellRows to{.rows = from.rows(), .interior = interior};
  const auto order = allocated<Rows>("cg/sell order", to.rows);
  for (const auto part : {Part::interior, Part::boundary}) {
    const auto range = range_of(part, to.rows, interior);
    Kokkos::parallel_for("cg/sell order", Policy(0, quotient_up(range.count(), sell_window)),
                         SortWindow{from, order, range});
  }
  const auto count = to.interior_chunks() + quotient_up(to.rows - interior, sell_chunk);
  to.chunks = allocated<Kokkos::View<SellChunk*>>("cg/sell chunks", count);
  const MeasureChunk measure{{to, order, from, to.interior_chunks(), columns}};
  Kokkos::parallel_for("cg/sell measure", Policy(0, count), measure);
  Kokkos::parallel_for("cg/sell repeats", Policy(0, count), FindRepeats{measure});
  const auto chunks = Kokkos::create_mirror_view(to.chunks);
  Kokkos::deep_copy(chunks, to.chunks);
  place_chunks(to, chunks);
  Kokkos::deep_copy(to.chunks, chunks);
  Kokkos::parallel_for("cg/sell fill", Policy(0, count), FillChunk{{to, order, from, to.interior_chunks(), columns}});
  device::fence(Space(), "cg/sell");
  return to;
}

void make_room(SellRows& rows) {
  rows.values = allocated<Kokkos::View<double*>>("cg/sell values", rows.stored);
  miniapp::use_huge_pages(rows.values);
  const SellRows to = rows;
  Kokkos::parallel_for(
      "cg/sell padding", Policy(0, static_cast<std::int64_t>(to.chunks.extent(0))), KOKKOS_LAMBDA(std::int64_t c) {
        const auto& chunk = to.chunks(c); // zeros where it has no entries
        const auto end = chunk.values + std::int64_t{chunk.entries} * sell_chunk;
        for (auto e = chunk.values; e < end && !chunk.full; ++e) to.values(e) = 0;
      });
}

SellRows make_sell_rows(CompressedRows from, LocalIndex interior, LocalIndex columns) {
  auto to = make_chunks(from, interior, columns);
  from.columns = {};
  make_room(to);
  const RowValues rows(to);
  Kokkos::parallel_for(
      "cg/sell values", Policy(0, to.rows), KOKKOS_LAMBDA(std::int64_t row) {
        auto values = rows.row(static_cast<LocalIndex>(row));
        for (auto e = from.offsets(row); e < from.offsets(row + 1); ++e) values.next() = from.values(e);
      });
  device::fence(Space(), "cg/sell");
  return to;
}

} // namespace kontor::cg
