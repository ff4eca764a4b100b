// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "partition/partition.hpp"

#include <kontor/comm/mailboxes.hpp>
#include <kontor/comm/peer_memory.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// What kernels that stay for many iterations do together with those of other ranks: they write ghosts into their
/// vectors, and add a few numbers over all ranks.
///
/// A rank writes the ghosts of a step after the sums of the step before, which hold what every rank has made of the
/// ghosts before: so no ghost is overwritten that is still read.
namespace kontor::cg {

/// Copyable into kernels. Steps count from 1, over all kernels.
struct PeerSteps {
  static constexpr int stride = 8; ///< of counters: each has a cache line
  static constexpr int sums = 3;

  comm::PeerWait wait;
  comm::Mailboxes boxes;
  LocalIndex interior = 0;                ///< own rows from this one on are sent
  const LocalIndex* places = nullptr;     ///< where the places of each of these rows begin in `to`
  double* const* to = nullptr;            ///< in the vectors of other ranks
  int neighbours = 0;                     ///< ranks with ghosts of this one, or the other way round
  const int* ranks = nullptr;             ///< which
  device::Counter* const* tell = nullptr; ///< in their memory
  device::Counter* arrived = nullptr;     ///< of each rank, in this one's memory

  KOKKOS_FUNCTION bool several() const { return boxes.ranks > 1; }
  /// By any thread: the value of an own row goes to the ranks that read it.
  KOKKOS_FUNCTION void send(std::int64_t row, double value) const {
    if (row < interior || !several()) return;
    const auto i = row - interior;
    for (auto place = places[i]; place < places[i + 1]; ++place) *to[place] = value;
  }
  /// By the threads of one team, after all values of the step have been sent and a barrier of all teams.
  KOKKOS_FUNCTION void tell_neighbours(int thread, int threads, device::Counter step) const {
    for (int n = thread; n < neighbours; n += threads) device::store_release(*tell[n], step);
  }
  /// By the threads of a team; valid for all after its barrier. False: one has not come.
  KOKKOS_FUNCTION bool wait_for_neighbours(int thread, int threads, device::Counter step) const {
    bool all = true;
    for (int n = thread; n < neighbours; n += threads)
      all = wait.until(arrived[stride * ranks[n]], step, ranks[n]) && all;
    return all;
  }
  /// By the threads of one team of each rank: its numbers go to all others.
  KOKKOS_FUNCTION void send_sums(int thread, int threads, device::Counter step, const double* own) const {
    comm::send_numbers(boxes, step, own, sums, static_cast<std::uint32_t>(thread), static_cast<std::uint32_t>(threads),
                       comm::MailboxMemory(wait));
  }
  /// By the threads of every team. `all` becomes the sums over all ranks, in their order. False: one has not come.
  KOKKOS_FUNCTION bool receive_sums(int thread, int threads, device::Counter step, const double* own,
                                    double* all) const {
    const int late =
        comm::combine_numbers(boxes, step, own, all, sums, comm::ReduceOp::sum, static_cast<std::uint32_t>(thread),
                              static_cast<std::uint32_t>(threads), comm::MailboxMemory(wait));
    if (late >= 0) wait.give_up(late);
    return late < 0;
  }
};

/// The memory of all ranks that it takes, with the vector that a matrix is multiplied with.
class Peers {
 public:
  using MemorySpace = typename Vector::memory_space;

  /// Local. Why there is none, equal on all ranks; nothing if there can be.
  static std::optional<std::string> refusal(const comm::Communicator&);

  /// Collective. Throws comm::UsageError on all ranks.
  Peers(const comm::Communicator&, const partition::Partition&);

  /// Own values and ghosts.
  Vector vector() const { return vector_; }
  const PeerSteps& steps() const { return steps_; }
  /// Local, after kernels have ended. Throws comm::Error if one has waited for another rank in vain.
  void check() const { memory_.check(); }

 private:
  comm::PeerMemory<MemorySpace> memory_;
  Vector vector_;
  PeerSteps steps_;
  template <class T>
  using Array = Kokkos::View<T*, MemorySpace>;
  using Address = std::uint64_t; ///< in memory of this or another rank
  Array<LocalIndex> places_;
  Array<Address> to_;
  Array<int> ranks_;
  Array<Address> tell_;
};

} // namespace kontor::cg
