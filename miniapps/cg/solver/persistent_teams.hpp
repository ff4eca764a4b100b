// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/solver/one_sum.hpp"
#include "cg/solver/peers.hpp"

#include <kontor/device/lanes.hpp>

/// What the teams of kernels that stay for many iterations share: a barrier (S. Xiao, W. Feng, "Inter-block GPU
/// communication via fast barrier synchronization", IPDPS 2010), rows, and how each of them knows where iterations end.
namespace kontor::cg {

/// Threads of a team, each of which may have a multiprocessor for itself.
inline constexpr int persistent_threads = device::kernels_on_host ? 1 : 1024;

/// The barrier of all teams, of one kernel after the other.
class PersistentTeams {
 public:
  /// Of one kernel's threads.
  struct Waiter {
    unsigned* arrived; ///< teams, at all barriers since the first kernel
    unsigned due;      ///< when this barrier is reached; it may wrap around

    /// By all threads of all teams, after a barrier of the team. What they have written before, all read afterwards. A
    /// team's first thread asks whether the others have arrived; `failed` is true if it asks no longer.
    template <class Member>
    KOKKOS_FUNCTION void wait(const Member& team, const PeerSteps& peers, bool& failed) {
      due += static_cast<unsigned>(team.league_size());
      if (team.team_rank() == 0) {
        if (peers.several()) device::fence_system(); // others read ghosts
        device::add_release_on_device(*arrived, 1);
        for (std::uint32_t polls = 0; static_cast<int>(device::load_acquire_on_device(*arrived) - due) < 0; ++polls) {
          if (polls == most_polls)
            Kokkos::abort("cg: the teams of a persistent kernel do not all run at once; solver.launch: graph "
                          "does without");
          if (polls % 1024 == 1023 && peers.wait.aborted()) {
            failed = true;
            break;
          }
        }
      }
      team.team_barrier();
    }
    /// By a team that leaves so many barriers before the kernel's last one, as all teams do.
    template <class Member>
    KOKKOS_FUNCTION void leave(const Member& team, int barriers) const {
      if (team.team_rank() == 0) device::add_release_on_device(*arrived, static_cast<unsigned>(barriers));
    }
  };
  /// Local. For a kernel of so many teams that waits so often.
  Waiter waiter(int teams, int times) {
    const Waiter waiter{arrived_.data(), due_};
    due_ += static_cast<unsigned>(teams) * static_cast<unsigned>(times);
    return waiter;
  }

 private:
  static constexpr std::uint32_t most_polls = 1U << 28; // minutes
  Kokkos::View<unsigned, Space> arrived_{"cg/arrived teams"};
  unsigned due_ = 0;
};

/// Which positions a thread has: interior rows, then boundary rows. Warps of different teams follow one another, so all
/// teams have some of few.
class PersistentRows {
 public:
  PersistentRows(const RowRange& interior, const RowRange& boundary, int teams)
      : ranges_{{interior, share(interior, teams)}, {boundary, share(boundary, teams)}}, teams_(teams) {}

  struct Position {
    std::int64_t at;  ///< -1: none
    bool in_boundary; ///< where ghosts are read
  };
  /// How many a thread has, at most.
  KOKKOS_FUNCTION int of_thread(int threads) const {
    const int warps = threads / device::lanes;
    return (ranges_[0].blocks + ranges_[1].blocks + warps - 1) / warps;
  }
  KOKKOS_FUNCTION Position position(int team, int thread, int threads, int k) const {
    int block = thread / device::lanes + k * (threads / device::lanes);
    const bool in_boundary = block >= ranges_[0].blocks;
    if (in_boundary) block -= ranges_[0].blocks;
    const auto& range = ranges_[in_boundary ? 1 : 0];
    const auto at = range.all.begin + (std::int64_t{block} * teams_ + team) * device::lanes + thread % device::lanes;
    return {block < range.blocks && at < range.all.end ? at : -1, in_boundary};
  }

 private:
  struct Range {
    RowRange all;
    int blocks; ///< of lanes, that a team has, at most
  };
  static int share(const RowRange& range, int teams) {
    const auto together = std::int64_t{teams} * device::lanes;
    return static_cast<int>((range.count() + together - 1) / together);
  }
  Range ranges_[2];
  int teams_;
};

/// The end of steps as each team works it out for itself, in one thread: all get the same, and one of them tells the
/// host, when all steps are made: what goes to the host's memory would be waited for at each barrier.
class OwnEndOfStep {
 public:
  KOKKOS_FUNCTION void begin(const EndOfStep& given) {
    numbers_ = *given.numbers;
    state_ = *given.log.state;
    for (int k = 0; k < 3; ++k) sums_[k] = given.sums[k];
    if (given.two_parts) sums_[2] += given.sums[3];
    recurrences_ = given.recurrences;
    late_ = given.late;
    first_ = state_.next;
  }
  /// What the next step multiplies with.
  KOKKOS_FUNCTION StepScalars scalars() { return end().scalars(); }
  /// The end of the last step is written down, unless it has been.
  KOKKOS_FUNCTION void write() {
    if (late_) end().write();
    late_ = true;
  }
  KOKKOS_FUNCTION void set(const double* sums) {
    for (int k = 0; k < 3; ++k) sums_[k] = sums[k];
  }
  KOKKOS_FUNCTION void leave(const EndOfStep& to) const {
    for (auto i = first_; i < state_.next; ++i) to.log.entries[i % ResidualLog::size] = log_[i % ResidualLog::size];
    *to.numbers = numbers_;
    *to.log.state = state_;
  }

 private:
  KOKKOS_FUNCTION EndOfStep end() { return {sums_, false, recurrences_, late_, &numbers_, {&state_, log_}}; }

  CgScalars numbers_;
  IterationState state_;
  double sums_[3];
  bool recurrences_;
  bool late_;
  std::int64_t first_;
  LogEntry log_[ResidualLog::size];
};

/// What a team's threads share.
struct PersistentScratch {
  static constexpr int sums = PeerSteps::sums, warps = persistent_threads / device::lanes;
  /// Warps that receive parts of a sum.
  static constexpr int receivers = warps < sums ? 1 : warps / sums;
  double of_warps[sums][warps]; ///< of a team's threads
  double received[sums][receivers];
  OwnEndOfStep end;
  StepScalars scalars;
  bool failed; ///< another rank has not come
};

} // namespace kontor::cg
