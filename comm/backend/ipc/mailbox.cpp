// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/ipc/mailbox.hpp"

#include "backend/deadline.hpp"
#include "backend/ipc/check.hpp"
#include "backend/ipc/together.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace kontor::comm::ipc {
namespace {

constexpr std::size_t least_bytes = 512; ///< fewer are not worth a mailbox of another size
constexpr std::size_t word_bytes = 4;    ///< of numbers

int size_of(MPI_Comm comm) {
  int size = 0;
  mpi::check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

} // namespace

Mailbox::Mailbox(MPI_Comm comm, const Gpus& gpus, std::size_t bytes) : bytes_(bytes), mappings_(gpus) {
  const int rank = mpi::rank_of(comm);
  const int ranks = size_of(comm);
  const auto on_all_ranks = [&](const auto& part) {
    together(comm, [&] {
      try {
        part();
      } catch (const Error& error) {
        throw Error(fmt::format("reductions by backend 'ipc': on rank {}, {}", rank, error.what()));
      }
    });
  };
  plan_.mailboxes.rank = rank;
  plan_.mailboxes.ranks = ranks;
  IpcAddress mine{};
  on_all_ranks([&] { mine = allocate(ranks, gpus); });
  std::vector<IpcAddress> all(static_cast<std::size_t>(ranks));
  mpi::check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm),
             "MPI_Allgather");
  try {
    on_all_ranks([&] {
      for (int r = 0; r < ranks; ++r)
        plan_.mailboxes.of[r] =
            r == rank // CUDA does not let a process open what is its own
                ? words_.get()
                : reinterpret_cast<Word*>(mappings_.open(all[static_cast<std::size_t>(r)],
                                                         fmt::format("the mailbox of rank {}", r)));
    });
  } catch (const UsageError&) { // on all ranks; where one fails alone, others do not come to the barrier
    unmap();
    mpi::check(MPI_Barrier(comm), "MPI_Barrier"); // before another one's is freed
    throw;
  }
}

IpcAddress Mailbox::allocate(int ranks, const Gpus& gpus) {
  constexpr std::size_t halves = 2;
  const auto slot_words = bytes_ / word_bytes;
  host_flags_ = make_pinned<HostFlags>();
  state_ = to_device(std::vector<ReductionState>(1), nullptr);
  words_ = to_device(std::vector<Word>(halves * static_cast<std::size_t>(ranks) * slot_words), nullptr);
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); // before another rank writes there
  plan_.mailboxes.slot_words = static_cast<std::uint32_t>(slot_words);
  plan_.state = state_.get();
  plan_.host_flags = host_flags_.get();
  return address_of(words_.get(), gpus, "the mailbox");
}

MailboxPool::~MailboxPool() {
  const bool alone = mpi::ends_alone(*context_.unsafe_to_free);
  for (auto& [mailbox, use] : entries_)
    if (use != Use::left) mailbox->unmap();
  if (!alone && !entries_.empty()) mpi::check_or_terminate(MPI_Barrier(context_.comm), "MPI_Barrier");
  for (auto& [mailbox, use] : entries_)
    if (alone || use == Use::left) static_cast<void>(mailbox.release()); // other ranks may write there
}

Mailbox& MailboxPool::take(std::size_t bytes) {
  bytes = std::bit_ceil(std::max(bytes, least_bytes));
  std::vector<int> used;
  for (const auto& entry : entries_) used.push_back(entry.use == Use::none ? 0 : 1);
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, used.data(), static_cast<int>(used.size()), MPI_INT, MPI_MAX,
                           context_.comm),
             "MPI_Allreduce");
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] != 0 || entries_[i].mailbox->bytes() != bytes) continue;
    entries_[i].use = Use::taken;
    return *entries_[i].mailbox;
  }
  entries_.push_back({std::make_unique<Mailbox>(context_.comm, gpus_, bytes), Use::taken});
  return *entries_.back().mailbox;
}

void MailboxPool::give_back(Mailbox& mailbox) {
  entry_of(mailbox).use = Use::none;
}

void MailboxPool::leave(Mailbox& mailbox) {
  entry_of(mailbox).use = Use::left;
}

MailboxPool::Entry& MailboxPool::entry_of(const Mailbox& mailbox) {
  return *std::find_if(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.mailbox.get() == &mailbox; });
}

} // namespace kontor::comm::ipc
