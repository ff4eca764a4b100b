// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

namespace kontor::output {

/// A 64-bit checksum of `bytes` at `data`, continued from `seed`. Made to notice lost or altered data at the
/// speed of memory, not to withstand forgery.
std::uint64_t checksum(const void* data, std::size_t bytes, std::uint64_t seed = 0);

} // namespace kontor::output
