// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// Values that show where they come from.
namespace kontor::pingpong {

/// The `index`-th value of sender `who`: different for each seed and the next, exact in int and double, and
/// small enough that the sum over ten thousand ranks is exact too.
template <class T>
T payload_value(std::int64_t index, int seed, int who = 0) {
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

} // namespace kontor::pingpong
