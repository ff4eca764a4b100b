// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/seal.hpp>

#include <mpi.h>

#include <filesystem>

namespace kontor::output {

/// Collective over comm. Appends checksums of its blocks to a file that is complete but for them; HDF5 does
/// not look beyond its own end. `descriptor` counts on rank 0, which writes; ranks that do not `read` leave
/// their part to the others, one of which does. To be called by collectively().
void append_seal(MPI_Comm comm, const std::filesystem::path& path, int descriptor, bool reads);

} // namespace kontor::output
