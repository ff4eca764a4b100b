// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/mailboxes.hpp>
#include <kontor/comm/peer_memory.hpp>

#include <fmt/format.h>

#include <cstdint>

namespace kontor::stepping {

/// Parts of numbers that running kernels put together over all teams of all ranks, each team by itself. They travel as
/// words, which hold their step, in mailboxes whose halves serve even and odd steps (comm/mailboxes.hpp): a team sends
/// parts of step n + 1 after it has received those of step n. Copyable into kernels.
class PeerParts {
 public:
  /// Local. Why there can be none in this memory, equal on all ranks; nothing if there can.
  template <class MemorySpace>
  static std::optional<std::string> refusal(const comm::Communicator& comm) {
    if (comm.size() > comm::most_mailbox_ranks)
      return fmt::format("there are {} ranks, more than {}", comm.size(), comm::most_mailbox_ranks);
    return comm::PeerMemory<MemorySpace>::refusal(comm);
  }

  PeerParts() = default;
  /// Local. In memory that begins at byte `first` on each rank, and has bytes(); so many teams of a kernel and numbers
  /// of a step, equally many on all ranks.
  template <class MemorySpace>
  PeerParts(const comm::Communicator& comm, const comm::PeerMemory<MemorySpace>& memory, std::size_t first, int teams,
            int numbers)
      : wait_(memory.wait()), teams_(teams) {
    for (int r = 0; r < comm.size(); ++r) boxes_.of[r] = reinterpret_cast<comm::Word*>(memory.of(r) + first);
    boxes_.rank = comm.rank();
    boxes_.ranks = comm.size();
    boxes_.slot_words = static_cast<std::uint32_t>(numbers * teams * comm::chunk_words<double>);
  }
  static std::size_t bytes(int ranks, int teams, int numbers) {
    return sizeof(comm::Word) * 2 * comm::chunk_words<double> * static_cast<std::size_t>(ranks) *
           static_cast<std::size_t>(teams) * static_cast<std::size_t>(numbers);
  }

  KOKKOS_FUNCTION int ranks() const { return boxes_.ranks; }
  KOKKOS_FUNCTION int teams() const { return teams_; }

  /// By one thread of each team for number k: its part goes to that rank, which may be this one.
  KOKKOS_FUNCTION void send(int to, int team, int k, device::Counter step, double part) const {
    comm::send_chunk<double>(words(to, boxes_.rank, step, k, team), step, {{part}}, comm::MailboxMemory(wait_));
  }
  /// By any thread. join(part) for parts `first`, `first` + `stride`, ... of number k, in the same order on each
  /// rank, once they have come. False: one has not.
  template <class Join>
  KOKKOS_FUNCTION bool receive(int k, int first, int stride, device::Counter step, const Join& join) const {
    for (int i = first; i < boxes_.ranks * teams_; i += stride) {
      comm::Chunk<double> part{};
      if (!comm::receive_chunk<double>(words(boxes_.rank, i / teams_, step, k, i % teams_), step,
                                       comm::MailboxMemory(wait_), part)) {
        wait_.give_up(i / teams_);
        return false;
      }
      join(part.numbers[0]);
    }
    return true;
  }

 private:
  KOKKOS_FUNCTION comm::Word* words(int owner, int from, device::Counter step, int k, int team) const {
    return comm::slot(boxes_, owner, from, step) + (k * teams_ + team) * comm::chunk_words<double>;
  }

  comm::PeerWait wait_;
  comm::Mailboxes boxes_;
  int teams_ = 1;
};

} // namespace kontor::stepping
