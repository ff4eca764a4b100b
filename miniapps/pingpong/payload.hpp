// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

/// Values that show where they come from.
namespace kontor::pingpong {

/// The `index`-th value of sender `who`: different for each seed and the next, exact in int and double, and small
/// enough that the sum over ten thousand ranks is exact too.
template <class T>
KOKKOS_INLINE_FUNCTION T payload_value(std::int64_t index, int seed, int who = 0) {
  const auto mixed = static_cast<std::uint32_t>(index) + 7919U * static_cast<std::uint32_t>(seed) +
                     104729U * static_cast<std::uint32_t>(who);
  return static_cast<T>(static_cast<int>(mixed & 0xffffU));
}

/// Fills the `count` values at `data`.
template <class T>
void fill_payload(T* data, std::int64_t count, int seed, int who = 0) {
  for (std::int64_t i = 0; i < count; ++i) data[i] = payload_value<T>(i, seed, who);
}

/// How many of the `count` values at `data` are not what fill_payload() writes.
template <class T>
std::int64_t wrong_payload(const T* data, std::int64_t count, int seed, int who = 0) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) wrong += data[i] != payload_value<T>(i, seed, who);
  return wrong;
}

/// How many of the `count` values at `data` are not the sum of what the senders 0 to `ranks` - 1 fill in.
template <class T>
std::int64_t wrong_sum(const T* data, std::int64_t count, int seed, int ranks) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    T sum = 0;
    for (int r = 0; r < ranks; ++r) sum += payload_value<T>(i, seed, r);
    wrong += data[i] != sum;
  }
  return wrong;
}

/// Element number i of a View of 1 to 3 dimensions.
template <class View>
KOKKOS_INLINE_FUNCTION typename View::reference_type element_of(const View& view, std::size_t i) {
  const auto n = view.extent(0), m = view.extent(1);
  if constexpr (View::rank == 1)
    return view(i);
  else if constexpr (View::rank == 2)
    return view(i % n, i / n);
  else
    return view(i % n, i / n % m, i / n / m);
}

/// The same for a View of 1 to 3 dimensions wherever it lies, `origin` being its value number 0: fills it, by a kernel
/// that is complete on return.
template <class View>
void fill_view(const View& view, const typename View::value_type* origin, int seed, int who = 0) {
  using Space = typename View::execution_space;
  using T = typename View::non_const_value_type;
  Kokkos::parallel_for(
      "pingpong/fill", Kokkos::RangePolicy<Space>(0, view.size()), KOKKOS_LAMBDA(const std::size_t i) {
        auto& element = element_of(view, i);
        element = payload_value<T>(&element - origin, seed, who);
      });
  device::fence(Space(), "pingpong/filled");
}

/// How many values are not what fill_view() writes, where value number 0 of the sender's View lies `shift` values
/// before `origin`.
template <class View>
std::int64_t wrong_in_view(const View& view, const typename View::value_type* origin, std::int64_t shift, int seed,
                           int who = 0) {
  using Space = typename View::execution_space;
  using T = typename View::non_const_value_type;
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "pingpong/compare", Kokkos::RangePolicy<Space>(0, view.size()),
      KOKKOS_LAMBDA(const std::size_t i, std::int64_t& count) {
        const auto& element = element_of(view, i);
        count += element != payload_value<T>(&element - origin + shift, seed, who);
      },
      wrong);
  return wrong;
}

} // namespace kontor::pingpong
