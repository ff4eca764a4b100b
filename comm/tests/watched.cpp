// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2") // looks at every element
#endif

#include "watched.hpp"

#include <kontor/comm/communicator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

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

Bytes delivered(MPI_Comm comm, const Watched& send, int destination, const Watched& receive, int source) {
  const auto peer = [](int rank) { return rank == no_rank ? MPI_PROC_NULL : rank; };
  const auto out = send.elements();
  auto in = receive.elements();
  MPI_Sendrecv(out.data(), send.bytes(), MPI_BYTE, peer(destination), 0, in.data(), receive.bytes(), MPI_BYTE,
               peer(source), 0, comm, MPI_STATUS_IGNORE);
  return in;
}

Delivery::Delivery(Watched send, Watched receive) : send_(std::move(send)), receive_(std::move(receive)) {}

void Delivery::prepare(MPI_Comm comm, int destination, int source, int step, int number) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const auto seed = static_cast<std::uint64_t>(1000 * rank + 10 * step + 2 * number);
  send_.fill(seed);
  receive_.fill(seed + 1);
  expected_ = delivered(comm, send_, destination, receive_, source);
}

void Delivery::check() const {
  receive_.expect(expected_, "received");
  send_.expect_unchanged("sent");
}

} // namespace kontor::comm::test
