// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/verify/places.hpp"

#include <algorithm>
#include <cstdint>

namespace kontor::advection {

/// Own cells are compared in pieces.
inline constexpr std::int64_t cells_of_piece = 4096;

/// Local. Random ones of so many things, `most` of them, and the first and the last.
inline std::vector<std::int64_t> sample_with_ends(std::int64_t all, std::int64_t most, std::mt19937_64& random) {
  auto numbers = miniapp::sample_numbers(all, most, random);
  if (all > 0 && (numbers.empty() || numbers.front() > 0)) numbers.insert(numbers.begin(), 0);
  if (all > 0 && numbers.back() + 1 < all) numbers.push_back(all - 1);
  return numbers;
}

} // namespace kontor::advection
