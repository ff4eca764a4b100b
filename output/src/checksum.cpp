// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace kontor::output {

namespace {

constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio, odd

std::uint64_t mix(std::uint64_t sum, std::uint64_t word) { return std::rotl((sum ^ word) * multiplier, 29); }

std::uint64_t word_at(const std::byte* position) {
  std::uint64_t word;
  std::memcpy(&word, position, sizeof word);
  return word;
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
  // Four independent sums, so that they overlap. Not an array: a vector of them has no 64-bit product on most
  // processors, and what compilers make of it instead takes four times as long.
  std::uint64_t a = seed + 1, b = seed + 2, c = seed + 3, d = seed + 4;
  std::array<std::uint64_t, 4> words{};
  std::size_t left = bytes;
  for (; left >= sizeof words; left -= sizeof words, position += sizeof words) {
    a = mix(a, word_at(position));
    b = mix(b, word_at(position + 8));
    c = mix(c, word_at(position + 16));
    d = mix(d, word_at(position + 24));
  }
  if (left > 0) std::memcpy(words.data(), position, left);
  const std::array<std::uint64_t, 4> lanes{a, b, c, d};
  std::uint64_t sum = mix(seed, bytes);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) sum = mix(mix(sum, lanes[lane]), words[lane]);
  return sum;
}

} // namespace kontor::output
