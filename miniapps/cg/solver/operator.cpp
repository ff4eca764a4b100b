// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/operator.hpp"

namespace kontor::cg {

Operator::Operator(const Workspace& workspace)
    : matrix_(&workspace.matrix), streams_(&workspace.streams), overlap_(workspace.overlap),
      interior_(&workspace.timers["spmv"]), boundary_(&workspace.timers["spmv_boundary"]) {}

void Operator::product(GhostedVector& x, const Vector& y, double* sum) {
  auto& exchange = x.exchange();
  streams_->exchange_follows();
  exchange.start();
  if (!overlap_) finish(exchange);
  {
    const miniapp::ScopedTimer timed(*interior_);
    part(Part::interior, x, y, sum);
  }
  if (overlap_) finish(exchange);
  const miniapp::ScopedTimer timed(*boundary_);
  part(Part::boundary, x, y, sum);
}

void Operator::part(Part rows, const GhostedVector& x, const Vector& y, double* sum) {
  if (sum)
    matrix_->multiply_and_dot(streams_->compute(), rows, x.all(), y, sum);
  else
    matrix_->multiply(streams_->compute(), rows, x.all(), y);
}

void Operator::finish(comm::Exchange<Vector>& exchange) {
  exchange.finish();
  streams_->compute_waits();
}

} // namespace kontor::cg
