// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matmul/problem/costs.hpp"

#include "machine/blas.hpp"
#include "matmul/algorithm/layer_sum.hpp"
#include "matmul/algorithm/multiplication.hpp"
#include "matmul/check/vectors.hpp"
#include "matmul/kernels/local_product.hpp"
#include "matmul/problem/given_part.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace kontor::matmul {
namespace {

double elements(const MatrixParts& part) {
  return static_cast<double>(part.rows.size) * static_cast<double>(part.columns.size);
}

} // namespace

std::vector<miniapp::Allocation> views_of_rank(const Options& o, const GridShape& grid, const GridPlace& place,
                                               std::size_t scalar_bytes) {
  const auto size = static_cast<double>(scalar_bytes);
  auto views = o.algorithm == Algorithm::summa ? summa_views(o, grid, place) : cannon_views(o, grid, place);
  const auto c = wanted_part(stored_c(o), grid, false, place.row, place.column);
  views.push_back({"matmul/C", elements(c)});
  if (grid.layers > 1)
    views.push_back({"matmul/part of C", layer_sum_elements(grid.layers, c.rows.size, c.columns.size)});
  const auto given = [&](const char* label, const StoredSize& stored, bool transposed) {
    if (place.layer == 0 && !is_given_as_wanted(o, transposed, grid))
      views.push_back({label, elements(given_part(o, stored, grid, place.row, place.column))});
  };
  given("matmul/given A", stored_a(o), is_transposed(o.a));
  given("matmul/given B", stored_b(o), is_transposed(o.b));
  given("matmul/given C", stored_c(o), false);
  if (const auto staging = staging_elements(o, grid, place); staging > 0)
    views.push_back({"matmul/staging", 2 * static_cast<double>(staging)});
  for (auto& view : views) view.bytes *= size;
  const auto rows = static_cast<double>(2 * o.size.m + o.size.n + 3 * o.size.k); // of the verification
  views.push_back({"matmul/vectors", rows * 2 * vectors * sizeof(double)});
  return views;
}

void require_memory(const ProcessGrid& grid, const Options& options, std::size_t scalar_bytes) {
  const auto views = views_of_rank(options, grid.shape, grid.place, scalar_bytes);
  if (grid.shape.layers == 1) return miniapp::require_memory(grid.all, views);
  try {
    miniapp::require_memory(grid.all, views);
  } catch (const comm::AgreedError& error) {
    auto one_layer = options;
    one_layer.algorithm = Algorithm::cannon;
    const int ranks = grid.all.size();
    const auto shape = least_volume_grid(options.size, ranks);
    const GridShape flat{1, static_cast<int>(shape[0]), static_cast<int>(shape[1])};
    const double bytes = ranks * miniapp::total_bytes(views_of_rank(one_layer, flat, {}, scalar_bytes));
    throw comm::AgreedError(
        fmt::format("{}; or fewer product.layers than {}: one layer, of {} x {} ranks, takes {:.4g} GB", error.what(),
                    grid.shape.layers, flat.rows, flat.columns, bytes / 1e9),
        "E-MEMORY");
  }
}

void require_blas_memory(const ProcessGrid& grid, const Options& options) {
  const int threads = blas_threads(options);
  if (miniapp::blas_can_start(threads)) return grid.all.agree({});
  grid.all.agree(errors::with_id(
      fmt::format("out of memory: beside the matrices, OpenBLAS needs {:.4g} GB (product.blas_threads "
                  "{}), which a process may not map; raise its limit (ulimit -v), or take a smaller problem",
                  threads * static_cast<double>(miniapp::blas_buffer_bytes) / 1e9, threads),
      "E-MEMORY"));
}

double grid_lower_bound(const ProductSize& size, const GridShape& grid) {
  const auto m = static_cast<double>(size.m), n = static_cast<double>(size.n), k = static_cast<double>(size.k);
  const double rows = grid.rows, columns = grid.columns, layers = grid.layers;
  // The first layer has 1/columns of its rows of A, and needs 1/layers of them; the others have nothing.
  const double of_a = std::max(0.0, columns / layers - 1) + (layers - 1) * columns / layers;
  const double of_b = std::max(0.0, rows / layers - 1) + (layers - 1) * rows / layers;
  return m * k * of_a + k * n * of_b + (layers - 1) * m * n;
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
    const double volume = grid_lower_bound(size, {1, rows, ranks / rows});
    if (volume < least) {
      least = volume;
      best = {rows, ranks / rows};
    }
  }
  return best;
}

} // namespace kontor::matmul
