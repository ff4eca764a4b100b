// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/bench.hpp"

#include <kontor/comm/mailboxes.hpp>
#include <kontor/comm/peer_memory.hpp>
#include <kontor/device/lanes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kontor::pingpong {

/// The most that one load moves.
struct alignas(16) WidestUnit {
  std::uint64_t halves[2];
};

/// Round trips by one kernel of each of two ranks, which share memory. The memory of a rank has counters, words and
/// values.
struct Trips {
  static constexpr int threads = device::kernels_on_host ? 1 : 512;
  static constexpr int stride = 8;               ///< of counters: each has a cache line
  static constexpr std::int64_t counters = 1024; ///< more than teams run at once
  static constexpr std::int64_t words = counters * stride * std::int64_t{sizeof(device::Counter)}; ///< bytes before

  comm::PeerWait wait;
  device::Counter before; ///< trips of earlier kernels
  int trips;
  std::int64_t bytes; ///< a multiple of the widest unit
  int partner;
  bool begins;
  const void* out;
  void* in;
  std::byte *own, *theirs; ///< the memory of this rank and of the partner

  template <class T>
  KOKKOS_FUNCTION static T* at(std::byte* memory, std::int64_t byte) {
    return reinterpret_cast<T*>(memory + byte);
  }
};

/// Every 4 bytes travel in a word with the number of the trip, by a thread of their own: the lowest latency.
struct TripsByWords : Trips {
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    using Chunk = comm::Chunk<std::uint32_t>;
    const comm::MailboxMemory memory(wait);
    auto* const arriving = at<comm::Word>(own, words);
    auto* const leaving = at<comm::Word>(theirs, words);
    const auto first = std::int64_t{team.league_rank()} * threads + team.team_rank();
    const auto step = std::int64_t{team.league_size()} * threads;
    for (int trip = 1; trip <= trips; ++trip) {
      const auto number = before + static_cast<device::Counter>(trip);
      for (auto i = first; begins && i < bytes / 4; i += step)
        comm::send_chunk(leaving + i, number, Chunk{{static_cast<const std::uint32_t*>(out)[i]}}, memory);
      for (auto i = first; i < bytes / 4; i += step) {
        Chunk chunk;
        if (!comm::receive_chunk(arriving + i, number, memory, chunk)) return wait.give_up(partner);
        if (!begins) comm::send_chunk(leaving + i, number, chunk, memory);
        if (trip == trips) static_cast<std::uint32_t*>(in)[i] = chunk.numbers[0];
      }
    }
  }
};

/// A team writes its part into the partner's memory, increases a counter there, and waits for the part that the
/// partner's team returns: half of the bytes of words.
struct TripsByCounters : Trips {
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto t = team.league_rank(), teams = team.league_size();
    auto& failed = *static_cast<int*>(team.team_shmem().get_shmem(sizeof(int)));
    const auto units = bytes / std::int64_t{sizeof(WidestUnit)};
    const auto copy = [&](WidestUnit* to, const WidestUnit* from) {
      for (auto i = units * t / teams + team.team_rank(); i < units * (t + 1) / teams; i += team.team_size())
        to[i] = from[i];
    };
    auto* const arriving = at<WidestUnit>(own, words + 2 * bytes);
    const auto* const source = begins ? static_cast<const WidestUnit*>(out) : arriving;
    for (int trip = 1; trip <= trips; ++trip) {
      const auto number = before + static_cast<device::Counter>(trip);
      for (int half = 0; half < 2; ++half) {
        if ((half == 0) == begins) {
          copy(at<WidestUnit>(theirs, words + 2 * bytes), source);
          team.team_barrier();
          if (team.team_rank() == 0) device::store_release(at<device::Counter>(theirs, 0)[t * stride], number);
        } else {
          if (team.team_rank() == 0)
            failed = wait.until(at<device::Counter>(own, 0)[t * stride], number, partner) ? 0 : 1;
          team.team_barrier();
          if (failed != 0) return;
        }
      }
    }
    copy(static_cast<WidestUnit*>(in), arriving);
  }
};

/// Such trips of a pair of contiguous Views, whose memory ends with a whole unit.
class DeviceTrips {
 public:
  /// The backend that maps the memory of kernels.
  static constexpr const char* backend = device::kernels_on_host ? "shm" : "ipc";

  /// Collective. For so many bytes. Throws comm::UsageError on all ranks if memory cannot be mapped.
  template <class View>
  DeviceTrips(MPI_Comm native, const Pair<View>& pair, std::int64_t bytes)
      : me_(pair.me), partner_(pair.partner), out_(pair.out.data()), in_(pair.in.data()),
        bytes_((bytes + 15) / 16 * 16), comm_(native, {.backend = backend}),
        memory_(comm_, static_cast<std::size_t>(Trips::words + 3 * bytes_), "pingpong/trips") {}

  /// Collective over a pair; both wait. A team moves so many bytes.
  template <class Kernel>
  void run(int trips, std::int64_t bytes_of_team) {
    if (partner_ == comm::no_rank) return;
    const Kernel kernel{{memory_.wait(), before_, trips, bytes_, partner_, me_ < partner_, out_, in_, memory_.of(me_),
                         memory_.of(partner_)}};
    const auto most = std::min<std::int64_t>(device::resident_teams(), Trips::counters);
    const auto teams = std::clamp<std::int64_t>((bytes_ + bytes_of_team - 1) / bytes_of_team, 1, most);
    using Policy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<Trips::threads, 1>>;
    Policy policy(static_cast<int>(teams), Trips::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(64));
    Kokkos::parallel_for("pingpong/trips", policy, kernel);
    device::fence(Space(), "pingpong/complete");
    memory_.check();
    before_ += static_cast<device::Counter>(trips);
  }

 private:
  using Space = Kokkos::DefaultExecutionSpace;
  int me_, partner_;
  const void* out_;
  void* in_;
  std::int64_t bytes_;
  comm::Communicator comm_;
  comm::PeerMemory<Space::memory_space> memory_;
  device::Counter before_ = 0;
};

} // namespace kontor::pingpong
