// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/concepts.hpp>
#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kontor::comm {

/// How many elements of a View belong to each rank, one after the other in the order of ranks. Made of a list, a
/// std::vector, a std::array, or a host View of rank 1.
class Counts {
 public:
  Counts() = default;
  /// {3, 0, 5}
  Counts(std::initializer_list<std::int64_t> counts) : counts_(counts) {}

  /// From whatever has data() and size(), in one piece, or from a host View of rank 1 of any stride.
  template <class Integers>
  requires requires(const Integers& integers) {
    { *integers.data() } -> std::convertible_to<std::int64_t>;
    { integers.size() } -> std::convertible_to<std::size_t>;
  }
  Counts(const Integers& integers) : counts_(integers.size()) {
    if constexpr (Kokkos::is_view<Integers>::value) {
      static_assert(Integers::rank == 1 && memory_of<Integers>() == MemoryKind::host,
                    "kontor::comm: counts are a host View of rank 1");
      for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] = integers(i);
    } else {
      std::copy_n(integers.data(), integers.size(), counts_.begin());
    }
  }

  /// For how many ranks there are counts.
  std::size_t size() const { return counts_.size(); }
  /// 0 for ranks beyond the last.
  std::int64_t operator[](std::size_t rank) const { return rank < size() ? counts_[rank] : 0; }
  /// The elements of all ranks together.
  std::int64_t total() const;
  /// One for each rank.
  const std::vector<std::int64_t>& values() const { return counts_; }
  /// Where each rank's elements begin, and at the end the total.
  std::vector<std::int64_t> offsets() const;

 private:
  std::vector<std::int64_t> counts_;
};

namespace detail {

/// Whether memory for a Received can be of this type.
template <ViewType View>
inline constexpr bool is_row = static_cast<int>(View::rank) == 1 &&
                               static_cast<int>(View::rank_dynamic) == 1 && device::owns_memory<View> &&
                               !std::is_const_v<typename View::value_type> &&
                               !std::is_same_v<typename View::array_layout, Kokkos::LayoutStride>;

/// In, or a View of rank 1 in the same memory.
template <ViewType In>
struct RowLike {
  using T = typename In::non_const_value_type;
  using InSpace = Kokkos::View<T*, typename In::memory_space>;
  using OnDevice = Kokkos::View<T*, typename In::device_type>;
  using Other =
      std::conditional_t<std::is_same_v<typename InSpace::device_type, typename In::device_type>, InSpace, OnDevice>;
  using type = std::conditional_t<is_row<In>, In, Other>;
};

} // namespace detail

/// The elements that ranks have sent, in the order of ranks: those of rank r are data(offsets[r]) to data(offsets[r +
/// 1] - 1). A call that fills it again uses its memory again: the memory grows where it is too small, and never
/// shrinks. Copies share the memory, as Views do. `const auto [data, offsets] = ...` takes it apart.
template <ReceivedView View>
class Received {
  static_assert(detail::is_row<View>, "kontor::comm: Received has a View of rank 1 that owns its memory, such as "
                                      "Kokkos::View<double*>");

 public:
  View data;                            ///< of all ranks, as long as the elements that were received
  std::vector<std::int64_t> offsets{0}; ///< one for each rank, and at the end the total

  /// The elements of one rank.
  View part(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return Kokkos::subview(data, std::pair(offsets.at(r), offsets.at(r + 1)));
  }
  /// How many elements there is memory for.
  std::size_t capacity() const { return memory_.extent(0); }

  /// Local. Makes room for as many elements, whose values are not set. `label` names memory that is new.
  void resize(const std::string& label, const Counts& counts) {
    const auto total = static_cast<std::size_t>(counts.total());
    if (total > capacity()) {
      const std::string name = label.empty() ? "comm/received" : label;
      memory_ = View(Kokkos::view_alloc(name, Kokkos::WithoutInitializing), total);
    }
    data = Kokkos::subview(memory_, std::pair(std::size_t{0}, total));
    offsets = counts.offsets();
  }

  /// `data` and `offsets`, for structured bindings.
  template <std::size_t i>
  const auto& get() const {
    if constexpr (i == 0)
      return data;
    else
      return offsets;
  }

 private:
  View memory_;
};

/// What comes of Views like In: In itself, or else a View of rank 1 in its memory space.
template <ViewType In>
using ReceivedOf = typename detail::RowLike<In>::type;

} // namespace kontor::comm

template <class View>
struct std::tuple_size<kontor::comm::Received<View>> : std::integral_constant<std::size_t, 2> {};
template <std::size_t i, class View>
struct std::tuple_element<i, kontor::comm::Received<View>> {
  using type = std::remove_cvref_t<decltype(std::declval<kontor::comm::Received<View>>().template get<i>())>;
};
