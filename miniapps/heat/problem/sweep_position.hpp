// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>

namespace kontor::heat {

/// Where sweeps are that go back and forth between two fields.
class SweepPosition {
 public:
  /// The two fields of a sweep that can be looked at again.
  struct LastSweep {
    int before;
    int after;
    std::int64_t sweeps; ///< made before it
  };

  /// 0 or 1: which of the fields holds the solution.
  int current() const { return current_; }
  /// Sweeps or steps since the initial value.
  std::int64_t sweeps() const { return sweeps_; }

  /// Field 0 has been given the solution after so many sweeps.
  void set_sweeps(std::int64_t sweeps) {
    current_ = 0;
    sweeps_ = sweeps;
    last_ = Last::none;
  }
  /// A sweep more has been made, which leaves the solution in the other field.
  void advance() {
    advance_pass(1, 1);
    last_ = Last::made;
  }
  /// A pass of so many sweeps has been made by kernels from one field to the other.
  void advance_pass(int sweeps, int kernels) {
    current_ = (current_ + kernels) % 2;
    sweeps_ += sweeps;
    last_ = Last::none;
  }
  /// Undoes the last advance(). Throws std::logic_error if that was not the last change: the old field is gone.
  void step_back() {
    if (last_ != Last::made) throw std::logic_error("heat: the last change was not one sweep, which could be undone");
    current_ = 1 - current_;
    --sweeps_;
    last_ = Last::taken_back;
  }
  /// The last sweep made, or the one that was taken back; none after the start, set_sweeps() or a pass.
  std::optional<LastSweep> last_sweep() const {
    if (last_ == Last::none) return std::nullopt;
    if (last_ == Last::taken_back) return LastSweep{current_, 1 - current_, sweeps_};
    return LastSweep{1 - current_, current_, sweeps_ - 1};
  }

 private:
  int current_ = 0;
  std::int64_t sweeps_ = 0;
  enum class Last { none, made, taken_back } last_ = Last::none;
};

} // namespace kontor::heat
