// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/streams.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/reduction.hpp>
#include <kontor/device/gpu.hpp>
#include <kontor/device/streams.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace kontor::stepping {

/// Numbers in the memory of a space that are reduced over all ranks and brought to the host, again and again: started
/// without waiting, finished later.
template <class ExecutionSpace, class Number>
class BatchReduction {
 public:
  using Numbers = Kokkos::View<Number*, typename ExecutionSpace::memory_space>;

  /// Local; `comm` must outlive this.
  BatchReduction(const comm::Communicator& comm, comm::ReduceOp op) : comm_(&comm), op_(op) {}

  /// Collective, between steps. The numbers that are reduced from now on, equally many on all ranks.
  void plan(const Streams<ExecutionSpace>& streams, const Numbers& numbers) {
    reduction_.reset();
    host_ = Host("stepping/norms", numbers.extent(0));
    // A backend that reduces on a stream has all its work on one; else nothing is to wait for exchanges.
    const bool by_backend = comm_->capabilities().stream_collectives;
    reduction_.emplace(*comm_, "norms", numbers, host_, op_, by_backend ? streams.exchange() : streams.compute());
  }

  bool started() const { return started_; }

  /// Collective; waits for nothing. After what streams.compute() has been given. The numbers stay as they are until
  /// finish().
  void start(const Streams<ExecutionSpace>& streams) {
    reduction_->start(streams.compute());
    if (reduction_->stream_ordered()) arrived_.record(streams.exchange());
    started_ = true;
  }

  /// Collective; waits for this reduction, not for what the streams have been given since. The results, valid until the
  /// next start().
  std::span<const Number> finish() {
    arrived_.wait();
    reduction_->finish();
    started_ = false;
    return {host_.data(), host_.extent(0)};
  }

 private:
  using Host = Kokkos::View<Number*, device::PinnedSpace>;

  const comm::Communicator* comm_;
  comm::ReduceOp op_;
  Host host_;
  std::optional<comm::Reduction<Host, Numbers>> reduction_;
  device::Event<ExecutionSpace> arrived_; ///< where the backend reduces on the stream
  bool started_ = false;
};

} // namespace kontor::stepping
