// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/executor.hpp>
#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// One kernel that copies pieces of arrays, non-contiguous or by index, into contiguous memory, or back. It copies
/// words of 1 to 16 bytes, so it is compiled once for each execution space, whatever the scalars.
namespace kontor::comm {

namespace detail {

/// What the kernel copies at a time. Words alias the elements, of whatever type.
template <class Unsigned>
struct [[gnu::may_alias]] Word {
  Unsigned bits;
};
struct [[gnu::may_alias]] alignas(16) WideWord {
  std::uint64_t bits[2];
};

/// On a host, the steps of two loops of which a tile is copied at a time.
inline constexpr std::int64_t tile = 16;

/// A Piece as the kernel reads it, in words.
struct PackItem {
  char* array;
  char* packed;
  LoopNest nest;
  int word;                      ///< bytes
  std::int64_t rows = 0;         ///< a row is one turn of the innermost loop
  std::int64_t rows_at_once = 0; ///< of a work item
  std::int64_t row_items = 0;    ///< work items in one row
  std::int64_t first_item = 0;   ///< work items are numbered through all pieces
  std::int64_t first_offset = 0; ///< where rows go by index: of their offsets, in those of all pieces
  int across = -1;               ///< the loop along which words of the array are neighbours, if rows cross it
};

/// Local. The largest word of which elements of this size at these addresses are made.
int word_of(const Piece&);
/// Local. `chunk`: the elements of a row that a work item copies at most. Offsets of rows by index are appended.
PackItem pack_item(const Piece&, std::int64_t chunk, std::int64_t first_item, std::vector<std::int64_t>& offsets);
/// Local. How many work items it takes.
std::int64_t items_of(const PackItem&);

/// The items of a kernel that copies one piece, and needs no memory for a list.
struct OneItem {
  PackItem item;
  KOKKOS_INLINE_FUNCTION const PackItem& operator()(int) const { return item; }
  KOKKOS_INLINE_FUNCTION int size() const { return 1; }
};
/// Those of several.
template <class MemorySpace>
struct ItemList {
  Kokkos::View<PackItem*, MemorySpace> items;
  KOKKOS_INLINE_FUNCTION const PackItem& operator()(int p) const { return items(p); }
  KOKKOS_INLINE_FUNCTION int size() const { return static_cast<int>(items.extent(0)); }
};

/// A work item is up to `chunk` neighbouring words of a row, or several rows where they are shorter. On a host, of an
/// array that rows cross, as in a transpose, it is a tile of rows: so both ends use whole cache lines.
template <class Items, class Offset, PackDirection direction, std::int64_t chunk>
struct PackKernel {
  Items items;
  const Offset* offsets; ///< of rows by index, in words

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    int p = 0;
    for (int end = items.size(); end - p > 1;) {
      const int middle = (p + end) / 2;
      (items(middle).first_item <= i ? p : end) = middle;
    }
    const PackItem& item = items(p);
    switch (item.word) {
    case 16: return copy<WideWord>(item, i - item.first_item);
    case 8: return copy<Word<std::uint64_t>>(item, i - item.first_item);
    case 4: return copy<Word<std::uint32_t>>(item, i - item.first_item);
    case 2: return copy<Word<std::uint16_t>>(item, i - item.first_item);
    default: return copy<Word<std::uint8_t>>(item, i - item.first_item);
    }
  }

 private:
  template <class W>
  KOKKOS_INLINE_FUNCTION void copy(const PackItem& item, std::int64_t i) const {
    if constexpr (chunk > 1)
      if (item.across >= 0) return copy_tiles<W>(item, i);
    copy_rows<W>(item, i);
  }

