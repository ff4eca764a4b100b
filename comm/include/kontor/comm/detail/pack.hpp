// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/layout.hpp>
#include <kontor/comm/detail/view_buffer.hpp>
#include <kontor/comm/kokkos/compat.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

/// One kernel that copies many strided pieces into contiguous memory, or back.
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
  std::int64_t first_item; ///< the kernel's work items are numbered through all pieces
  std::int64_t rows_items; ///< work items in one row of the piece
};

/// The pieces of one fused pack or unpack. A work item is up to `chunk` neighbouring elements of a row, the
/// innermost loop of a piece: long on a CPU, so that it vectorises; one element on a GPU, so that
/// neighbouring threads touch neighbouring elements.
template <class T, class ExecutionSpace>
class PackList {
 public:
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;
  static constexpr std::int64_t chunk = on_host ? 4096 : 1;

  void add(T* strided, T* packed, const LoopNest& nest) {
    const auto row = nest.depth > 0 ? nest.extents[nest.depth - 1] : 1;
    std::int64_t rows = 1;
    for (int d = 0; d + 1 < nest.depth; ++d) rows *= nest.extents[d];
    const auto row_items = (row + chunk - 1) / chunk;
    items_to_pack_.push_back({strided, packed, nest, items_, row_items});
    items_ += rows * row_items;
  }

  /// Copies the list to where the kernel runs. No add() after it.
  void commit() {
    using Host = Kokkos::View<PackItem<T>*, Kokkos::HostSpace>;
    if (items_to_pack_.empty()) return;
    const Host host("comm/pieces", items_to_pack_.size());
    for (std::size_t i = 0; i < items_to_pack_.size(); ++i) host(i) = items_to_pack_[i];
    list_ = Kokkos::create_mirror_view_and_copy(typename ExecutionSpace::memory_space(), host);
  }

  bool empty() const { return items_ == 0; }

  enum class Direction { pack, unpack };

  /// Runs the kernel on the instance and does not wait for it.
  template <Direction direction>
  void run(const ExecutionSpace& instance) const {
    if (empty()) return;
    const auto list = list_;
    const int count = static_cast<int>(list.extent(0));
    Kokkos::parallel_for(
        direction == Direction::pack ? "comm/pack" : "comm/unpack",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(instance, 0, items_),
        KOKKOS_LAMBDA(std::int64_t item) {
          int p = 0;
          while (p + 1 < count && list(p + 1).first_item <= item) ++p;
          const PackItem<T>& part = list(p);
          const int inner = part.nest.depth - 1;
          const std::int64_t length = inner < 0 ? 1 : part.nest.extents[inner];
          const std::int64_t stride = inner < 0 ? 1 : part.nest.strides[inner];
          const std::int64_t local = item - part.first_item;
          const std::int64_t row = local / part.rows_items;
          const std::int64_t begin = (local - row * part.rows_items) * chunk;
          const std::int64_t n = length - begin < chunk ? length - begin : chunk;

          std::int64_t offset = begin * stride;
          std::int64_t rest = row;
          for (int d = inner - 1; d >= 0; --d) {
            offset += rest % part.nest.extents[d] * part.nest.strides[d];
            rest /= part.nest.extents[d];
          }
          T* strided = part.strided + offset;
          T* packed = part.packed + row * length + begin;
          if constexpr (direction == Direction::pack)
            for (std::int64_t i = 0; i < n; ++i) copy_element(packed[i], strided[i * stride]);
          else
            for (std::int64_t i = 0; i < n; ++i) copy_element(strided[i * stride], packed[i]);
        });
  }

 private:
  std::vector<PackItem<T>> items_to_pack_;
  Kokkos::View<PackItem<T>*, typename ExecutionSpace::memory_space> list_;
  std::int64_t items_ = 0;
};

} // namespace kontor::comm
