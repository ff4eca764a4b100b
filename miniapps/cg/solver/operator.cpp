// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/operator.hpp"

#include "machine/simulation.hpp"
#include "stepping/overlap.hpp"

namespace kontor::cg {

Operator::Operator(const Workspace& work, miniapp::Timer& interior, miniapp::Timer& boundary)
    : work_(work), split_(work.overlap && work.comm.size() > 1), interior_(interior), boundary_(boundary) {}

void Operator::apply(GhostedVector& x, const Vector& y, double* sums, GlobalDots* pending) {
  if (!exchanges_) {
    stepping::NoExchange none;
    return product(none, x, y, sums, pending);
  }
  if (!samples_) return product(x.exchange(), x, y, sums, pending);
  miniapp::SampledExchange sampled(x.exchange(), *samples_);
  product(sampled, x, y, sums, pending);
}

template <class Exchange>
void Operator::product(Exchange& exchange, GhostedVector& x, const Vector& y, double* sums, GlobalDots* pending) {
  // On a device an exchange that is not queued waits for the host: after the interior rows, which it queues.
  const bool interior_first = split_ && stepping::on_device && !exchange.stream_ordered();
  work_.streams.exchange_follows();
  if (!interior_first) exchange.start();
  if (!split_) {
    exchange.finish();
    work_.streams.compute_waits();
  }
  {
    const miniapp::ScopedTimer timed(interior_);
    part(split_ ? Part::interior : Part::all, x, y, sums);
  }
  if (interior_first) exchange.start();
  if (pending) pending->progress();
  if (!split_) return;
  exchange.finish();
  work_.streams.compute_waits();
  const miniapp::ScopedTimer timed(boundary_);
  part(Part::boundary, x, y, sums ? sums + 1 : nullptr);
}

void Operator::part(Part rows, const GhostedVector& x, const Vector& y, double* sum) {
  const auto own = work_.partition.own;
  const auto range = range_of(rows, own, work_.partition.interior);
  miniapp::compute("cg/product", range.count(), own, [&] {
    if (sum)
      work_.matrix.multiply_and_dot(work_.streams.compute(), rows, x.all(), y, sum);
    else
      work_.matrix.multiply(work_.streams.compute(), rows, x.all(), y);
  });
}

} // namespace kontor::cg
