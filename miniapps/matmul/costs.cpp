// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/costs.hpp"

#include "machine/blas.hpp"
#include "matmul/algorithm/cannon.hpp"
#include "matmul/check/vectors.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace kontor::matmul {

double bytes_of_rank(const Product& p, const GridShape& grid, const GridPlace& place, std::size_t scalar_bytes) {
  const auto rows = static_cast<double>(2 * p.size.m + p.size.n + 3 * p.size.k); // of the verification
  return elements_of_rank(p, grid, place) * static_cast<double>(scalar_bytes) + rows * 2 * vectors * sizeof(double);
}

void require_blas_memory(const comm::Communicator& comm, int threads) {
  if (miniapp::blas_can_start(threads)) return comm.agree({});
  comm.agree(errors::with_id(
      fmt::format("out of memory: beside the matrices, OpenBLAS needs {:.4g} GB (product.blas_threads "
                  "{}), which a process may not map; raise its limit (ulimit -v), or take a smaller problem",
                  threads * static_cast<double>(miniapp::blas_buffer_bytes) / 1e9, threads),
      "E-MEMORY"));
}

double grid_lower_bound(const ProductSize& size, const GridShape& grid) {
  const auto m = static_cast<double>(size.m), n = static_cast<double>(size.n), k = static_cast<double>(size.k);
  return m * k * (grid.columns - 1) + k * n * (grid.rows - 1);
}

double lower_bound(const ProductSize& size, int ranks) {
  const auto m = static_cast<double>(size.m), n = static_cast<double>(size.n), k = static_cast<double>(size.k);
  const double all = ranks;
  // One, two or three dimensions are cut, by how the sizes compare (Al Daas et al., theorem 3).
  double dims[3] = {m, n, k};
  std::ranges::sort(dims, std::ranges::greater());
  const double large = dims[0], middle = dims[1], small = dims[2];
  double needed = 0; // of the three matrices, by a rank
  if (all <= large / middle)
    needed = (large * middle + large * small) / all + middle * small;
  else if (all <= large * middle / (small * small))
    needed = 2 * std::sqrt(large * middle * small * small / all) + large * middle / all;
  else
    needed = 3 * std::pow(large * middle * small / all, 2.0 / 3.0);
  const double has = (m * k + k * n + m * n) / all;
  return all * std::max(0.0, needed - has);
}

std::vector<std::int64_t> least_volume_grid(const ProductSize& size, int ranks) {
  std::vector<std::int64_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (int rows = 1; rows <= ranks; ++rows) {
    if (ranks % rows != 0) continue;
    const double volume = grid_lower_bound(size, {rows, ranks / rows});
    if (volume < least) {
      least = volume;
      best = {rows, ranks / rows};
    }
  }
  return best;
}

} // namespace kontor::matmul
