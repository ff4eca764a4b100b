// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "cg/solver/workspace.hpp"
#include "partition/ghosted_vector.hpp"
#include "run/record/sampled_exchange.hpp"
#include "stepping/global_dots.hpp"

#include <optional>

namespace kontor::cg {

/// The product with the whole matrix: ghosts travel while rows that read none are computed.
class Operator {
 public:
  /// Local; refers to what the workspace refers to. Times go to the regions spmv and spmv_boundary, and exchanges are
  /// sampled.
  explicit Operator(const Workspace& workspace)
      : Operator(workspace, workspace.timers["spmv"], workspace.timers["spmv_boundary"]) {
    samples_.emplace(workspace.timers);
  }
  /// Local. Times of the interior rows and of the others go to these.
  Operator(const Workspace&, miniapp::Timer& interior, miniapp::Timer& boundary);

  /// Collective. y = A x, for what compute() is given next. With `sums`, sums[0] + sums[1] = x.y over this rank's rows;
  /// where it is one loop over all rows, which is so on all ranks or on none, sums[1] stays as it was: 0. `pending`
  /// sums are helped on their way.
  void apply(GhostedVector& x, const Vector& y, double* sums = nullptr, GlobalDots* pending = nullptr);

  /// Local. Whether products exchange ghosts; else they read what there was.
  void exchange(bool exchanges) { exchanges_ = exchanges; }

 private:
  template <class Exchange>
  void product(Exchange&, GhostedVector& x, const Vector& y, double* sums, GlobalDots* pending);
  void part(Part rows, const GhostedVector& x, const Vector& y, double* sum);

  Workspace work_;
  bool exchanges_ = true;
  bool split_; ///< interior rows are computed while ghosts travel
  miniapp::Timer &interior_, &boundary_;
  std::optional<miniapp::ExchangeSamples> samples_; ///< none: those of a preconditioner
};

} // namespace kontor::cg
