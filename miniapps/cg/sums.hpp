// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/vector.hpp"

#include <kontor/comm/reduction.hpp>

#include <string>

namespace kontor::cg {

/// A few sums over all rows of all ranks, again and again. Kernels put this rank's into local(), and find
/// those of all ranks in the same place after finish().
class Sums {
 public:
  /// Collective. The sums of ranks are made by what `instance` is given.
  Sums(const comm::Communicator& comm, const std::string& label, int count, const Space& instance)
      : alone_(comm.size() == 1), values_("cg/" + label, static_cast<std::size_t>(count)),
        reduction_(comm, label, values_, comm::ReduceOp::sum, instance) {}

  /// Where sum k of this rank goes.
  double* local(int k = 0) const { return values_.data() + k; }
  /// The sums, for kernels of the instance after finish().
  const Vector& values() const { return values_; }

  /// Local; waits for nothing. Sum k of this rank = x.y.
  void dot(const Space& instance, int k, const Vector& x, const Vector& y) const;

  /// Collective; the sums travel while the caller computes.
  void start(const Space& instance) {
    if (!alone_) reduction_.start(instance);
  }
  void finish(const Space& instance) {
    if (!alone_) reduction_.finish(instance);
  }
  /// Local. Lets MPI go on.
  void progress() {
    if (!alone_) reduction_.progress();
  }
  /// Local. Throws comm::Error if a sum of a graph has gone wrong.
  void poll() {
    if (!alone_) reduction_.poll();
  }
  /// Whether start() and finish() only queue work.
  bool stream_ordered() const { return alone_ || reduction_.stream_ordered(); }

 private:
  bool alone_; ///< one rank: nothing travels
  Vector values_;
  comm::Reduction<Vector> reduction_;
};

} // namespace kontor::cg
