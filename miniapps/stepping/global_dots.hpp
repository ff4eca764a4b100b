// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/sum_kind.hpp"
#include "stepping/team_sums.hpp"

#include <kontor/comm/exact_sum.hpp>
#include <kontor/comm/reduction.hpp>

#include <string>
#include <variant>

namespace kontor::stepping {

/// A few sums over all rows of all ranks, again and again: dot() or a kernel gives this rank's, start() and finish()
/// make them those of all. Reproducible ones are exact but for one rounding, so neither the order nor the number of
/// ranks shows; kernels cannot compute them on the way, dot() does.
class GlobalDots {
 public:
  /// Collective. The sums of ranks are made by what `instance` is given.
  GlobalDots(const comm::Communicator& comm, const std::string& label, int count, const Space& instance, SumKind kind);

  /// Where kernels put sum k of this rank, unless sums are reproducible, and find that of all ranks after finish(), by
  /// what the instance is given.
  double* local(int k = 0) const { return values_.data() + k; }
  const Vector& values() const { return values_; }
  /// For kernels that compute them by teams.
  const TeamParts& parts() const { return parts_; }

  /// Local; waits for nothing. Sum k of this rank = x.y; once between two start().
  void dot(const Space& instance, int k, const Vector& x, const Vector& y);

  /// Local; waits for nothing. Forgets what dot() has given since the last start(): before it is given anew.
  void forget(const Space& instance);

  /// Collective; the sums travel while the caller computes.
  void start(const Space& instance);
  void finish(const Space& instance);
  /// Local. Whether start() and finish() exchange anything; else sums mean nothing.
  void exchange(bool exchanges) { exchanges_ = exchanges; }
  /// Local. Lets MPI go on.
  void progress();
  /// Local. Throws comm::Error if a sum of a graph has gone wrong.
  void poll();
  /// Whether these are the sums of all ranks as kernels leave them: one rank has no others to ask.
  bool complete() const { return alone_ && !exact_; }
  /// Whether start() and finish() only queue work.
  bool stream_ordered() const;

 private:
  using Fast = comm::Reduction<Vector>;
  using Exact = comm::ExactSums<Space>;
  using Sums = std::variant<Fast, Exact>;

  bool alone_; ///< one rank: nothing travels
  bool exact_;
  bool exchanges_ = true;
  Vector values_;
  TeamParts parts_;
  Sums sums_;
};

} // namespace kontor::stepping
