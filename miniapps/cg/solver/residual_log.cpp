// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/residual_log.hpp"

#include "machine/simulation.hpp"

#include <kontor/device/compat.hpp>

#include <utility>

namespace kontor::cg {

void ResidualLog::begin() {
  for (auto& look : read_marks_) look.written = 0;
  last_mark_ = 0;
  read_ = 0;
  ending_.reset();
  made_.clear();
}

void ResidualLog::go_on(const IterationState& state, std::vector<LogEntry> made) {
  begin();
  Kokkos::deep_copy(state_, state);
  read_ = state.next;
  made_ = std::move(made);
  if (state.ended != 0) ending_ = static_cast<StopReason>(state.ended - 1);
}

IterationState ResidualLog::state_now() const {
  IterationState state;
  Kokkos::deep_copy(state, state_);
  return state;
}

bool ResidualLog::ended(const Space& instance, std::int64_t written) {
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

void ResidualLog::end(const Space& instance, std::int64_t written) {
  device::fence(instance, "cg/end of a solve");
  read(written);
}

void ResidualLog::read(std::int64_t written) {
  for (; read_ < written && !ending_; ++read_) {
    const auto& entry = entries_(read_ % size);
    const bool no_numbers = miniapp::compute_time_is_simulated(); // all iterations are made
    if (entry.made || no_numbers) made_.push_back(entry);
    if (entry.ended != 0 && !no_numbers) ending_ = static_cast<StopReason>(entry.ended - 1);
  }
}

} // namespace kontor::cg