  /// Tiles of up to `tile` steps of the loop `across`, one after the other along the rows.
  template <class W>
  KOKKOS_INLINE_FUNCTION static void copy_tiles(const PackItem& item, std::int64_t i) {
    const LoopNest& nest = item.nest;
    const int inner = nest.depth - 1;
    const std::int64_t length = nest.extents[inner];
    std::int64_t begin = 0, end = 0, offset = 0, packed_offset = 0, packed_stride = length, packed_across = 0;
    for (int d = inner - 1; d >= 0; --d) {
      const bool across = d == item.across;
      const std::int64_t steps = across ? (nest.extents[d] + tile - 1) / tile : nest.extents[d];
      const std::int64_t step = i % steps * (across ? tile : 1);
      i /= steps;
      offset += step * nest.strides[d];
      packed_offset += step * packed_stride;
      if (across) {
        packed_across = packed_stride;
        begin = step;
        end = begin + tile < nest.extents[d] ? begin + tile : nest.extents[d];
      }
      packed_stride *= nest.extents[d];
    }
    W* const array = reinterpret_cast<W*>(item.array) + offset;
    W* const packed = reinterpret_cast<W*>(item.packed) + packed_offset;
    const std::int64_t count = end - begin, stride = nest.strides[inner], stride_across = nest.strides[item.across];
    for (std::int64_t first = 0; first < length; first += tile) {
      const std::int64_t last = first + tile < length ? first + tile : length;
      if constexpr (direction == PackDirection::pack)
        for (std::int64_t a = 0; a < count; ++a)
          for (std::int64_t k = first; k < last; ++k)
            packed[a * packed_across + k] = array[a * stride_across + k * stride];
      else
        for (std::int64_t k = first; k < last; ++k)
          for (std::int64_t a = 0; a < count; ++a)
            array[a * stride_across + k * stride] = packed[a * packed_across + k];
    }
  }

  template <class W>
  KOKKOS_INLINE_FUNCTION void copy_rows(const PackItem& item, std::int64_t i) const {
    const LoopNest& nest = item.nest;
    const int inner = nest.depth - 1;
    const std::int64_t length = nest.extents[inner];
    const std::int64_t group = i / item.row_items;
    const std::int64_t begin = (i - group * item.row_items) * chunk;
    const std::int64_t count = length - begin < chunk ? length - begin : chunk;
    const std::int64_t first = group * item.rows_at_once;
    const std::int64_t end = first + item.rows_at_once < item.rows ? first + item.rows_at_once : item.rows;
    const Offset* const KOKKOS_RESTRICT rows = offsets + item.first_offset;
    for (std::int64_t row = first; row < end; ++row) {
      std::int64_t offset = 0;
      std::int64_t rest = row;
      for (int d = inner - 1; d >= 0; --d) {
        const std::int64_t step = d == 0 ? rest : rest % nest.extents[d];
        offset += d == nest.indexed ? rows[step] : step * nest.strides[d];
        if (d > 0) rest /= nest.extents[d];
      }
      W* const array = reinterpret_cast<W*>(item.array) + offset;
      W* const KOKKOS_RESTRICT packed = reinterpret_cast<W*>(item.packed) + row * length + begin;
      if (inner == nest.indexed)
        copy_row(
            array, [=](std::int64_t k) { return rows[begin + k]; }, packed, count);
      else if (nest.strides[inner] == 1)
        copy_row(
            array + begin, [](std::int64_t k) { return k; }, packed, count);
      else
        copy_row(
            array, [=, stride = nest.strides[inner]](std::int64_t k) { return (begin + k) * stride; }, packed, count);
    }
  }

