// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/piece.hpp>
#include <kontor/device/noncopyable.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace kontor::comm {

/// Where an executor allocates.
enum class Room : std::uint8_t {
  space, ///< the memory of the execution space
  pinned ///< host memory that its kernels reach
};

/// What newly allocated memory holds.
enum class Contents : std::uint8_t { zeros, any };

/// What plans need of an instance of an execution space: kernels that pack, memory, order. No Kokkos in this file: what
/// uses it is compiled once, and a KokkosExecutor once for each execution space, in the library.
class Executor : device::NonCopyable {
 public:
  virtual ~Executor() = default;

  /// Pieces whose list lies where the kernel runs.
  struct Pieces {
    virtual ~Pieces() = default;
    bool empty = true; ///< there is nothing to copy
  };

  /// Local. Memory of so many bytes, aligned to 64.
  virtual std::shared_ptr<void> allocate(Room, std::size_t bytes, Contents) const = 0;
  /// Local. Queues the copy of one piece, without rows by index. Allocates nothing.
  virtual void copy(const Piece&, PackDirection) const = 0;
  /// Local. Copies the list of pieces to where the kernel runs.
  virtual std::unique_ptr<Pieces> list(const std::vector<Piece>&) const = 0;
  /// Local. The same for pieces that run() adds to arrays of `rank`, in the order of ranks: can_add().
  virtual std::unique_ptr<Pieces> list_sums(const std::vector<SummedPiece>&, int rank) const = 0;
  /// Local. Queues the kernel that copies, or adds, all pieces. They were listed by an executor of the same space.
  virtual void run(const Pieces&, PackDirection) const = 0;
  /// Local. Waits for all that the instance has been given. Tools see a fence of this name.
  virtual void fence(const char* name) const = 0;
  /// Local. What this instance is given from now on comes after what another one of the space has been given.
  virtual void follow(const void* instance) const = 0;
  /// Local. The other way round.
  virtual void precede(const void* instance) const = 0;
  /// Local. For wait().
  virtual void record() const = 0;
  /// Local. Waits for what the instance had been given at the last record().
  virtual void wait() const = 0;
  /// The native stream of the instance; null on the host.
  virtual void* stream() const = 0;
  /// Local. An instance of its own, of the same space.
  virtual std::unique_ptr<Executor> fork() const = 0;
};

/// Local. That of an instance of any execution space that Kokkos has been built with.
template <class ExecutionSpace>
std::unique_ptr<Executor> executor_of(const ExecutionSpace& instance);

} // namespace kontor::comm
