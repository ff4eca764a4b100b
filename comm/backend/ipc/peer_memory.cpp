// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/ipc/peer_memory.hpp"

#include <chrono>
#include <thread>

namespace kontor::comm::ipc {

PeerMemory::PeerMemory(const BackendContext& context, const Gpus& gpus, std::size_t bytes)
    : context_(context), mappings_(gpus, mpi::rank_of(context.comm)) {
  constexpr const char* subject = "memory for kernels of other ranks";
  const auto comm = context.comm;
  IpcAddress mine{};
  const auto allocate = [&] {
    signals_ = make_pinned<PeerSignals>();
    own_.reset(static_cast<std::byte*>(allocate_device(bytes)));
    check(cudaMemsetAsync(own_.get(), 0, bytes, nullptr), "cudaMemsetAsync");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); // before another rank writes there
    mine = address_of(own_.get(), gpus, subject);
  };
  mpi::agree(comm, subject, allocate, Axis::backend);
  of_ = mappings_.open_all(comm, subject, mine, "the memory");
}

/// Where others may be gone, kernels that wait for them end, and what they and kernels of others may use is leaked.
PeerMemory::~PeerMemory() {
  if (!mpi::ends_alone(*context_.unsafe_to_free)) {
    mappings_.close_on_all_ranks(context_.comm);
    return;
  }
  std::atomic_ref(signals_->aborted).store(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(100)); // waits look every few microseconds
  detail::leak(std::move(signals_));
  detail::leak(std::move(own_));
}

} // namespace kontor::comm::ipc
