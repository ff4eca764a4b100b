// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/device.hpp"

#include <kontor/comm/kokkos/compat.hpp>
#include <kontor/comm/kokkos/streams.hpp>

#include <optional>

namespace kontor::heat {

/// The execution-space instances of a step. With overlap a device has two: the default one computes the
/// interior, another, which goes first, exchanges the halo and computes the strips. They wait for each other
/// without the host. Otherwise both are the default one and all orders hold by themselves.
template <class ExecutionSpace>
class Queues {
 public:
  /// Local. What the default instance has been given before is complete.
  explicit Queues(bool overlap) {
    settle();
    if (on_device && overlap) halo_.emplace(comm::Priority::high);
  }

  const ExecutionSpace& interior() const { return interior_; }
  const ExecutionSpace& halo() const { return halo_ ? halo_->get() : interior_; }
  /// How many there are.
  int count() const { return halo_ ? 2 : 1; }

  /// Remembers what interior() has been given so far, for halo_waits().
  void mark_interior() {
    if (halo_) interior_mark_.record(interior_);
  }
  /// What halo() is given from now on comes after what interior() had been given at the last mark.
  void halo_waits() const {
    if (halo_) interior_mark_.wait_for(halo());
  }
  /// What interior() is given from now on comes after what halo() has been given so far.
  void interior_waits() {
    if (!halo_) return;
    halo_mark_.record(halo());
    halo_mark_.wait_for(interior_);
  }

  /// What halo() is given from now on comes after what interior() has been given so far.
  void halo_follows() {
    mark_interior();
    halo_waits();
  }

  /// Local. What work() gives to the queues, which must leave them as interior_waits() does. The queues must
  /// stay where they are while it is replayed.
  template <class Work>
  comm::CapturedGraph<ExecutionSpace> record(const Work& work) {
    return {interior_, [this, work] {
              halo_follows();
              work();
            }};
  }
  /// Local; waits for nothing. In the order of the queues: after all that came before, and before all that
  /// comes from now on.
  void replay(const comm::CapturedGraph<ExecutionSpace>& recording) {
    interior_waits();
    recording.replay(interior_);
    halo_follows();
  }

  /// Waits for the work of a device; a host's is complete when it has been given.
  void settle() const {
    if (!on_device) return;
    if (halo_) comm::fence(halo(), "heat/settled");
    comm::fence(interior_, "heat/settled");
  }

 private:
  ExecutionSpace interior_;
  std::optional<comm::OwnedStream<ExecutionSpace>> halo_;
  comm::Event<ExecutionSpace> interior_mark_;
  comm::Event<ExecutionSpace> halo_mark_;
};

} // namespace kontor::heat
