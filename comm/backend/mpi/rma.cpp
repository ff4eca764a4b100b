// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern `rma`: the sender puts its data into a window of the receiver, from which they are unpacked. Access is
// ordered between neighbours only, by post, start, complete and wait (MPI 3.1, section 11.5.2).
#include "backend/mpi/mpi_backend.hpp"
#include "backend/peer_exchange.hpp"
#include "backend/room.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/device/noncopyable.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <set>

namespace kontor::comm::mpi {
namespace {

/// Each message begins on a cache line of its own.
constexpr MPI_Aint alignment = 64;

/// The ranks at the other end of these messages, each once.
std::vector<int> peers_of(const std::vector<Transfer>& transfers) {
  std::set<int> peers;
  for (const auto& t : transfers) peers.insert(t.peer);
  return {peers.begin(), peers.end()};
}

class Group : device::NonCopyable {
 public:
  Group(MPI_Comm comm, const std::vector<int>& ranks) : empty_(ranks.empty()) {
    MPI_Group all = MPI_GROUP_NULL;
    check(MPI_Comm_group(comm, &all), "MPI_Comm_group");
    check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group_), "MPI_Group_incl");
    check(MPI_Group_free(&all), "MPI_Group_free");
  }
  ~Group() {
    if (!empty_ && !finalized()) // MPI may return its own handle for an empty group
      check_or_terminate(MPI_Group_free(&group_), "MPI_Group_free");
  }
  MPI_Group get() const { return group_; }
  bool empty() const { return empty_; }

 private:
  bool empty_;
  MPI_Group group_ = MPI_GROUP_NULL;
};

class Rma final : public MpiPlan {
 public:
  Rma(const BackendContext& context, const Schedule& schedule)
      : MpiPlan(context, schedule.label), source_ranks_(peers_of(schedule.receives)),
        sources_(context.comm, source_ranks_), destinations_(context.comm, peers_of(schedule.sends)) {
    const auto mine = make_window(context.comm, schedule.receives);
    for (const auto place : mine) receive_places_.push_back(base_ + place);
    for (const auto& transfer : schedule.sends) sends_.push_back(message(transfer));
    places_ = peer_exchange(context.comm, schedule.receives, mine, schedule.sends);
  }

  /// Collective, unless this rank ends alone.
  ~Rma() override {
    if (ends_alone()) return;
    if (under_way_) or_terminate([&] { finish(); });
    check_or_terminate(MPI_Win_free(&window_), "MPI_Win_free");
  }

  const std::vector<void*>& receive_places() const { return receive_places_; }

  void start() override {
    under_way_ = true;
    putting_ = !destinations_.empty();
    if (!sources_.empty()) check_step(MPI_Win_post(sources_.get(), 0, window_), "MPI_Win_post");
    if (destinations_.empty()) return;
    check_step(MPI_Win_start(destinations_.get(), 0, window_), "MPI_Win_start");
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      const auto& m = sends_[i];
      check_message(MPI_Put(m.data, m.count, m.type, m.peer, places_[i], m.count, m.type, window_), "MPI_Put to", m);
    }
  }

  void finish() override {
    complete();
    if (!sources_.empty()) check_step(MPI_Win_wait(window_), "MPI_Win_wait");
    under_way_ = false;
  }

  /// MPI has no test for the end of its own puts, so the first one may wait for the destinations to start.
  bool test() override {
    complete();
    int done = 1;
    if (!sources_.empty()) check_step(MPI_Win_test(window_, &done), "MPI_Win_test");
    under_way_ = done == 0;
    return done != 0;
  }

  std::string awaited() const override {
    return fmt::format("one of ranks {} to put its message", fmt::join(source_ranks_, ", "));
  }

 private:
  /// Returns the places of the receives in it, in bytes from its beginning.
  std::vector<MPI_Aint> make_window(MPI_Comm comm, const std::vector<Transfer>& receives) {
    std::vector<MPI_Aint> places;
    MPI_Aint bytes = 0;
    for (const auto& t : receives) {
      places.push_back(bytes);
      bytes += aligned(byte_count(t.buffer), alignment);
    }
    require_room(comm, static_cast<std::uint64_t>(bytes + alignment),
                 fmt::format("exchange '{}': pattern 'rma'", label()), Axis::pattern, "another pattern", Hosts::only);
    check(MPI_Win_allocate(bytes + alignment, 1, MPI_INFO_NULL, comm, &base_, &window_), "MPI_Win_allocate");
    std::memset(base_, 0, static_cast<std::size_t>(bytes + alignment)); // takes the memory now, not in a step
    check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    const auto past_line = static_cast<MPI_Aint>(reinterpret_cast<std::uintptr_t>(base_) % alignment);
    for (auto& place : places) place += (alignment - past_line) % alignment; // MPI need not align the base
    return places;
  }

  void complete() {
    if (std::exchange(putting_, false)) check_step(MPI_Win_complete(window_), "MPI_Win_complete");
  }

  std::vector<int> source_ranks_;
  Group sources_;
  Group destinations_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* base_ = nullptr; ///< of this rank's part of the window
  std::vector<void*> receive_places_;
  std::vector<Message> sends_;
  std::vector<MPI_Aint> places_; ///< of the sends, in bytes from the beginning of the receiver's window
  bool under_way_ = false;
  bool putting_ = false; ///< between MPI_Win_start and MPI_Win_complete
};

} // namespace

PlannedExchange make_rma(const BackendContext& context, const Schedule& schedule) {
  auto plan = std::make_unique<Rma>(context, schedule);
  auto places = plan->receive_places();
  return {std::move(plan), {}, std::move(places)};
}

} // namespace kontor::comm::mpi
