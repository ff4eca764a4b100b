// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "stepping/launch.hpp"
#include "stepping/sum_kind.hpp"

#include <kontor/config/visitor.hpp>

#include <cstdint>

namespace kontor::cg {

enum class Method { classic, merged, pipelined };
enum class PreconditionerKind { none, jacobi, chebyshev, gauss_seidel };
enum class Format { csr, sell, matrix_free };

/// solver.
struct SolverOptions {
  config::Chosen<Method> method = Method::classic;
  std::int64_t replace_every = 50; ///< pipelined: iterations between residual replacements; 0: never
  PreconditionerKind preconditioner = PreconditionerKind::none;
  std::int64_t chebyshev_degree = 3;
  double tolerance = 1e-8; ///< of the relative residual; 0: max_iterations iterations
  std::int64_t max_iterations = 1000;
  std::int64_t stagnation = 1000; ///< iterations without a smaller residual that end it; 0: any number
  Format format = Format::csr;
  SumKind sums = SumKind::any_order;
  config::Chosen<stepping::Launch> launch = stepping::Launch::automatic;
};

/// Whether chunks of format sell are the matrix, and nothing else needs its rows.
inline bool only_chunks(const SolverOptions& o) {
  return o.format == Format::sell && o.preconditioner == PreconditionerKind::none;
}

/// Whether anything needs the entries of the matrix.
inline bool needs_matrix(const SolverOptions& o) {
  return o.format != Format::matrix_free || o.preconditioner != PreconditionerKind::none;
}

} // namespace kontor::cg
