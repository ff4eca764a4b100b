// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/ghosted_vector.hpp"
#include "cg/solver/solver.hpp"

namespace kontor::cg {

/// The product with the whole matrix: ghosts travel while rows that read none are computed.
class Operator {
 public:
  /// Local; refers to what the workspace refers to.
  explicit Operator(const Workspace&);

  /// Collective. y = A x, for what compute() is given next.
  void apply(GhostedVector& x, const Vector& y) { product(x, y, nullptr); }

  /// Collective. The same, and *sum = x.y over this rank's rows.
  void apply_and_dot(GhostedVector& x, const Vector& y, double* sum) { product(x, y, sum); }

 private:
  void product(GhostedVector& x, const Vector& y, double* sum);
  void part(Part rows, const GhostedVector& x, const Vector& y, double* sum);
  void finish(comm::Exchange<Vector>& exchange);

  const Matrix* matrix_;
  stepping::Streams<Space>* streams_;
  bool overlap_;
  miniapp::Timer* interior_;
  miniapp::Timer* boundary_;
};

} // namespace kontor::cg
