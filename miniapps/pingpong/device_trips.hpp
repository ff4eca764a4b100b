// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"

#include <kontor/comm/peer_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace kontor::pingpong {

/// Round trips by one kernel of each of two ranks. Every team has a part of the View, writes it into the other rank's
/// memory, lets a counter grow there, and waits for the part that the other rank's team sends back.
template <class T>
struct TripsByKernel {
  static constexpr int stride = 8; ///< of counters: each has a cache line
  static constexpr int threads = device::kernels_on_host ? 1 : 512;

  const T* out;
  T *own, *theirs;                 ///< where parts arrive: here, and at the partner's
  device::Counter *arrived, *told; ///< a team's each: here, and at the partner's
  comm::PeerWait wait;
  device::Counter before; ///< trips of earlier kernels
  int trips;
  std::int64_t count; ///< elements
  int partner;
  bool begins;

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
  KOKKOS_FUNCTION void send(const Member& team, const T* from, std::int64_t begin, std::int64_t end,
                            device::Counter number) const {
    for (auto i = begin + team.team_rank(); i < end; i += team.team_size()) theirs[i] = from[i];
    team.team_barrier();
    if (team.team_rank() == 0) device::store_release(told[team.league_rank() * stride], number);
  }
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
        memory_(comm_, bytes_of_counters + static_cast<std::size_t>(size) * sizeof(T), "pingpong/in"),
        players_(players), in_(in) {
    if (!players.play()) return;
    const auto place = [&](int rank) { return reinterpret_cast<T*>(memory_.of(rank) + bytes_of_counters); };
    const auto counters = [&](int rank) { return reinterpret_cast<device::Counter*>(memory_.of(rank)); };
    trips_ = {out.data(),
              place(players.me),
              place(players.partner),
              counters(players.me),
              counters(players.partner),
              memory_.wait(),
              0,
              0,
              size,
              players.partner,
              players.begins()};
  }

  /// Collective over a pair; waits.
  void operator()(int n) {
    if (!players_.play()) return;
    constexpr std::int64_t part = 8192; // bytes of a team: one writes less than it can while it waits for more
    const auto teams =
        std::clamp<std::int64_t>(trips_.count * static_cast<std::int64_t>(sizeof(T)) / part, 1, most_teams());
    trips_.trips = n;
    using Bounds = Kokkos::LaunchBounds<TripsByKernel<T>::threads, 1>;
    Kokkos::TeamPolicy<Space, Bounds> policy(static_cast<int>(teams), TripsByKernel<T>::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(64));
    Kokkos::parallel_for("pingpong/trips", policy, trips_);
    Kokkos::deep_copy(in_, View(trips_.own, in_.extent(0)));
    complete<View>();
    memory_.check();
    trips_.before += static_cast<device::Counter>(n);
  }

 private:
  static constexpr std::int64_t counters = 1024; ///< more than teams run at once
  static constexpr std::size_t bytes_of_counters = counters * TripsByKernel<T>::stride * sizeof(device::Counter);
  /// All of them run at once: no multiprocessor has more than 2048 threads.
  static std::int64_t most_teams() {
    return device::kernels_on_host ? 1 : std::clamp<std::int64_t>(Space().concurrency() / 2048, 1, counters);
  }

  comm::Communicator comm_;
  Memory memory_;
  Players players_;
  View in_;
  TripsByKernel<T> trips_{};
};

} // namespace kontor::pingpong
