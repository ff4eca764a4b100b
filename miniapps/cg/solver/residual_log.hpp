// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/solver/solver.hpp"
#include "cg/vector.hpp"

#include <kontor/comm/kokkos/compat.hpp>
#include <kontor/comm/kokkos/gpu.hpp>
#include <kontor/comm/kokkos/streams.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace kontor::cg {

/// How an iteration stands, for kernels: whether it goes on, and by which numbers it ends. In the memory of
/// the space.
struct IterationState {
  double rhs = 0;        ///< squared norm of the right-hand side
  double tolerance = 0;  ///< of the squared residual; below 0: none
  std::int64_t next = 0; ///< entries written to the log
  int ended = 0;         ///< 0: it goes on; else 1 + Ending
};

/// What kernels write and the host reads: one entry an iteration, in memory that both reach.
struct LogEntry {
  double squared_residual;
  int ended;
};

/// The residual of each iteration, from where it is computed to the host, which does not wait for the latest.
/// On a device the host looks some iterations back; those that are made too many change nothing, because
/// kernels find the state ended.
class ResidualLog {
 public:
  static constexpr int batch = comm::on_host<Space> ? 1 : 16; ///< iterations between looks
  static constexpr int size = 4 * batch;

  /// For a kernel of one thread: the residual of the next iteration, and what it means. `ended` says that the
  /// iteration broke down.
  struct Writer {
    IterationState* state;
    LogEntry* entries;
    KOKKOS_FUNCTION void operator()(double squared_residual, int broken) const {
      if (state->ended == 0) {
        if (!(squared_residual - squared_residual == 0)) // infinite, or not a number
          state->ended = 1 + static_cast<int>(Ending::not_finite);
        else if (squared_residual <= state->tolerance)
          state->ended = 1 + static_cast<int>(Ending::converged);
        else if (broken != 0)
          state->ended = broken;
      }
      entries[state->next % size] = {squared_residual, state->ended};
      ++state->next;
    }
  };

  ResidualLog() : state_("cg/state"), entries_("cg/log", size) {}

  IterationState* state() const { return state_.data(); }
  Writer writer() const { return {state_.data(), entries_.data()}; }

  /// Local. Before the first entry of a solve.
  void begin() {
    Kokkos::deep_copy(state_, IterationState{});
    read_ = 0;
    ended_.reset();
    squared_.clear();
  }

  /// Local, after the writer of that iteration has been queued; the same answer on all ranks. Whether the
  /// iteration is known to have ended.
  bool ended(const Space& instance, std::int64_t iteration) {
    if constexpr (comm::on_host<Space>) {
      read(iteration + 1);
    } else if (iteration % batch == 0) {
      const auto mark = iteration / batch;
      marks_[mark % 2].record(instance);
      if (mark > 0) {
        marks_[(mark - 1) % 2].wait();
        read(iteration - batch + 1);
      }
    }
    return ended_.has_value();
  }

  /// Local; waits for the instance. What it came to after so many iterations.
  void end(const Space& instance, std::int64_t iterations) {
    comm::fence(instance, "cg/end of a solve");
    if (!ended_) read(iterations + 1);
  }

  std::optional<Ending> ending() const { return ended_; }
  /// Squared residuals of the iterations that count, from iteration 0 on.
  const std::vector<double>& squared() const { return squared_; }

 private:
  void read(std::int64_t count) {
    for (; read_ < count && !ended_; ++read_) {
      const auto& entry = entries_(read_ % size);
      squared_.push_back(entry.squared_residual);
      if (entry.ended != 0) ended_ = static_cast<Ending>(entry.ended - 1);
    }
  }

  Kokkos::View<IterationState, Space> state_;
  Kokkos::View<LogEntry*, comm::PinnedSpace> entries_;
  std::array<comm::Event<Space>, 2> marks_;
  std::int64_t read_ = 0;
  std::optional<Ending> ended_;
  std::vector<double> squared_;
};

} // namespace kontor::cg
