// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kontor::comm::test {

using Bytes = std::vector<std::byte>;

/// In which order elements are counted: the last index runs fastest, or as they lie.
enum class Order { logical, storage };

/// Where the elements of a View of these extents and strides are, in elements from its first one.
std::vector<std::size_t> element_offsets(std::span<const std::size_t> extents, std::span<const std::size_t> strides,
                                         Order);

/// Fills memory with bits that look random, NaNs and negative zeros included; the seed decides them.
void scramble(std::span<std::byte> memory, std::uint64_t seed);

/// A View of a test with all the memory around it, without its type, so that what is done with it is compiled once.
/// Knows what the memory held. The View must outlive it.
class Watched {
 public:
  /// `places`: where the elements are, in bytes from the beginning of `memory`.
  Watched(std::string label, std::size_t element_size, std::span<std::byte> memory, std::vector<std::size_t> places);

  /// With random bits.
  void fill(std::uint64_t seed);
  /// With small numbers, such that sums and products are exact.
  template <class T>
  void fill_small(int rank) {
    auto* const numbers = reinterpret_cast<T*>(memory_.data());
    for (std::size_t i = 0; i < memory_.size() / sizeof(T); ++i)
      numbers[i] = static_cast<T>(1 + (3 * rank + 2 * i) % 5);
    remember();
  }
  const std::vector<std::size_t>& places() const { return places_; }
  int count() const { return static_cast<int>(places_.size()); }
  int bytes() const { return count() * static_cast<int>(element_size_); }
  /// One after the other, in the order of `places`.
  Bytes elements() const;

  /// Puts elements where they are in a copy of the memory.
  void put(const Bytes& elements, Bytes& copy) const;

  /// The elements are these, and all the memory around them is as it was.
  void expect(const Bytes& elements, const char* what) const;
  void expect_unchanged(const char* what) const;

 private:
  void remember() { before_.assign(memory_.begin(), memory_.end()); }
  void expect_memory(const Bytes& expected, const char* what) const;

  std::string label_;
  std::size_t element_size_;
  std::span<std::byte> memory_;
  std::vector<std::size_t> places_;
  Bytes before_;
};

/// Collective. The elements that `receive` holds after a step, which are its own if `source` is no_rank: MPI_Sendrecv
/// delivers them, and elements meet by logical index.
Bytes delivered(MPI_Comm comm, const Watched& send, int destination, const Watched& receive, int source);

/// A View that is sent and one that receives: after a step both hold what they must, and nothing else has changed.
class Delivery {
 public:
  Delivery(Watched send, Watched receive);

  /// Collective. Gives both Views data that depend on rank, step and number. A peer may be no_rank.
  void prepare(MPI_Comm comm, int destination, int source, int step, int number);
  void check() const;

 private:
  Watched send_;
  Watched receive_;
  Bytes expected_;
};

} // namespace kontor::comm::test
