// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "watched.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kontor::comm::test {

std::vector<std::size_t> element_offsets(std::span<const std::size_t> extents, std::span<const std::size_t> strides,
                                         Order order) {
  std::vector<std::size_t> offsets{0};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::vector<std::size_t> of_more;
    of_more.reserve(offsets.size() * extents[d]);
    for (const auto offset : offsets)
      for (std::size_t i = 0; i < extents[d]; ++i) of_more.push_back(offset + i * strides[d]);
    offsets = std::move(of_more);
  }
  if (order == Order::storage) std::ranges::sort(offsets);
  return offsets;
}

void scramble(std::span<std::byte> memory, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u;
  for (auto& byte : memory) { // splitmix64
    std::uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    byte = static_cast<std::byte>(z >> 56);
  }
}

Watched::Watched(std::string label, std::size_t element_size, std::span<std::byte> memory,
                 std::vector<std::size_t> places)
    : label_(std::move(label)), element_size_(element_size), memory_(memory), places_(std::move(places)) {
  remember();
}

void Watched::fill(std::uint64_t seed) {
  scramble(memory_, seed);
  remember();
}

void Watched::put(const Bytes& elements, Bytes& copy) const {
  ASSERT_EQ(elements.size(), places_.size() * element_size_) << "View " << label_;
  ASSERT_EQ(copy.size(), memory_.size());
  const auto* element = elements.data();
  for (const auto place : places_) {
    std::memcpy(copy.data() + place, element, element_size_);
    element += element_size_;
  }
}

void Watched::store(const Bytes& elements) {
  remember();
  put(elements, before_);
  std::ranges::copy(before_, memory_.begin());
}

Bytes Watched::elements() const {
  Bytes elements(places_.size() * element_size_);
  auto* element = elements.data();
  for (const auto place : places_) {
    std::memcpy(element, memory_.data() + place, element_size_);
    element += element_size_;
  }
  return elements;
}

void Watched::expect_unchanged(const char* what) const { expect_memory(before_, what); }

void Watched::expect(const Bytes& elements, const char* what) const {
  auto expected = before_;
  put(elements, expected);
  expect_memory(expected, what);
}

void Watched::expect_memory(const Bytes& expected, const char* what) const {
  EXPECT_TRUE(memory_.empty() || std::memcmp(memory_.data(), expected.data(), memory_.size()) == 0)
      << what << ", View " << label_;
}

} // namespace kontor::comm::test
