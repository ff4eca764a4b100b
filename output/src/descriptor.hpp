// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <unistd.h>
#include <utility>

namespace kontor::output {

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  operator int() const { return number_; } ///< negative: none

 private:
  int number_ = -1;
};

// Local; they throw Error.

/// Writes `bytes` at byte `position`.
void write_at(int descriptor, std::uint64_t position, const void* data, std::uint64_t bytes);

/// Fills `to`; an Error if the file has less.
void read_at(int descriptor, std::uint64_t position, void* to, std::uint64_t bytes);

/// The file's bytes; an Error if it is not a regular file.
std::uint64_t size_of(int descriptor);

/// Waits until the file's data are on the disk.
void sync(int descriptor);

} // namespace kontor::output
