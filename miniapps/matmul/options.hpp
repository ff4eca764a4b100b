// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/size_options.hpp"
#include "matmul/product.hpp"
#include "run/options.hpp"
#include "run/record/precision.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/expression.hpp>
#include <kontor/config/visitor.hpp>

#include <string>

namespace kontor::matmul {

enum class MatrixKind { random, integers, expression, dataset };

/// The largest integer of matrices of integers.
inline constexpr int largest_integer = 4;

/// problem.a, b, c: where the elements of a matrix come from.
struct MatrixOptions {
  MatrixKind kind = MatrixKind::random;
  config::Expression expression{"0"}; ///< of i and j
  config::InputFile file = {};
  std::string dataset = {};
  std::int64_t seed = 0;
  config::Location location = {}; ///< of the section
};

/// The keys of a deck that are matmul's own.
struct Options : Product {
  grid::SizeOptions sizing;
  miniapp::Precision precision = miniapp::Precision::double_precision;
  MatrixOptions a{.seed = 1};
  MatrixOptions b{.seed = 2};
  MatrixOptions c{.seed = 3};
  std::int64_t blas_threads = 0;          ///< of each rank; 0: as many as its kernels have
  std::vector<std::int64_t> process_grid; ///< rows, columns of ranks; empty: the least volume
  bool write_c = false;

  /// Of the resolved process grid.
  GridShape shape() const { return {static_cast<int>(process_grid[0]), static_cast<int>(process_grid[1])}; }

  void describe(config::Visitor&);
  /// Collective. The sizes of the whole product, where the deck gives those of a rank or a share of memory. Of a rank:
  /// it has a part of C of m x n, and k is such that its parts of A and B have together as many elements as those of
  /// one rank alone, m k + k n.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&);
  /// Local. Fills in what depends on other keys, and refuses what cannot run on so many ranks or is not used.
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});
  /// Keys that may be others when a run resumes from a checkpoint; of process grids read_state() has a say.
  static std::vector<std::string> restart_may_change() { return {"decomposition.", "problem.write_c"}; }
};

} // namespace kontor::matmul
