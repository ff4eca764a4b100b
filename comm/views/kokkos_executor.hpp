// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "views/pack.hpp"
#include "views/sum_list.hpp"

#include <kontor/comm/views/executor.hpp>
#include <kontor/device/compat.hpp>
#include <kontor/device/gpu.hpp>
#include <kontor/device/streams.hpp>

#include <memory>
#include <string>
#include <utility>

namespace kontor::comm {

/// The Executor of an instance of a Kokkos execution space.
template <class ExecutionSpace>
class KokkosExecutor final : public Executor {
 public:
  explicit KokkosExecutor(ExecutionSpace instance) : instance_(std::move(instance)) {}

  std::shared_ptr<void> allocate(Room room, std::size_t bytes, Contents contents) const override {
    if (room == Room::space) return allocate_in<typename ExecutionSpace::memory_space>("comm/staging", bytes, contents);
    return allocate_in<device::PinnedSpace>("comm/pinned", bytes, contents);
  }
  void copy(const Piece& piece, PackDirection direction) const override { copy_piece(instance_, direction, piece); }
  std::unique_ptr<Pieces> list(const std::vector<Piece>& pieces) const override {
    return std::make_unique<PackList<ExecutionSpace>>(pieces);
  }
  std::unique_ptr<Pieces> list_sums(const std::vector<SummedPiece>& pieces, int rank) const override {
    return std::make_unique<SumList<ExecutionSpace>>(pieces, rank);
  }
  void run(const Pieces& pieces, PackDirection direction) const override {
    if (!pieces.empty) static_cast<const ListedPieces<ExecutionSpace>&>(pieces).run(instance_, direction);
  }
  void fence(const char* name) const override { device::fence(instance_, name); }
  void follow(const void* other) const override { order(*static_cast<const ExecutionSpace*>(other), instance_); }
  void precede(const void* other) const override { order(instance_, *static_cast<const ExecutionSpace*>(other)); }
  void record() const override { event_.record(instance_); }
  void wait() const override { event_.wait(); }
  void* stream() const override { return device::native_stream(instance_); }
  std::unique_ptr<Executor> fork() const override {
    auto stream = std::make_unique<device::OwnedStream<ExecutionSpace>>();
    auto forked = std::make_unique<KokkosExecutor>(stream->get());
    forked->owned_ = std::move(stream);
    return forked;
  }

 private:
  void order(const ExecutionSpace& first, const ExecutionSpace& then) const {
    if (device::native_stream(first) == device::native_stream(then)) return;
    event_.record(first);
    event_.wait_for(then);
  }

  template <class MemorySpace>
  static std::shared_ptr<void> allocate_in(const std::string& label, std::size_t bytes, Contents contents) {
    using Memory = Kokkos::View<unsigned char*, MemorySpace>;
    const auto memory = contents == Contents::zeros
                            ? std::make_shared<Memory>(label, bytes)
                            : std::make_shared<Memory>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), bytes);
    return {memory, memory->data()};
  }

  std::unique_ptr<device::OwnedStream<ExecutionSpace>> owned_; // first: gone after the instance that uses it
  ExecutionSpace instance_;
  mutable device::Event<ExecutionSpace> event_;
};

} // namespace kontor::comm
