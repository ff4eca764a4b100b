// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matmul/product.hpp"

#include <kontor/comm/communicator.hpp>

#include <cstddef>

/// What a run takes, known before it begins: memory for its matrices, and how much must travel.
namespace kontor::matmul {

/// Local. Bytes of the Views of a rank. With a double buffer of A and of B that is five blocks; a matrix that does not
/// move has one buffer.
double bytes_of_rank(const Product&, const GridShape&, const GridPlace&, std::size_t scalar_bytes);

/// Collective. When all Views are allocated; throws AgreedError on all ranks if the BLAS has no room beside them.
void require_blas_memory(const comm::Communicator&, int threads);

/// Local. Elements that all ranks together must receive so that each has what its block of C is a product of: its rows
/// of A and its columns of B, of which it has a part already. A travels (columns - 1) times, B (rows - 1) times.
double grid_lower_bound(const ProductSize&, const GridShape&);

/// Local. Elements that all ranks together must send or receive, whatever the grid or algorithm, if each multiplies an
/// equal part and all begin with equal parts of A, B and C: 3 (mnk / P)^(2/3) - (mk + kn + mn) / P a rank where that is
/// positive (memory-independent; G. Ballard et al., Brief Announcement: Strong Scaling of Matrix Multiplication
/// Algorithms and Memory-Independent Communication Lower Bounds, SPAA 2012; the constant is that of H. Al Daas et al.,
/// Tight Memory-Independent Parallel Matrix Multiplication Communication Lower Bounds, SPAA 2022).
double lower_bound(const ProductSize&, int ranks);

/// Local. The rows and columns of so many ranks for which grid_lower_bound() is least; of equals the one with fewer
/// rows.
std::vector<std::int64_t> least_volume_grid(const ProductSize&, int ranks);

} // namespace kontor::matmul
