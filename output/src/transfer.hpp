// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver.hpp"
#include "part.hpp"

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kontor::output {

// The two ways that blocks reach a dataset which rank 0 has created.

/// A field on its way.
struct Field {
  const std::string& name;
  const Block& block; ///< of this rank
  hid_t type;
  const void* data;
};

/// The bytes that a rank writes at a time.
inline constexpr std::uint64_t parallel_bytes = 64 << 20;

/// Collective over comm. Every rank writes its block into the file at `path`, where the dataset's values
/// begin at byte `address`. Values in memory and in the file are of the same type.
void write_parallel(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address,
                    const Field& field);

/// Collective over comm. Rank 0 receives the blocks, a piece at a time, and writes them to `file`, which uses
/// `driver`; these and `parts` count on rank 0.
void write_gathered(MPI_Comm comm, hid_t file, const Driver& driver, const Field& field,
                    const std::vector<Part>& parts);

} // namespace kontor::output
