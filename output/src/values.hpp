// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "box.hpp"
#include "hdf5.hpp"

#include <cstddef>
#include <functional>

namespace kontor::output {

/// The values of this rank's block, to be had box by box.
struct BlockValues {
  hid_t type;
  std::size_t size; ///< bytes of a value
  std::function<void(const Box&, void*)> fetch;

  /// Those of a box, contiguous, in `room`.
  const std::byte* box(const Box& box, std::vector<std::byte>& room) const;
};

/// Local. Throws Error if this is not a block of an array of rank 1 to 3. `any` tells whether there are values.
void check_block(const std::string& name, const Block& block, bool any);

/// Local. Writes this rank's block to a file where the array's values begin at byte `address`. Returns the sum_of() of
/// its values. Throws Error, with `name`.
std::uint64_t write_values(int file, std::uint64_t address, const std::string& name, const Block& block,
                           const BlockValues& values);

} // namespace kontor::output
