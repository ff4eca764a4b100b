// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"

#include <kontor/comm/mailboxes.hpp>
#include <kontor/comm/peer_memory.hpp>
#include <kontor/device/lanes.hpp>

#include <algorithm>
#include <cstddef>

namespace kontor::pingpong {

/// Round trips by one kernel of each of two ranks.
struct Trips {
  static constexpr int threads = device::kernels_on_host ? 1 : 512;

  comm::PeerWait wait;
  device::Counter before = 0; ///< trips of earlier kernels
  int trips = 0;
  std::int64_t count = 0; ///< of what one load moves
  int partner = comm::no_rank;
  bool begins = false;
};

/// Every 4 bytes travel in a word with the number of the trip, by a thread of its own: the shortest way.
struct TripsByWords : Trips {
  const std::uint32_t* out;
  std::uint32_t* in;
  comm::Word *own, *theirs; ///< where words arrive: here, and at the partner's

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto first = std::int64_t{team.league_rank()} * threads + team.team_rank();
    const auto step = std::int64_t{team.league_size()} * threads;
    for (int trip = 1; trip <= trips; ++trip) {
      const auto number = before + static_cast<device::Counter>(trip);
      for (auto i = first; begins && i < count; i += step) device::store_relaxed(theirs[i], number << 32 | out[i]);
      for (auto i = first; i < count; i += step) {
        comm::PeerWait::Looks looks(wait);
        comm::Word word = device::load_relaxed(own[i]);
        for (; word >> 32 != static_cast<std::uint32_t>(number); word = device::load_relaxed(own[i]))
          if (!looks.goes_on()) return wait.give_up(partner);
        if (!begins) device::store_relaxed(theirs[i], word);
        if (trip == trips) in[i] = static_cast<std::uint32_t>(word);
      }
    }
  }
};

/// A team writes its part into the other rank's memory, lets a counter grow there, and waits for the part that the
/// other rank's team sends back: half of the bytes of words.
template <class Unit>
struct TripsByCounters : Trips {
  static constexpr int stride = 8; ///< of counters: each has a cache line

  const Unit* out;
  Unit *own, *theirs;              ///< where parts arrive: here, and at the partner's
  device::Counter *arrived, *told; ///< a team's each: here, and at the partner's

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto t = team.league_rank(), teams = team.league_size();
    auto& failed = *static_cast<int*>(team.team_shmem().get_shmem(sizeof(int)));
    const auto begin = count * t / teams, end = count * (t + 1) / teams;
    for (int trip = 1; trip <= trips; ++trip) {
      const auto number = before + static_cast<device::Counter>(trip);
      if (begins) send(team, out, begin, end, number);
      if (team.team_rank() == 0) failed = wait.until(arrived[t * stride], number, partner) ? 0 : 1;
      team.team_barrier();
      if (failed != 0) return;
      if (!begins) send(team, own, begin, end, number);
    }
  }

 private:
  template <class Member>
  KOKKOS_FUNCTION void send(const Member& team, const Unit* from, std::int64_t begin, std::int64_t end,
                            device::Counter number) const {
    for (auto i = begin + team.team_rank(); i < end; i += team.team_size()) theirs[i] = from[i];
    team.team_barrier();
    if (team.team_rank() == 0) device::store_release(told[team.league_rank() * stride], number);
  }
};

/// What one load moves at most.
struct alignas(16) WidestUnit {
  std::uint64_t halves[2];
};

/// What such trips need, in memory that the ranks' kernels share.
template <class T>
class DeviceTrips {
 public:
  using View = KernelView<T, 1>;
  using Space = typename View::execution_space;
  using Memory = comm::PeerMemory<typename View::memory_space>;

  /// The backend that maps the memory of kernels.
  static const char* backend() { return device::kernels_on_host ? "shm" : "ipc"; }

  /// Collective. Throws comm::UsageError on all ranks where memory cannot be mapped.
  DeviceTrips(MPI_Comm native, const Players& players, const View& out, const View& in, std::int64_t size)
      : comm_(native, {.backend = backend()}),
        memory_(comm_, bytes_of_counters + static_cast<std::size_t>(size) * (sizeof(T) + bytes_of_words),
                "pingpong/in"),
        players_(players), out_(out), in_(in), size_(size) {}

  /// Collective over a pair; both wait.
  void by_words(int n) {
    if (!players_.play()) return;
    TripsByWords trips{begin(n, size_ * std::int64_t{sizeof(T)} / 4),
                       reinterpret_cast<const std::uint32_t*>(out_.data()),
                       reinterpret_cast<std::uint32_t*>(in_.data()), words(players_.me), words(players_.partner)};
    launch((trips.count + Trips::threads - 1) / Trips::threads, trips);
    end(n);
  }
  void by_counters(int n) {
    if (!players_.play()) return;
    if (size_ * sizeof(T) % sizeof(WidestUnit) == 0)
      by_counters_of<WidestUnit>(n);
    else
      by_counters_of<T>(n);
    Kokkos::deep_copy(in_, View(values<T>(players_.me), in_.extent(0)));
    end(n);
  }

 private:
  static constexpr std::int64_t counters = 1024; ///< more than teams run at once
  static constexpr int stride = TripsByCounters<T>::stride;
  static constexpr std::size_t bytes_of_counters = counters * stride * sizeof(device::Counter);
  static constexpr std::size_t bytes_of_words = sizeof(T) / 4 * sizeof(comm::Word); ///< of an element

  comm::Word* words(int rank) const { return reinterpret_cast<comm::Word*>(memory_.of(rank) + bytes_of_counters); }
  template <class Unit>
  Unit* values(int rank) const {
    return reinterpret_cast<Unit*>(words(rank) + static_cast<std::size_t>(size_) * sizeof(T) / 4);
  }
  Trips begin(int n, std::int64_t count) const {
    return {memory_.wait(), before_, n, count, players_.partner, players_.begins()};
  }
  template <class Unit>
  void by_counters_of(int n) {
    constexpr std::int64_t part = 8192; // bytes of a team: one writes less than it can while it waits for more
    const auto bytes = size_ * static_cast<std::int64_t>(sizeof(T));
    const auto counters_of = [&](int rank) { return reinterpret_cast<device::Counter*>(memory_.of(rank)); };
    const TripsByCounters<Unit> trips{begin(n, bytes / static_cast<std::int64_t>(sizeof(Unit))),
                                      reinterpret_cast<const Unit*>(out_.data()),
                                      values<Unit>(players_.me),
                                      values<Unit>(players_.partner),
                                      counters_of(players_.me),
                                      counters_of(players_.partner)};
    launch(bytes / part, trips);
  }
  template <class Kernel>
  void launch(std::int64_t teams, const Kernel& kernel) {
    const auto most = std::min<std::int64_t>(device::resident_teams(), counters);
    using Bounds = Kokkos::LaunchBounds<Trips::threads, 1>;
    Kokkos::TeamPolicy<Space, Bounds> policy(static_cast<int>(std::clamp<std::int64_t>(teams, 1, most)),
                                             Trips::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(64));
    Kokkos::parallel_for("pingpong/trips", policy, kernel);
  }
  void end(int n) {
    complete<View>();
    memory_.check();
    before_ += static_cast<device::Counter>(n);
  }

  comm::Communicator comm_;
  Memory memory_; ///< counters, words, values
  Players players_;
  View out_, in_;
  std::int64_t size_;
  device::Counter before_ = 0;
};

} // namespace kontor::pingpong
