// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>

namespace kontor::output {

/// Local. Makes a step in a process of its own (fork), which is gone before this returns; the caller then
/// makes the same step, from the same state. The HDF5 library (1.10.8 at least) checks little of what it
/// reads: from a damaged file it may read outside of its memory, ask for all there is, or never come back.
/// Throws Error if that process does not survive the step, or wants far more memory than the file has
/// bytes; an Error of the step is left to the caller. Where no process can be made, there is no rehearsal.
void rehearse(std::uint64_t file_bytes, const std::function<void()>& step);

} // namespace kontor::output
