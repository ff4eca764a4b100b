// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backend/start_order.hpp"

#include "backend/room.hpp"
#include "base/ranks.hpp"

#include <kontor/comm/error.hpp>

#include <fmt/format.h>

namespace kontor::comm::mpi {

constexpr std::size_t noted_steps = 64; ///< steps that are remembered

StartOrder::StartOrder(const BackendContext& context) : node_(context) {
  constexpr auto bytes = noted_steps * sizeof(std::uint64_t);
  if (lack_of_room(context.comm, bytes)) return;
  window_.emplace(node_, bytes);
  const int me = rank_of(node_.comm());
  const int ranks = size_of(node_.comm());
  for (const int rank : {me, (me + 1) % ranks, (me + ranks - 1) % ranks})
    notes_.emplace_back(node_.global(rank), reinterpret_cast<std::uint64_t*>(window_->part(rank)));
}

std::uint32_t StartOrder::enroll(std::string label) {
  labels_.push_back(std::move(label));
  return static_cast<std::uint32_t>(labels_.size() - 1);
}

void StartOrder::start(std::uint32_t plan, bool captured) {
  if (captured) notes_.clear();
  if (notes_.empty()) return;
  const auto note = [place = ++step_ % noted_steps](std::uint64_t* notes) { return std::atomic_ref(notes[place]); };
  const auto mine = step_ << 32 | plan;
  note(notes_.front().second).store(mine); // sequentially consistent: the later of two sees the other
  for (const auto& [rank, notes] : notes_) {
    const auto theirs = note(notes).load();
    if (theirs >> 32 != mine >> 32 || theirs == mine) [[likely]]
      continue;
    throw Error(fmt::format("exchange '{}' is started here where rank {} has started exchange '{}'; all ranks start "
                            "their exchanges in the same order",
                            labels_[plan], rank, labels_[static_cast<std::uint32_t>(theirs)]));
  }
}

} // namespace kontor::comm::mpi
