// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/matrix/matrix.hpp"
#include "cg/solver/one_sum.hpp"
#include "cg/solver/peers.hpp"

#include <kontor/device/lanes.hpp>

/// What the teams of kernels that stay for many iterations share: a barrier (S. Xiao, W. Feng, "Inter-block GPU
/// communication via fast barrier synchronization", IPDPS 2010), rows, sums, and how each of them knows where
/// iterations end.
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

/// Which numbers of a range a thread has. Warps of different teams follow one another, so all teams have some of few.
class PersistentShare {
 public:
  PersistentShare(const RowRange& all, int teams) : all_(all), teams_(teams) {}

  /// How many a thread has, at most.
  KOKKOS_FUNCTION int of_thread(int threads) const {
    return static_cast<int>((all_.end - all_.begin + std::int64_t{teams_} * threads - 1) /
                            (std::int64_t{teams_} * threads));
  }
  /// -1: there is none.
  KOKKOS_FUNCTION std::int64_t number(int team, int thread, int threads, int k) const {
    const int block = thread / device::lanes + k * (threads / device::lanes);
    const auto number = all_.begin + (std::int64_t{block} * teams_ + team) * device::lanes + thread % device::lanes;
    return number < all_.end ? number : -1;
  }

 private:
  RowRange all_;
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
    for (auto i = first_; i < state_.next; ++i) to.log.entries[i % to.log.size] = log_[i % log_size];
    *to.numbers = numbers_;
    *to.log.state = state_;
  }

 private:
  KOKKOS_FUNCTION EndOfStep end() { return {sums_, false, recurrences_, late_, &numbers_, {&state_, log_, log_size}}; }

  CgScalars numbers_;
  IterationState state_;
  double sums_[3];
  bool recurrences_;
  bool late_;
  std::int64_t first_;
  static constexpr int log_size = 2 * ResidualLog::most_at_once;
  LogEntry log_[log_size];
};

/// Numbers of a thread's first rows, which stay in scratch memory from one step to the next. A device has little of it.
struct KeptRows {
  static constexpr int rows = device::kernels_on_host ? 100 : 1;
  static constexpr int numbers = rows * kept_numbers * persistent_threads;
  double* numbers_of_thread;

  KOKKOS_FUNCTION double& at(int row, int number) const {
    return numbers_of_thread[(row * kept_numbers + number) * persistent_threads];
  }
  template <class Row>
  KOKKOS_FUNCTION void load(int k, Row& row) const {
    for (int n = 0; n < kept_numbers; ++n) row.kept(n) = at(k, n);
  }
  template <class Row>
  KOKKOS_FUNCTION void store(int k, Row row) const {
    for (int n = 0; n < kept_numbers; ++n) at(k, n) = row.kept(n);
  }
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
  double kept[KeptRows::numbers];
};

/// By all threads of a team: its sum goes to all teams of all ranks.
template <class Member>
KOKKOS_FUNCTION void send_sums(const Member& team, const PeerSteps& peers, PersistentScratch& scratch,
                               device::Counter number, const PartialSums<PeerSteps::sums>& of_thread) {
  constexpr int warps = PersistentScratch::warps;
  const int thread = team.team_rank(), warp = thread / device::lanes, lane = thread % device::lanes;
  for (int k = 0; k < PeerSteps::sums; ++k) {
    const double sum = device::sum_of_lanes(of_thread[k]);
    if (lane == 0) scratch.of_warps[k][warp] = sum;
  }
  team.team_barrier();
  for (int k = warp; k < PeerSteps::sums; k += warps) {
    double sum = 0;
    for (int w = lane; w < warps; w += device::lanes) sum += scratch.of_warps[k][w];
    sum = device::sum_of_lanes(sum);
    for (int to = lane; to < peers.parts.ranks(); to += device::lanes)
      peers.parts.send(to, team.league_rank(), k, number, sum);
  }
}

/// The same. The sums over all teams of all ranks are known to the end of the step, to which the thread that `counts`
/// brings them. False: a rank has not come.
template <class Member>
KOKKOS_FUNCTION bool receive_sums(const Member& team, const PeerSteps& peers, PersistentScratch& scratch,
                                  device::Counter number, bool counts) {
  constexpr int receivers = PersistentScratch::receivers, lanes = device::lanes;
  const int thread = team.team_rank();
  for (int unit = thread / lanes; unit < PeerSteps::sums * receivers; unit += PersistentScratch::warps) {
    const int k = unit / receivers, r = unit % receivers;
    double sum = 0;
    if (!peers.parts.receive(k, r * lanes + thread % lanes, receivers * lanes, number, [&](double p) { sum += p; }))
      scratch.failed = true;
    sum = device::sum_of_lanes(sum);
    if (thread % lanes == 0) scratch.received[k][r] = sum;
  }
  team.team_barrier();
  if (scratch.failed) return false;
  if (!counts) return true;
  double sums[PeerSteps::sums] = {};
  for (int r = 0; r < receivers; ++r)
    for (int k = 0; k < PeerSteps::sums; ++k) sums[k] += scratch.received[k][r];
  scratch.end.set(sums);
  return true;
}

} // namespace kontor::cg
