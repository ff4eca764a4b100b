// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stepping/streams.hpp"

#include <kontor/comm/backend.hpp>
#include <kontor/comm/collectives.hpp>
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/detail/view_buffer.hpp>
#include <kontor/comm/kokkos/gpu.hpp>
#include <kontor/comm/kokkos/streams.hpp>

#include <span>
#include <utility>

namespace kontor::stepping {

/// Numbers in the device's memory that are reduced over all ranks and brought to the host: started without
/// waiting, finished later. The backend sums them on the stream if it can, else the host does. All that
/// stepping knows of how ranks reduce is here.
template <class ExecutionSpace>
class BatchReduction {
 public:
  /// Local. For up to so many numbers; `comm` must outlive this.
  BatchReduction(const comm::Communicator& comm, comm::ReduceOp op, int capacity)
      : comm_(&comm), op_(op), on_stream_(on_device && comm.capabilities().stream_collectives),
        host_("stepping/norms", capacity) {}

  bool started() const { return started_; }

  /// Collective; waits for nothing. After what streams.compute() has been given. `numbers` is a View in the
  /// device's memory, left as it is until finish().
  template <class View>
  void start(Streams<ExecutionSpace>& streams, const View& numbers) {
    count_ = static_cast<int>(numbers.extent(0));
    const auto* instance = &streams.compute();
    if (on_stream_) { // on the instance of exchanges, so that the backend has all its work on one
      streams.exchange_follows();
      instance = &streams.exchange();
      comm_->backend().stream_collectives()->allreduce(comm::native_stream(*instance), numbers.data(),
                                                       comm::to_buffer(numbers), op_);
    }
    Kokkos::deep_copy(*instance, host(), numbers);
    arrived_.record(*instance);
    started_ = true;
  }

  /// Collective; waits. The results, valid until the next start().
  std::span<const double> finish() {
    arrived_.wait();
    if (!on_stream_) comm::allreduce(*comm_, host(), op_);
    started_ = false;
    return {host_.data(), static_cast<std::size_t>(count_)};
  }

 private:
  using Host = Kokkos::View<double*, comm::PinnedSpace>;
  auto host() const { return Kokkos::subview(host_, std::pair<int, int>(0, count_)); }

  const comm::Communicator* comm_;
  comm::ReduceOp op_;
  bool on_stream_;
  Host host_;
  comm::Event<ExecutionSpace> arrived_;
  int count_ = 0;
  bool started_ = false;
};

} // namespace kontor::stepping
