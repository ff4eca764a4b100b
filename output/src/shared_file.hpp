// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace kontor::output {

/// Collective over comm. Opens the file, which is there, on all ranks, calls write(descriptor) and closes it;
/// an Error on one rank is one on all.
void with_shared_file(MPI_Comm comm, const std::filesystem::path& path,
                      const std::function<void(int)>& write);

/// Local. Writes `bytes` at byte `position`. Throws Error.
void write_at(int descriptor, std::uint64_t position, const void* data, std::uint64_t bytes);

/// Local. Fills `to`; throws Error if the file has less.
void read_at(int descriptor, std::uint64_t position, void* to, std::uint64_t bytes);

/// Local. Asks the system to begin with what has been written of these bytes, so that the disk is busy before
/// the sync. A hint: what the sync says counts.
void begin_sync(int descriptor, std::uint64_t position, std::uint64_t bytes);

} // namespace kontor::output
