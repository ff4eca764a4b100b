// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/operator.hpp"

#include "machine/simulation.hpp"
#include "stepping/overlap.hpp"

namespace kontor::cg {

Operator::Operator(const Workspace& work, miniapp::Timer& interior, miniapp::Timer& boundary)
    : matrix_(&work.matrix), partition_(&work.partition), streams_(&work.streams),
      split_(work.overlap && work.comm.size() > 1), interior_(&interior), boundary_(&boundary) {}

void Operator::product(GhostedVector& x, const Vector& y, double* sums, GlobalDots* pending) {
  if (!exchanges_) {
    stepping::NoExchange none;
    return product(none, x, y, sums, pending);
  }
  product(x.exchange(), x, y, sums, pending);
}

template <class Exchange>
void Operator::product(Exchange& exchange, GhostedVector& x, const Vector& y, double* sums,
                       GlobalDots* pending) {
  // On a device an exchange that is not queued waits for the host: after the interior rows, which it queues.
  const bool interior_first = split_ && stepping::on_device && !exchange.stream_ordered();
  streams_->exchange_follows();
  if (!interior_first) exchange.start();
  if (!split_) {
    exchange.finish();
    streams_->compute_waits();
  }
  {
    const miniapp::ScopedTimer timed(*interior_);
    part(split_ ? Part::interior : Part::all, x, y, sums);
  }
  if (interior_first) exchange.start();
  if (pending) pending->progress();
  if (!split_) return;
  exchange.finish();
  streams_->compute_waits();
  const miniapp::ScopedTimer timed(*boundary_);
  part(Part::boundary, x, y, sums ? sums + 1 : nullptr);
}

void Operator::part(Part rows, const GhostedVector& x, const Vector& y, double* sum) {
  const auto range = range_of(rows, partition_->own, partition_->interior);
  miniapp::compute("cg/product", range.end - range.begin, partition_->own, [&] {
    if (sum)
      matrix_->multiply_and_dot(streams_->compute(), rows, x.all(), y, sum);
    else
      matrix_->multiply(streams_->compute(), rows, x.all(), y);
  });
}

} // namespace kontor::cg
