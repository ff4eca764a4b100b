// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/ipc/mailbox.hpp"

#include <algorithm>
#include <bit>

namespace kontor::comm::ipc {
namespace {

constexpr std::size_t least_bytes = 512; ///< fewer are not worth a mailbox of another size
constexpr std::size_t word_bytes = 4;    ///< of numbers

} // namespace

Mailbox::Mailbox(MPI_Comm comm, const Gpus& gpus, std::size_t bytes)
    : bytes_(bytes), mappings_(gpus, mpi::rank_of(comm)) {
  constexpr const char* subject = "reductions by backend 'ipc'";
  const int ranks = mpi::size_of(comm);
  plan_.mailboxes.rank = mpi::rank_of(comm);
  plan_.mailboxes.ranks = ranks;
  IpcAddress mine{};
  mpi::agree(
      comm, subject, [&] { mine = allocate(ranks, gpus); }, Axis::backend);
  const auto of_rank = mappings_.open_all(comm, subject, mine, "the mailbox");
  for (int r = 0; r < ranks; ++r) plan_.mailboxes.of[r] = reinterpret_cast<Word*>(of_rank[static_cast<std::size_t>(r)]);
}

IpcAddress Mailbox::allocate(int ranks, const Gpus& gpus) {
  constexpr std::size_t halves = 2;
  const auto slot_words = bytes_ / word_bytes;
  signals_ = make_pinned<PeerSignals>();
  state_ = to_device(std::vector<State>(1), nullptr);
  words_ = to_device(std::vector<Word>(halves * static_cast<std::size_t>(ranks) * slot_words), nullptr);
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); // before another rank writes there
  plan_.mailboxes.slot_words = static_cast<std::uint32_t>(slot_words);
  plan_.state = state_.get();
  plan_.signals = signals_.get();
  return address_of(words_.get(), gpus, "the mailbox");
}

MailboxPool::~MailboxPool() {
  const bool alone = mpi::ends_alone(*context_.unsafe_to_free);
  for (auto& [mailbox, use] : entries_)
    if (use != Use::leaked) mailbox->unmap();
  if (!alone && !entries_.empty()) mpi::check_or_terminate(MPI_Barrier(context_.comm), "MPI_Barrier");
  for (auto& [mailbox, use] : entries_)
    if (alone || use == Use::leaked) detail::leak(std::move(mailbox)); // other ranks may write there
}

Mailbox& MailboxPool::take(std::size_t bytes) {
  bytes = std::bit_ceil(std::max(bytes, least_bytes));
  std::vector<int> used;
  for (const auto& entry : entries_) used.push_back(entry.use == Use::none ? 0 : 1);
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, used.data(), static_cast<int>(used.size()), MPI_INT, MPI_MAX, context_.comm),
             "MPI_Allreduce");
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] != 0 || entries_[i].mailbox->bytes() != bytes) continue;
    entries_[i].use = Use::taken;
    return *entries_[i].mailbox;
  }
  entries_.push_back({std::make_unique<Mailbox>(context_.comm, gpus_, bytes), Use::taken});
  return *entries_.back().mailbox;
}

void MailboxPool::give_back(Mailbox& mailbox) { entry_of(mailbox).use = Use::none; }

void MailboxPool::leak(Mailbox& mailbox) { entry_of(mailbox).use = Use::leaked; }

MailboxPool::Entry& MailboxPool::entry_of(const Mailbox& mailbox) {
  return *std::find_if(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.mailbox.get() == &mailbox; });
}

} // namespace kontor::comm::ipc
