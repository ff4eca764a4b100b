// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "partition/partition.hpp"

#include <kontor/comm/mailboxes.hpp>
#include <kontor/comm/peer_memory.hpp>
#include <kontor/device/lanes.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// What teams of kernels that stay for many iterations do together with those of other ranks: they write ghosts into
/// their vectors, and add a few numbers over all teams of all ranks.
///
/// A rank writes the ghosts of a step after the sums of the step before. Where these hold what every rank has made of
/// the ghosts before, no ghost is overwritten that is still read. Where they travel during the product, that is true of
/// the ghosts of two steps before: then steps take two vectors in turn.
namespace kontor::cg {

/// Copyable into kernels. Steps count from 1, over all kernels.
struct PeerSteps {
  static constexpr int stride = 8; ///< of counters: each has a cache line
  static constexpr int sums = 3;

  comm::PeerWait wait;
  comm::Mailboxes boxes;                  ///< of the parts of sums
  int teams = 1;                          ///< of a kernel, equally many on all ranks
  LocalIndex interior = 0;                ///< own rows from this one on are sent
  const LocalIndex* places = nullptr;     ///< where the places of each of these rows begin in `to`
  double* const* to = nullptr;            ///< in the vectors of other ranks
  std::int64_t apart = 0;                 ///< numbers from one vector to the next
  int neighbours = 0;                     ///< ranks with ghosts of this one, or the other way round
  const int* ranks = nullptr;             ///< which
  device::Counter* const* tell = nullptr; ///< in their memory
  device::Counter* arrived = nullptr;     ///< of each rank, in this one's memory

  KOKKOS_FUNCTION bool several() const { return boxes.ranks > 1; }
  /// By any thread: the value of an own row goes to the ranks that read it, into that one of their vectors.
  KOKKOS_FUNCTION void send(std::int64_t row, double value, int vector) const {
    if (row < interior || !several()) return;
    const auto i = row - interior;
    for (auto place = places[i]; place < places[i + 1]; ++place) to[place][vector * apart] = value;
  }
  /// By the threads of one team, after all values of the step have been sent and a barrier of all teams.
  KOKKOS_FUNCTION void tell_neighbours(int thread, int threads, device::Counter step) const {
    for (int n = thread; n < neighbours; n += threads) device::store_release(*tell[n], step);
  }
  /// By all lanes together, which read ghosts afterwards. False: a neighbour has not come.
  KOKKOS_FUNCTION bool wait_for_neighbours(int lane, device::Counter step) const {
    bool all = true;
    for (int n = lane; n < neighbours; n += device::lanes)
      all = wait.until(arrived[stride * ranks[n]], step, ranks[n]) && all;
    return device::all_of_lanes(all);
  }
  /// By one thread of each team for sum k: its part goes to that rank, which may be this one.
  KOKKOS_FUNCTION void send_part(int to, int team, int k, device::Counter step, double part) const {
    comm::send_chunk<double>(words(to, boxes.rank, step, k, team), step, {{part}}, comm::MailboxMemory(wait));
  }
  /// By any thread. Adds up parts `first`, `first` + `stride`, ... of sum k of all teams of all ranks, in the same
  /// order on each rank, once they have come. False: one has not.
  KOKKOS_FUNCTION bool receive_parts(int k, int first, int stride, device::Counter step, double& sum) const {
    sum = 0;
    for (int i = first; i < boxes.ranks * teams; i += stride) {
      comm::Chunk<double> part;
      if (!comm::receive_chunk<double>(words(boxes.rank, i / teams, step, k, i % teams), step,
                                       comm::MailboxMemory(wait), part)) {
        wait.give_up(i / teams);
        return false;
      }
      sum += part.numbers[0];
    }
    return true;
  }

 private:
  KOKKOS_FUNCTION comm::Word* words(int owner, int from, device::Counter step, int k, int team) const {
    return comm::slot(boxes, owner, from, step) + (k * teams + team) * comm::chunk_words<double>;
  }
};

/// The memory of all ranks that it takes, with the vectors in turn that a matrix is multiplied with. One rank may be
/// alone.
class Peers {
 public:
  using MemorySpace = typename Vector::memory_space;

  /// Local. Why there is none, equal on all ranks; nothing if there can be.
  static std::optional<std::string> refusal(const comm::Communicator&);

  /// Collective. So many vectors in turn. Throws comm::UsageError on all ranks.
  Peers(const comm::Communicator&, const partition::Partition&, int vectors);

  /// Own values and ghosts of the first.
  Vector vector() const { return vector_; }
  const PeerSteps& steps() const { return steps_; }
  /// Local, after kernels have ended. Throws comm::Error if one has waited for another rank in vain.
  void check() const { memory_.check(); }

 private:
  /// What all ranks have alike.
  struct Shape {
    int vectors;
    int teams;           ///< of a kernel
    std::int64_t length; ///< of a vector, at most
    Shape(const comm::Communicator&, const partition::Partition&, int vectors);
  };
  Peers(const comm::Communicator&, const partition::Partition&, const Shape&);

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
