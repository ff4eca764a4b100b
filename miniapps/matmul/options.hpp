// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/sizing.hpp"
#include "matmul/algorithm/panels.hpp"
#include "run/options.hpp"
#include "run/record/precision.hpp"

#include <kontor/config/deck.hpp>
#include <kontor/config/expression.hpp>
#include <kontor/config/visitor.hpp>

#include <string>

namespace kontor::matmul {

enum class MatrixKind { random, integers, expression, dataset };
enum class Operation { none, transpose };
enum class Algorithm { cannon, summa, cannon_25d };
enum class Gemm { vendor, kokkos_kernels, plain };
enum class Distribution { block, block_cyclic };

/// problem.a, b, c: where the elements of a matrix come from.
struct MatrixOptions {
  MatrixKind kind = MatrixKind::random;
  config::Expression expression{"0"}; ///< of i and j
  config::InputFile file = {};
  std::string dataset = {};
  std::int64_t seed = 0;
  Operation operation = Operation::none; ///< of a and b
  config::Location location = {};        ///< of the section
};

/// Sizes of a product: op(A) is m x k, op(B) k x n, C m x n.
struct ProductSize {
  std::int64_t m = 1024;
  std::int64_t n = 1024;
  std::int64_t k = 1024;

  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

/// The keys of a deck that are matmul's own.
struct Options {
  ProductSize size;
  grid::SizeOptions sizing;
  miniapp::Precision precision = miniapp::Precision::double_precision;
  double alpha = 1;
  double beta = 0;
  MatrixOptions a{.seed = 1};
  MatrixOptions b{.seed = 2};
  MatrixOptions c{.seed = 3};
  Algorithm algorithm = Algorithm::cannon;
  std::int64_t layers = 1;  ///< of cannon_25d
  std::int64_t panel = 256; ///< summa: columns of A and rows of B that are broadcast at a time
  Gemm gemm = Gemm::vendor;
  std::int64_t blas_threads = 0; ///< of each rank; 0: as many as its kernels have
  Distribution distribution = Distribution::block;
  std::vector<std::int64_t> block_size{64, 64}; ///< rows, columns
  std::vector<std::int64_t> process_grid;       ///< rows, columns of ranks; empty: the least volume
  bool write_c = false;

  /// Of the resolved process grid.
  GridShape shape() const {
    return {static_cast<int>(layers), static_cast<int>(process_grid[0]), static_cast<int>(process_grid[1])};
  }

  void describe(config::Visitor&);
  /// Collective. The sizes of the whole product, where the deck gives those of a rank or a share of memory. Of a rank:
  /// it has a part of C of m x n, and k is such that its parts of A and B have together as many elements as those of
  /// one rank alone, m k + k n.
  void resolve_sizes(const config::Deck&, int ranks, const grid::FreeMemory&);
  /// Local. Fills in what depends on other keys, and refuses what cannot run on so many ranks or is not used.
  void resolve(const config::Deck&, int ranks, const miniapp::RunOptions& = {});
  /// Keys that may be others when a run goes on from a checkpoint; of process grids read_state() has a say.
  static std::vector<std::string> restart_may_change() { return {"decomposition.", "problem.write_c"}; }
};

} // namespace kontor::matmul
