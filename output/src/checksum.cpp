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

/// Of a word at a place. Nearly all pairs of different words or places differ.
std::uint64_t placed(std::uint64_t word, std::uint64_t place) {
  std::uint64_t mixed = (word ^ (place + 1) * multiplier) * 0xbf58476d1ce4e5b9; // as splitmix64 does
  mixed = (mixed ^ mixed >> 32) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

template <class Word>
std::uint64_t sum_of_words(const std::byte* data, std::uint64_t count, std::uint64_t place) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, data + i * sizeof word, sizeof word);
    sum += placed(word, place + i);
  }
  return sum;
}

} // namespace

std::uint64_t run_sum(const void* data, std::size_t size, std::uint64_t first, std::uint64_t count) {
  // Elements of other sizes count as their bytes.
  const std::size_t word = size == 8 || size == 4 ? size : 1, words = size / word;
  const auto* bytes = static_cast<const std::byte*>(data);
  if (word == 8) return sum_of_words<std::uint64_t>(bytes, count, first);
  if (word == 4) return sum_of_words<std::uint32_t>(bytes, count, first);
  return sum_of_words<std::uint8_t>(bytes, count * words, first * words);
}

std::uint64_t box_sum(const void* data, std::size_t size, const Box& box, const Extents& array) {
  const auto* position = static_cast<const std::byte*>(data);
  std::uint64_t sum = 0;
  for_each_run(box, array, [&](std::uint64_t place, std::uint64_t count) {
    sum += run_sum(position, size, place, count);
    position += count * size;
  });
  return sum;
}

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
