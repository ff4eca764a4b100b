// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "transfer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace kontor::output {

/// Takes this rank's values box by box, and their checksum. A failure is kept, so that this rank can go on with what
/// others wait for.
class HandOver {
 public:
  explicit HandOver(const Field& field) : field_(field) {}

  /// The values of a box of the block, valid until the next call; anything at all after a failure.
  const std::byte* box(const Box& box);

  /// Of all boxes so far.
  std::uint64_t sum() const { return sum_; }

  /// Throws Error if values could not be taken.
  void check() const;

 private:
  const Field& field_;
  std::vector<std::byte> room_;
  std::uint64_t sum_ = 0;
  std::string failure_;
};

} // namespace kontor::output
