// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/memory.hpp"
#include "matmul/algorithm/process_grid.hpp"
#include "matmul/options.hpp"

#include <cstddef>
#include <vector>

/// What a run allocates for its matrices, known before it does.
namespace kontor::matmul {

/// Local. The Views of a rank. With a double buffer of A and of B that is five blocks; a matrix that does not move has
/// one buffer, matrices that are given in another distribution are beside them, with staging, and layers add parts of
/// C.
std::vector<miniapp::Allocation> views_of_rank(const Options&, const GridShape&, const GridPlace&,
                                               std::size_t scalar_bytes);

/// Collective. Throws AgreedError on all ranks if there is too little memory, with what would do.
void require_memory(const ProcessGrid&, const Options&, std::size_t scalar_bytes);

/// Collective. When all Views are allocated; throws AgreedError on all ranks if the BLAS has no room beside them.
void require_blas_memory(const ProcessGrid&, const Options&);

} // namespace kontor::matmul
