// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/seal.hpp>

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace kontor::output {

/// Values of a field in the file.
struct StoredField {
  std::uint64_t address = 0; ///< of its first byte
  std::uint64_t count = 0;   ///< elements
  std::uint64_t size = 0;    ///< bytes of one
};

/// Collective over comm. Appends checksums of its blocks to a file that is complete but for them; HDF5 does not look
/// beyond its own end. The file is read once, by the ranks that `read`, each a part. `descriptor` counts on rank 0,
/// which writes. Returns this rank's part of the run_sum() of each field. To be called by collectively().
std::vector<std::uint64_t> append_seal(MPI_Comm comm, const std::filesystem::path& path, int descriptor, bool reads,
                                       const std::vector<StoredField>& fields);

} // namespace kontor::output
