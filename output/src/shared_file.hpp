// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

namespace kontor::output {

/// Collective over comm. Opens the file on all ranks with MPI-IO, calls write(file) and closes it; an Error
/// on one rank is one on all.
void with_shared_file(MPI_Comm comm, const std::filesystem::path& path,
                      const std::function<void(MPI_File)>& write);

/// Local. Writes `bytes` at byte `position`. Throws Error.
void write_at(MPI_File file, std::uint64_t position, const std::byte* data, std::uint64_t bytes);

} // namespace kontor::output