  template <class W, class Place>
  KOKKOS_INLINE_FUNCTION static void copy_row(W* array, const Place& place, W* KOKKOS_RESTRICT packed,
                                              std::int64_t count) {
    if constexpr (direction == PackDirection::pack)
      for (std::int64_t k = 0; k < count; ++k) packed[k] = array[place(k)];
    else
      for (std::int64_t k = 0; k < count; ++k) array[place(k)] = packed[k];
  }
};

/// A copy of the values in another memory space.
template <class Space, class T>
Kokkos::View<T*, Space> copy_to(const std::vector<T>& values, const char* label) {
  const Kokkos::View<T*, Kokkos::HostSpace> host(std::string(label), values.size());
  std::ranges::copy(values, host.data());
  return Kokkos::create_mirror_view_and_copy(Space(), host);
}

/// Words of a work item: many on a host, so that the loop vectorises; one on a device, so that neighbouring threads
/// touch neighbouring words.
template <class ExecutionSpace>
inline constexpr std::int64_t pack_chunk = device::on_host<ExecutionSpace> ? 4096 : 1;

template <class ExecutionSpace, class Items, class Offset>
void launch_pack(const ExecutionSpace& instance, PackDirection direction, const Items& items, std::int64_t count,
                 const Offset* offsets) {
  constexpr auto chunk = pack_chunk<ExecutionSpace>;
  const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>> policy(instance, 0, count);
  if (direction == PackDirection::pack)
    Kokkos::parallel_for("comm/pack", policy, PackKernel<Items, Offset, PackDirection::pack, chunk>{items, offsets});
  else
    Kokkos::parallel_for("comm/unpack", policy,
                         PackKernel<Items, Offset, PackDirection::unpack, chunk>{items, offsets});
}

} // namespace detail

/// Local; queued on the instance. Copies one piece, without rows by index. Allocates nothing.
template <class ExecutionSpace>
void copy_piece(const ExecutionSpace& instance, PackDirection direction, const Piece& piece) {
  std::vector<std::int64_t> no_offsets;
  const auto item = detail::pack_item(piece, detail::pack_chunk<ExecutionSpace>, 0, no_offsets);
  detail::launch_pack(instance, direction, detail::OneItem{item}, detail::items_of(item),
                      static_cast<const std::int32_t*>(nullptr));
}

/// What an Executor has listed for kernels of its space.
template <class ExecutionSpace>
struct ListedPieces : Executor::Pieces {
  /// Local. Queues the kernel on the instance.
  virtual void run(const ExecutionSpace&, PackDirection) const = 0;
};

/// Pieces that are copied by one kernel, again and again.
template <class ExecutionSpace>
class PackList final : public ListedPieces<ExecutionSpace> {
 public:
  /// Local. Copies the list to where the kernel runs; the indices need not outlive the call.
  explicit PackList(const std::vector<Piece>& pieces) {
    std::vector<std::int64_t> offsets;
    std::vector<detail::PackItem> items;
    for (const auto& piece : pieces) {
      items.push_back(detail::pack_item(piece, detail::pack_chunk<ExecutionSpace>, count_, offsets));
      count_ += detail::items_of(items.back());
    }
    this->empty = count_ == 0;
    if (this->empty) return;
    items_ = detail::copy_to<Space>(items, "comm/pieces");
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (std::ranges::all_of(offsets, [](std::int64_t o) { return o <= most; }))
      narrow_ = detail::copy_to<Space>(std::vector<std::int32_t>(offsets.begin(), offsets.end()), "comm/offsets");
    else
      wide_ = detail::copy_to<Space>(offsets, "comm/offsets");
  }

  void run(const ExecutionSpace& instance, PackDirection direction) const override {
    const detail::ItemList<Space> items{items_};
    if (wide_.size() > 0)
      detail::launch_pack(instance, direction, items, count_, static_cast<const std::int64_t*>(wide_.data()));
    else
      detail::launch_pack(instance, direction, items, count_, static_cast<const std::int32_t*>(narrow_.data()));
  }

 private:
  using Space = typename ExecutionSpace::memory_space;

  Kokkos::View<detail::PackItem*, Space> items_;
  Kokkos::View<std::int32_t*, Space> narrow_; ///< offsets of rows by index
  Kokkos::View<std::int64_t*, Space> wide_;   ///< instead, where they do not fit
  std::int64_t count_ = 0;
};

} // namespace kontor::comm
