// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace kontor::output {

namespace {

constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio, odd

std::uint64_t mix(std::uint64_t sum, std::uint64_t word) {
  return std::rotl((sum ^ word) * multiplier, 29);
}

} // namespace

std::uint64_t checksum(const void* data, std::size_t bytes, std::uint64_t seed) {
  const auto* position = static_cast<const std::byte*>(data);
  std::array<std::uint64_t, 4> lanes{seed + 1, seed + 2, seed + 3,
                                     seed + 4}; // independent, so that they overlap
  std::array<std::uint64_t, 4> words{};
  std::size_t left = bytes;
  for (; left >= sizeof words; left -= sizeof words, position += sizeof words) {
    std::memcpy(words.data(), position, sizeof words);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] = mix(lanes[lane], words[lane]);
  }
  words = {};
  if (left > 0) std::memcpy(words.data(), position, left);
  std::uint64_t sum = mix(seed, bytes);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) sum = mix(mix(sum, lanes[lane]), words[lane]);
  return sum;
}

} // namespace kontor::output
