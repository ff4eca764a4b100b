// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace kontor::output {

/// Local. Has a process of its own read the structure of an open HDF5 file: all groups, attributes and types,
/// and of the values those that are few. The HDF5 library (1.10.8 at least) checks little of what it reads:
/// from a damaged file it may read outside of its memory, ask for all there is, or never come back. Throws
/// Error if that process does not survive or asks for far more memory than the file has bytes; what else is
/// wrong is left to those who read it. Where no process can be made, nothing is looked at.
void look_first(int descriptor, std::uint64_t bytes);

} // namespace kontor::output
