// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/device.hpp"

#include <kontor/device/compat.hpp>
#include <kontor/device/streams.hpp>

#include <optional>

namespace kontor::stepping {

/// The execution-space instances of a step. With overlap a device has two: the default one computes what needs no other
/// rank, another, which goes first, exchanges and computes what needs what has arrived. They wait for each other
/// without the host. Otherwise both are the default one and all orders hold by themselves.
template <class ExecutionSpace>
class Streams {
 public:
  /// Local. What the default instance has been given before is complete.
  explicit Streams(bool overlap) {
    fence();
    if (on_device && overlap) exchange_.emplace(device::Priority::high);
  }

  const ExecutionSpace& compute() const { return compute_; }
  const ExecutionSpace& exchange() const { return exchange_ ? exchange_->get() : compute_; }
  /// How many there are.
  int count() const { return exchange_ ? 2 : 1; }

  /// Remembers what compute() has been given so far, for exchange_waits().
  void mark_compute() {
    if (exchange_) compute_mark_.record(compute_);
  }
  /// What exchange() is given from now on comes after what compute() had been given at the last mark.
  void exchange_waits() const {
    if (exchange_) compute_mark_.wait_for(exchange());
  }
  /// What compute() is given from now on comes after what exchange() has been given so far.
  void compute_waits() {
    if (!exchange_) return;
    exchange_mark_.record(exchange());
    exchange_mark_.wait_for(compute_);
  }

  /// What exchange() is given from now on comes after what compute() has been given so far.
  void exchange_follows() {
    mark_compute();
    exchange_waits();
  }

  /// Local. What work() gives to the streams, which must leave them as compute_waits() does. The streams must stay
  /// where they are while it is replayed.
  template <class Work>
  device::CapturedGraph<ExecutionSpace> capture(const Work& work) {
    return {compute_, [this, work] {
              exchange_follows();
              work();
            }};
  }
  /// Local; waits for nothing. In the order of the streams: after all that came before, and before all that comes from
  /// now on.
  void replay(const device::CapturedGraph<ExecutionSpace>& graph) {
    compute_waits();
    graph.replay(compute_);
    exchange_follows();
  }

  /// Waits for the work of a device; a host's is complete when it has been given.
  void fence() const {
    if (!on_device) return;
    if (exchange_) device::fence(exchange(), "stepping/fence");
    device::fence(compute_, "stepping/fence");
  }

 private:
  ExecutionSpace compute_;
  std::optional<device::OwnedStream<ExecutionSpace>> exchange_;
  device::Event<ExecutionSpace> compute_mark_;
  device::Event<ExecutionSpace> exchange_mark_;
};

} // namespace kontor::stepping
