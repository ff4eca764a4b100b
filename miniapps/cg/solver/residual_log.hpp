// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/names.hpp"
#include "cg/solver/iteration.hpp"

#include <kontor/device/compat.hpp>
#include <kontor/device/gpu.hpp>
#include <kontor/device/streams.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kontor::cg {

/// What kernels write and the host reads: one entry an iteration, in memory that both reach.
struct LogEntry {
  double residual; ///< beside the right-hand side
  double alpha, beta;
  int ended;
  bool made;
};

/// The residual of each iteration, from where it is computed to the host, which does not wait for the latest. On a
/// device the host looks some iterations back; those that are made too many change nothing, because kernels find the
/// state ended. All ranks look at the same iterations, so they end alike where their sums are alike.
class ResidualLog {
 public:
  static constexpr int most_at_once = 16; ///< iterations between looks, and of a graph
  /// Entries that were not read yet: of two intervals between looks, each of which may be longer by what is queued at
  /// once, and of the last look.
  static constexpr int size = 8 * most_at_once;

  /// For a kernel of one thread: the residual of the next iteration, and what it means.
  struct Writer {
    IterationState* state;
    LogEntry* entries;
    int size; ///< of the ring of entries
    KOKKOS_FUNCTION void operator()(const StepEnd& step) const {
      const double rr = step.squared_residual;
      if (state->ended == 0 && step.made && state->next > 0) ++state->made;
      state->ended = ended_by(step);
      if (state->ended == 0 && is_smallest(rr)) {
        state->smallest = rr;
        state->smallest_at = state->next;
      }
      const double residual = state->rhs == 0 ? 0 : std::sqrt(rr) / std::sqrt(state->rhs);
      entries[state->next % size] = {residual, step.alpha, step.beta, state->ended, step.made};
      ++state->next;
    }

    /// What state->ended will be: 0, or how it ended before this step or by it. Writes nothing.
    KOKKOS_FUNCTION int ended_by(const StepEnd& step) const {
      const double rr = step.squared_residual;
      if (state->ended != 0) return state->ended;
      if (!finite(rr)) return code_of(StopReason::not_finite);
      if (rr <= state->tolerance) return code_of(state->next == 0 ? StopReason::exact_guess : StopReason::converged);
      if (step.problem != 0) return step.problem;
      const bool stands = state->stagnation > 0 && state->next - state->smallest_at >= state->stagnation;
      return stands && !is_smallest(rr) ? code_of(StopReason::stagnation) : 0;
    }

   private:
    KOKKOS_FUNCTION bool is_smallest(double rr) const { return state->next == 0 || rr < state->smallest; }
  };

  /// Local. So many iterations between looks, at most `most_at_once`; 1: each is waited for.
  explicit ResidualLog(int interval)
      : interval_(interval), state_("cg/state"), entries_("cg/log", static_cast<std::size_t>(size)) {}

  IterationState* state() const { return state_.data(); }
  Writer writer() const { return {state_.data(), entries_.data(), size}; }

  /// Local. Before the first entry of a solve; kernels set the state.
  void begin() {
    for (auto& look : read_marks_) look.written = 0;
    last_mark_ = 0;
    read_ = 0;
    ending_.reset();
    made_.clear();
  }

  /// Local, in place of begin(). These are the entries so far; the state is as it was after them.
  void go_on(const IterationState& state, std::vector<LogEntry> made) {
    begin();
    Kokkos::deep_copy(state_, state);
    read_ = state.next;
    made_ = std::move(made);
    if (state.ended != 0) ending_ = static_cast<StopReason>(state.ended - 1);
  }
  /// Local, after end().
  IterationState state_now() const {
    IterationState state;
    Kokkos::deep_copy(state, state_);
    return state;
  }

  /// Local, after the writers of so many iterations have been queued, at most `most_at_once` more than in the last
  /// call. Whether the iteration is known to have ended.
  bool ended(const Space& instance, std::int64_t written) {
    if (interval_ == 1) {
      if (!device::kernels_on_host) device::fence(instance, "cg/residual");
      read(written);
    } else if (written - read_marks_[last_mark_].written >= interval_) {
      const auto& before = read_marks_[last_mark_];
      last_mark_ = 1 - last_mark_;
      read_marks_[last_mark_].reached.record(instance);
      read_marks_[last_mark_].written = written;
      if (before.written > 0) before.reached.wait();
      read(before.written);
    }
    return ending_.has_value();
  }

  /// Local; waits for the instance. All entries, of which there are so many, are known.
  void end(const Space& instance, std::int64_t written) {
    device::fence(instance, "cg/end of a solve");
    read(written);
  }

  /// Why it ended; nothing: it would go on.
  std::optional<StopReason> ending() const { return ending_; }
  /// The iterations that were made until it ended, from iteration 0 on.
  const std::vector<LogEntry>& made() const { return made_; }

 private:
  struct ReadMark {
    device::Event<Space> reached;
    std::int64_t written = 0;
  };
  void read(std::int64_t written) {
    for (; read_ < written && !ending_; ++read_) {
      const auto& entry = entries_(read_ % size);
      if (entry.made) made_.push_back(entry);
      if (entry.ended != 0) ending_ = static_cast<StopReason>(entry.ended - 1);
    }
  }

  int interval_;
  Kokkos::View<IterationState, Space> state_;
  Kokkos::View<LogEntry*, device::PinnedSpace> entries_;
  std::array<ReadMark, 2> read_marks_;
  int last_mark_ = 0;
  std::int64_t read_ = 0;
  std::optional<StopReason> ending_;
  std::vector<LogEntry> made_;
};

} // namespace kontor::cg
