// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/ghosted_vector.hpp"
#include "cg/reduce.hpp"
#include "cg/solver/solver.hpp"

namespace kontor::cg {

/// The product with the whole matrix: ghosts travel while rows that read none are computed.
class Operator {
 public:
  explicit Operator(const Workspace& workspace)
      : matrix_(&workspace.matrix), streams_(&workspace.streams), overlap_(workspace.overlap),
        interior_(&workspace.timers["spmv"]), boundary_(&workspace.timers["spmv_boundary"]),
        parts_("cg/parts of a dot", 2) {}

  /// Collective. y = A x, for what compute() is given next.
  void apply(GhostedVector& x, const Vector& y) { product(x, y, nullptr); }

  /// Collective. The same, and *sum = x.y over this rank's rows.
  void apply_and_dot(GhostedVector& x, const Vector& y, double* sum) { product(x, y, sum); }

 private:
  void product(GhostedVector& x, const Vector& y, double* sum) {
    auto& exchange = x.exchange();
    streams_->exchange_follows();
    exchange.start();
    if (!overlap_) finish(exchange);
    {
      const miniapp::ScopedTimer timed(*interior_);
      part(Part::interior, x, y, sum ? parts_.data() : nullptr);
    }
    if (overlap_) finish(exchange);
    const miniapp::ScopedTimer timed(*boundary_);
    part(Part::boundary, x, y, sum ? parts_.data() + 1 : nullptr);
    if (sum) add_parts(sum);
  }
  void part(Part rows, const GhostedVector& x, const Vector& y, double* sum) {
    if (sum)
      matrix_->multiply_and_dot(streams_->compute(), rows, x.all(), y, sum);
    else
      matrix_->multiply(streams_->compute(), rows, x.all(), y);
  }
  void finish(comm::Exchange<Vector>& exchange) {
    exchange.finish();
    streams_->compute_waits();
  }
  struct AddParts {
    Vector parts;
    double* sum;
    KOKKOS_FUNCTION void operator()(int) const { *sum = parts(0) + parts(1); }
  };
  void add_parts(double* sum) {
    Kokkos::parallel_for("cg/parts of a dot", Kokkos::RangePolicy<Space>(streams_->compute(), 0, 1),
                         AddParts{parts_, sum});
  }

  const Matrix* matrix_;
  stepping::Streams<Space>* streams_;
  bool overlap_;
  miniapp::Timer* interior_;
  miniapp::Timer* boundary_;
  Vector parts_;
};

} // namespace kontor::cg
