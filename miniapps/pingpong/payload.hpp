// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "timing/interleave.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

/// Values that show their sender, their place and their sample.
namespace kontor::pingpong {

/// Value `index` of sender `who`. It differs from that of the next seed. It is exact in int and double, and so is the
/// sum over ten thousand ranks.
template <class T>
KOKKOS_INLINE_FUNCTION T payload_value(std::int64_t index, int seed, int who = 0) {
  const auto mixed = static_cast<std::uint32_t>(index) + 7919U * static_cast<std::uint32_t>(seed) +
                     104729U * static_cast<std::uint32_t>(who);
  return static_cast<T>(static_cast<int>(mixed & 0xffffU));
}

/// The elements of a View of up to 3 dimensions, in any memory. Values are numbered by their places there.
template <class View>
struct Cells {
  using T = typename View::non_const_value_type;
  using Range = Kokkos::RangePolicy<typename View::execution_space, Kokkos::IndexType<std::size_t>>;
  View view;
  int sender;
  int senders = 1;        ///< a value is the sum over so many senders, from `sender` on
  std::int64_t first = 0; ///< the number of the first value

  KOKKOS_FUNCTION T& operator[](std::size_t i) const {
    if (view.span_is_contiguous()) return view.data()[i]; // divisions would slow down large Views
    const auto n = view.extent(1), m = view.extent(2);
    if constexpr (View::rank == 1)
      return view(i);
    else if constexpr (View::rank == 2)
      return view(i / n, i % n);
    else
      return view(i / m / n, i / m % n, i % m);
  }
  KOKKOS_FUNCTION T expected(const T& element, int seed) const {
    T sum = 0;
    for (int s = 0; s < senders; ++s) sum += payload_value<T>(first + (&element - view.data()), seed, sender + s);
    return sum;
  }
};

/// Gives the elements the values of their sender. The kernel is complete on return.
template <class View>
void fill(const Cells<View>& cells, int seed) {
  Kokkos::parallel_for(
      "pingpong/fill", typename Cells<View>::Range(0, cells.view.size()), KOKKOS_LAMBDA(const std::size_t i) {
        auto& element = cells[i];
        element = cells.expected(element, seed);
      });
  device::fence(typename View::execution_space(), "pingpong/filled");
}

/// The number of elements that do not have the value of their sender.
template <class View>
std::int64_t count_wrong(const Cells<View>& cells, int seed) {
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "pingpong/compare", typename Cells<View>::Range(0, cells.view.size()),
      KOKKOS_LAMBDA(const std::size_t i, std::int64_t& count) {
        const auto& element = cells[i];
        count += element != cells.expected(element, seed);
      },
      wrong);
  return wrong;
}

/// What this rank sends, and what arrived() finds after an execution.
template <class View, class Arrived>
timing::Payload payload_of(const std::vector<Cells<View>>& sent, const Arrived& arrived) {
  return {[sent](int seed) {
            for (const auto& cells : sent) fill(cells, seed);
          },
          [arrived](int seed) {
            std::int64_t wrong = 0;
            for (const auto& cells : arrived()) wrong += count_wrong(cells, seed);
            return wrong;
          }};
}

} // namespace kontor::pingpong
