// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/file.hpp>

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kontor::output {

/// What rank 0 learns about the block of a rank.
struct Part {
  std::uint64_t dimensions = 0;
  std::array<std::uint64_t, 3> global{}, offset{}, extent{};
  std::uint64_t sum = 0; ///< the checksum of the block

  Block block() const;
};

/// Throws Error if this is not a block of an array of rank 1 to 3.
void check_block(const std::string& name, const Block& block, const void* data);

/// Collective over comm. The parts of all ranks, on rank 0.
std::vector<Part> gather_parts(MPI_Comm comm, const Block& block, std::uint64_t sum);

/// Throws Error if the parts are not of one array, or are not as many elements as it has.
void check_parts(const std::string& name, const std::vector<Part>& parts);

} // namespace kontor::output
