// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "cg/solver/global_dots.hpp"
#include "cg/solver/solver.hpp"
#include "partition/ghosted_vector.hpp"

namespace kontor::cg {

/// The product with the whole matrix: ghosts travel while rows that read none are computed.
class Operator {
 public:
  /// Local; refers to what the workspace refers to. Times go to the regions spmv and spmv_boundary.
  explicit Operator(const Workspace& workspace)
      : Operator(workspace, workspace.timers["spmv"], workspace.timers["spmv_boundary"]) {}
  /// Local. Times of the interior rows and of the others go to these.
  Operator(const Workspace&, miniapp::Timer& interior, miniapp::Timer& boundary);

  /// Collective. y = A x, for what compute() is given next. `travelling` is helped on its way.
  void apply(GhostedVector& x, const Vector& y, GlobalDots* pending = nullptr) {
    product(x, y, nullptr, pending);
  }

  /// Collective. The same, and sums[0] + sums[1] = x.y over this rank's rows. Where it is one loop over all
  /// rows, which is so on all ranks or on none, sums[1] stays as it was: 0.
  void apply_and_dot(GhostedVector& x, const Vector& y, double* sums) { product(x, y, sums, nullptr); }

  /// Local. Whether products exchange ghosts; else they read what there was.
  void exchange(bool exchanges) { exchanges_ = exchanges; }

 private:
  void product(GhostedVector& x, const Vector& y, double* sums, GlobalDots* pending);
  template <class Exchange>
  void product(Exchange&, GhostedVector& x, const Vector& y, double* sums, GlobalDots* pending);
  void part(Part rows, const GhostedVector& x, const Vector& y, double* sum);

  const Matrix* matrix_;
  const Partition* partition_;
  stepping::Streams<Space>* streams_;
  bool exchanges_ = true;
  bool split_; ///< interior rows are computed while ghosts travel
  miniapp::Timer* interior_;
  miniapp::Timer* boundary_;
};

} // namespace kontor::cg
