// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/layout.hpp>
#include <kontor/comm/views/view_buffer.hpp>
#include <kontor/device/compat.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

/// One kernel that copies many pieces, strided or by index, into contiguous memory, or back.
namespace kontor::comm {

/// Copies an element bit by bit, as messages do. std::pair has an assignment of its own, which is a function
/// of the host and leaves padding alone.
template <class T>
KOKKOS_INLINE_FUNCTION void copy_element(T& to, const T& from) {
  if constexpr (std::is_trivially_copyable_v<T> || IsComplex<T>::value)
    to = from;
  else
    memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof(T));
}

/// One strided piece and its place in the contiguous buffer.
template <class T>
struct PackItem {
  T* strided;
  T* packed;
  LoopNest nest;
  std::int64_t first_item;   ///< the kernel's work items are numbered through all pieces
  std::int64_t row_items;    ///< work items in one row of the piece
  std::int64_t first_offset; ///< where rows go by index: of their offsets, in those of all pieces
  std::int64_t item_rows;    ///< where rows go by index: in one work item
};

enum class PackDirection { pack, unpack };

/// The kernel. A work item is up to `chunk` neighbouring elements of a row, the innermost loop of a piece.
/// Where rows go by index and are short, it is several of them.
template <class T, class MemorySpace, PackDirection direction, std::int64_t chunk, bool indexed>
struct PackKernel {
  Kokkos::View<PackItem<T>*, MemorySpace> list;
  const std::int32_t* offsets;      ///< of rows by index, in elements
  const std::int64_t* wide_offsets; ///< instead, where they do not fit; else null

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    const PackItem<T>& part = list(piece_of(item));
    const std::int64_t local = item - part.first_item;
    if constexpr (indexed) {
      if (part.nest.indexed >= 0) {
        if (wide_offsets)
          copy_by_index(part, local, wide_offsets + part.first_offset);
        else
          copy_by_index(part, local, offsets + part.first_offset);
        return;
      }
    }
    const int inner = part.nest.depth - 1;
    const std::int64_t length = inner < 0 ? 1 : part.nest.extents[inner];
    const std::int64_t stride = inner < 0 ? 1 : part.nest.strides[inner];
    const std::int64_t row = local / part.row_items;
    const std::int64_t begin = (local - row * part.row_items) * chunk;
    std::int64_t offset = begin * stride;
    std::int64_t rest = row;
    for (int d = inner - 1; d >= 0; --d) {
      offset += rest % part.nest.extents[d] * part.nest.strides[d];
      rest /= part.nest.extents[d];
    }
    copy(part.packed + row * length + begin, part.strided + offset, stride, at_most(chunk, length - begin));
  }

 private:
  /// A box has few pieces; the parts of a mesh may have many neighbours.
  KOKKOS_INLINE_FUNCTION int piece_of(std::int64_t item) const {
    const int count = static_cast<int>(list.extent(0));
    int p = 0;
    if constexpr (indexed) {
      for (int end = count; end - p > 1;) {
        const int middle = (p + end) / 2;
        (list(middle).first_item <= item ? p : end) = middle;
      }
    } else {
      while (p + 1 < count && list(p + 1).first_item <= item) ++p;
    }
    return p;
  }

  KOKKOS_INLINE_FUNCTION static std::int64_t at_most(std::int64_t most, std::int64_t n) {
    return n < most ? n : most;
  }

  KOKKOS_INLINE_FUNCTION static void copy(T* packed, T* strided, std::int64_t stride, std::int64_t n) {
    if constexpr (direction == PackDirection::pack)
      for (std::int64_t i = 0; i < n; ++i) copy_element(packed[i], strided[i * stride]);
    else
      for (std::int64_t i = 0; i < n; ++i) copy_element(strided[i * stride], packed[i]);
  }

  /// One or two loops, one of them over rows.
  template <class Offset>
  KOKKOS_INLINE_FUNCTION static void copy_by_index(const PackItem<T>& part, std::int64_t local,
                                                   const Offset* KOKKOS_RESTRICT rows) {
    const LoopNest& nest = part.nest;
    const bool rows_inside = nest.indexed == nest.depth - 1;
    const std::int64_t length = nest.extents[nest.depth - 1];
    const std::int64_t line = nest.depth == 1 ? 0 : local / part.row_items;
    const std::int64_t begin = (local - line * part.row_items) * chunk;
    const std::int64_t n = at_most(chunk, length - begin);
    if (rows_inside) {
      T* const strided = part.strided + (nest.depth == 1 ? 0 : line * nest.strides[0]);
      T* const KOKKOS_RESTRICT packed = part.packed + line * length + begin;
      if constexpr (direction == PackDirection::pack)
        for (std::int64_t i = 0; i < n; ++i) copy_element(packed[i], strided[rows[begin + i]]);
      else
        for (std::int64_t i = 0; i < n; ++i) copy_element(strided[rows[begin + i]], packed[i]);
      return;
    }
    const std::int64_t stride = nest.strides[1];
    const std::int64_t first = line * part.item_rows;
    const std::int64_t last = first + at_most(part.item_rows, nest.extents[0] - first);
    for (std::int64_t row = first; row < last; ++row)
      copy(part.packed + row * length + begin, part.strided + rows[row] + begin * stride, stride, n);
  }
};

