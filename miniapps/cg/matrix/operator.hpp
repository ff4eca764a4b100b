// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/names.hpp"
#include "machine/simulation.hpp"
#include "partition/ghosted_vector.hpp"
#include "run/record/sampled_exchange.hpp"
#include "run/record/timers.hpp"
#include "stepping/global_dots.hpp"
#include "stepping/overlap.hpp"
#include "stepping/streams.hpp"

#include <optional>

namespace kontor::cg {

/// A matrix of all ranks, as one of them has it. What it refers to outlives what is made with it.
struct DistributedMatrix {
  const comm::Communicator& comm;
  const Partition& partition;
  const CompressedRows& rows; ///< empty where no preconditioner reads them
  const Matrix& matrix;       ///< the product with these rows
};

/// How a rank computes and exchanges; as above.
struct Execution {
  stepping::Streams<Space>& streams;
  miniapp::Timers& timers;
  bool overlap = true;
  bool as_on_device = stepping::on_device; ///< iterations are queued; tests do it on a CPU too
};

/// The product with the whole matrix: ghosts travel while rows that read none are computed.
class Operator {
 public:
  /// Local. Times go to the regions spmv and spmv_boundary, and exchanges are sampled.
  Operator(const DistributedMatrix& a, const Execution& run)
      : Operator(a, run, run.timers["spmv"], run.timers["spmv_boundary"]) {
    samples_.emplace(run.timers);
  }
  /// Local. Times of the interior rows and of the others go to these.
  Operator(const DistributedMatrix& a, const Execution& run, miniapp::Timer& interior, miniapp::Timer& boundary)
      : a_(a), streams_(run.streams), split_(run.overlap && a.comm.size() > 1), interior_(interior),
        boundary_(boundary) {}

  /// Collective. y = A x, for what compute() is given next. With `sums`, sums[0] + sums[1] = x.y over this rank's rows;
  /// where it is one loop over all rows, which is so on all ranks or on none, sums[1] stays as it was: 0. `pending`
  /// sums are helped on their way.
  void apply(GhostedVector& x, const Vector& y, double* sums = nullptr, GlobalDots* pending = nullptr) {
    if (!exchanges_) {
      stepping::NoExchange none;
      return product(none, x, y, sums, pending);
    }
    if (!samples_) return product(x.exchange(), x, y, sums, pending);
    miniapp::SampledExchange sampled(x.exchange(), *samples_);
    product(sampled, x, y, sums, pending);
  }

  /// Local. Products do nothing where kernels find a number other than 0 there; null: all are made.
  void skip_if(const int* number) { skip_if_ = number; }
  /// Local. Whether products exchange ghosts; else they read what there was.
  void exchange(bool exchanges) { exchanges_ = exchanges; }

 private:
  template <class Exchange>
  void product(Exchange& exchange, GhostedVector& x, const Vector& y, double* sums, GlobalDots* pending) {
    // On a device an exchange that is not queued waits for the host: after the interior rows, which it queues.
    const bool interior_first = split_ && stepping::on_device && !exchange.stream_ordered();
    streams_.exchange_follows();
    if (!interior_first) exchange.start();
    if (!split_) {
      exchange.finish();
      streams_.compute_waits();
    }
    {
      const miniapp::ScopedTimer timed(interior_);
      part(split_ ? Part::interior : Part::all, x, y, sums);
    }
    if (interior_first) exchange.start();
    if (pending) pending->progress();
    if (!split_) return;
    exchange.finish();
    streams_.compute_waits();
    const miniapp::ScopedTimer timed(boundary_);
    part(Part::boundary, x, y, sums ? sums + 1 : nullptr);
  }
  void part(Part rows, const GhostedVector& x, const Vector& y, double* sum) {
    const auto own = a_.partition.own;
    const auto range = range_of(rows, own, a_.partition.interior);
    a_.matrix.skip_if(skip_if_);
    miniapp::compute("cg/product", range.count(), own, [&] {
      if (sum)
        a_.matrix.multiply_and_dot(streams_.compute(), rows, x.all(), y, sum);
      else
        a_.matrix.multiply(streams_.compute(), rows, x.all(), y);
    });
    a_.matrix.skip_if(nullptr);
  }

  DistributedMatrix a_;
  stepping::Streams<Space>& streams_;
  const int* skip_if_ = nullptr;
  bool exchanges_ = true;
  bool split_; ///< interior rows are computed while ghosts travel
  miniapp::Timer &interior_, &boundary_;
  std::optional<miniapp::ExchangeSamples> samples_; ///< none: those of a preconditioner
};

} // namespace kontor::cg
