// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/block.hpp>

#include <mpi.h>

#include <string>

namespace kontor::output {

/// Local. Throws Error if this is not a block of an array of rank 1 to 3. `strides` are those of its values in memory,
/// none if they are contiguous; `any` tells whether there are values.
void check_block(const std::string& name, const Block& block, const Strides& strides, bool any);

/// Collective over comm. Throws Error if the blocks of the ranks are not of one array, or do not fill it: each element
/// must be in exactly one of them.
void check_cover(MPI_Comm comm, const std::string& name, const Block& block);

} // namespace kontor::output