/// The pieces of one fused pack or unpack. A work item is long on a CPU, so that it vectorises; one element
/// on a GPU, so that neighbouring threads touch neighbouring elements.
template <class T, class ExecutionSpace>
class PackList {
 public:
  using Direction = PackDirection;
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;
  static constexpr std::int64_t chunk = on_host ? 4096 : 1;

  /// `indices` are those of the rows, in host memory, where the nest has a loop over rows by index.
  void add(T* strided, T* packed, const LoopNest& nest, const std::int64_t* indices = nullptr) {
    const auto row = nest.depth > 0 ? nest.extents[nest.depth - 1] : 1;
    std::int64_t rows = 1;
    for (int d = 0; d + 1 < nest.depth; ++d) rows *= nest.extents[d];
    const auto row_items = (row + chunk - 1) / chunk;
    const auto first_offset = static_cast<std::int64_t>(offsets_.size());
    std::int64_t item_rows = 1;
    if (nest.indexed >= 0) {
      const auto stride = nest.strides[nest.indexed];
      // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a nest with a loop by index comes with indices
      for (std::int64_t i = 0; i < nest.extents[nest.indexed]; ++i) offsets_.push_back(indices[i] * stride);
      if (nest.indexed + 1 < nest.depth && row > 0) item_rows = row < chunk ? chunk / row : 1;
    }
    items_to_pack_.push_back({strided, packed, nest, items_, row_items, first_offset, item_rows});
    items_ += (rows + item_rows - 1) / item_rows * row_items;
  }

  /// Copies the list to where the kernel runs. No add() after it.
  void commit() {
    if (items_to_pack_.empty()) return;
    list_ = copy_of(items_to_pack_, "comm/pieces");
    indexed_ = !offsets_.empty();
    if (!indexed_) return;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (std::all_of(offsets_.begin(), offsets_.end(), [](std::int64_t o) { return o <= most; }))
      narrow_ = copy_of(std::vector<std::int32_t>(offsets_.begin(), offsets_.end()), "comm/offsets");
    else
      wide_ = copy_of(offsets_, "comm/offsets");
    offsets_ = {};
  }

  bool empty() const { return items_ == 0; }

  /// Runs the kernel on the instance and does not wait for it.
  template <Direction direction>
  void run(const ExecutionSpace& instance) const {
    if (empty()) return;
    if (indexed_)
      launch<direction, true>(instance);
    else
      launch<direction, false>(instance);
  }

 private:
  using Space = typename ExecutionSpace::memory_space;

  template <class Element>
  static Kokkos::View<Element*, Space> copy_of(const std::vector<Element>& host, const char* label) {
    const Kokkos::View<Element*, Kokkos::HostSpace> copy(std::string(label), host.size());
    for (std::size_t i = 0; i < host.size(); ++i) copy(i) = host[i];
    return Kokkos::create_mirror_view_and_copy(Space(), copy);
  }

  template <Direction direction, bool indexed>
  void launch(const ExecutionSpace& instance) const {
    using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
    using Kernel = PackKernel<T, Space, direction, chunk, indexed>;
    Kokkos::parallel_for(direction == Direction::pack ? "comm/pack" : "comm/unpack",
                         Policy(instance, 0, items_), Kernel{list_, narrow_.data(), wide_.data()});
  }

  std::vector<PackItem<T>> items_to_pack_;
  std::vector<std::int64_t> offsets_; ///< of rows by index, until commit()
  Kokkos::View<PackItem<T>*, Space> list_;
  Kokkos::View<std::int32_t*, Space> narrow_;
  Kokkos::View<std::int64_t*, Space> wide_;
  std::int64_t items_ = 0;
  bool indexed_ = false;
};

} // namespace kontor::comm
