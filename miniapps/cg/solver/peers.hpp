// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/names.hpp"
#include "partition/partition.hpp"
#include "stepping/peer_parts.hpp"

#include <cstdint>
#include <optional>
#include <string>

/// What teams of kernels that stay for many iterations do together with those of other ranks: they send ghosts, and add
/// a few numbers over all teams of all ranks. Both travel as words, which hold their step (comm/mailboxes.hpp).
///
/// Words of even and of odd steps have their own memory. A rank sends ghosts of a step after the sums of the step
/// before. So those of two steps before have been read: each rank sends its sums afterwards.
namespace kontor::cg {

/// Copyable into kernels. Steps count from 1, over all kernels. None is left out but after the end of a solve; the next
/// one begins with a reduction, which no rank leaves before all have read their words.
struct PeerSteps {
  static constexpr int sums = 3;

  comm::PeerWait wait;
  stepping::PeerParts parts;          ///< of sums
  LocalIndex interior = 0;            ///< own rows from this one on are sent
  const LocalIndex* places = nullptr; ///< where the places of each of these rows begin in `to`
  comm::Word* const* to = nullptr;    ///< on other ranks, of even steps
  comm::Word* ghosts = nullptr;       ///< that come from them, of even steps
  const int* ghost_ranks = nullptr;   ///< whose they are
  std::int64_t half = 0;              ///< words from those of even steps to those of odd ones
  RowRange ghost_rows;                ///< where they belong in a vector
  std::int64_t apart = 0;             ///< numbers from one vector in turn to the next

  /// By any thread: the value of an own row goes to the ranks that read it.
  KOKKOS_FUNCTION void send(std::int64_t row, device::Counter step, double value) const {
    if (row < interior) return;
    const auto i = row - interior;
    for (auto place = places[i]; place < places[i + 1]; ++place)
      comm::send_chunk<double>(to[place] + half_of(step), step, {{value}}, comm::MailboxMemory(wait));
  }
  /// By any thread. The value of a ghost, by its number in a vector, once it has come. False: it has not.
  KOKKOS_FUNCTION bool receive(std::int64_t row, device::Counter step, double& value) const {
    const auto ghost = row - ghost_rows.begin;
    comm::Chunk<double> chunk{};
    const bool came = comm::receive_chunk<double>(ghosts + half_of(step) + ghost * comm::chunk_words<double>, step,
                                                  comm::MailboxMemory(wait), chunk);
    if (!came) wait.give_up(ghost_ranks[ghost]);
    value = chunk.numbers[0];
    return came;
  }

 private:
  KOKKOS_FUNCTION std::int64_t half_of(device::Counter step) const { return (step & 1) != 0 ? half : 0; }
};

/// The memory that it takes, with the vectors in turn that a matrix is multiplied with. One rank may be alone.
class Peers {
 public:
  using MemorySpace = typename Vector::memory_space;

  /// Local. Why there is none, equal on all ranks; nothing if there can be.
  static std::optional<std::string> refusal(const comm::Communicator&);

  /// Collective. So many vectors in turn. Throws comm::UsageError on all ranks.
  Peers(const comm::Communicator&, const partition::Partition&, int vectors);

  /// Own values and ghosts of the first.
  Vector vector() const { return Kokkos::subview(vectors_, Kokkos::pair<std::int64_t, std::int64_t>(0, length_)); }
  /// Queued. All vectors are 0.
  void clear(const Space& instance) const { Kokkos::deep_copy(instance, vectors_, 0.0); }
  const PeerSteps& steps() const { return steps_; }
  /// As if this rank were the only one, between kernels that all ranks have ended.
  PeerSteps steps_alone() const;
  /// Local, after kernels have ended. Throws comm::Error if one has waited for another rank in vain.
  void check() const { memory_.check(); }

 private:
  /// What all ranks have alike.
  struct Shape {
    int teams;                ///< of a kernel
    std::int64_t most_ghosts; ///< of a rank
    Shape(const comm::Communicator&, const partition::Partition&);
  };
  Peers(const comm::Communicator&, const partition::Partition&, int vectors, const Shape&);

  std::int64_t length_, apart_;
  Vector vectors_;
  comm::PeerMemory<MemorySpace> memory_;
  comm::Communicator self_{MPI_COMM_SELF};
  comm::PeerMemory<MemorySpace> own_memory_; ///< of this rank's sums alone
  PeerSteps steps_;
  template <class T>
  using Array = Kokkos::View<T*, MemorySpace>;
  using Address = std::uint64_t; ///< in memory of another rank
  Array<LocalIndex> places_;
  Array<Address> to_;
  Array<int> ghost_ranks_;
};

} // namespace kontor::cg
